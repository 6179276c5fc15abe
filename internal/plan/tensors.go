package plan

// The words of tensor data.
const (
	SourceTensors = "tensors"

	FillZero   = "zero"
	FillRandom = "random"

	SequencesOn  = "on"
	SequencesOff = "off"
)

// Tensors says what requests carry that are no prompts: values for each input of a
// model, from files of input data, or generated.
type Tensors struct {
	Files        []string
	Fill         string
	StringLength int
	StringData   string
	Shapes       []string
	Batch        int
	Timestamps   bool
	Sequences    Sequences
}

// Sequences are rows of requests that a server keeps state over.
type Sequences struct {
	Mode      string
	Live      int
	Serial    bool
	Length    int
	Variation float64
	FirstID   uint64
	IDs       uint64
}
