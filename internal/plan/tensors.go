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
	Files        []string // JSON files, or one directory; none: all inputs are generated
	Fill         string   // "zero" or "random": what inputs without a value are; empty: they are missing
	StringLength int      // of random strings; 0: 128
	StringData   string   // instead of random strings
	Shapes       []string // NAME:D1,D2, for inputs whose shape the model leaves open
	Batch        int      // items of a request; 0 is 1
	Timestamps   bool     // steps say when they are due, as --fixed-schedule has it
	Sequences    Sequences
}

// Sequences are rows of requests that a server keeps state over.
type Sequences struct {
	Mode string // "on" or "off"; empty: as the model's config says
	// Live is how many sequences are in flight at a time, their requests in turn and
	// not waiting for each other's responses; 0: as many as there are requests in
	// flight, each request after the response to the one before.
	Live      int
	Serial    bool    // with Live: each request waits for the response to the one before in its sequence
	Length    int     // requests of a sequence; 0: the steps of its stream, else 20
	Variation float64 // how far the length may differ, as a share of it
	FirstID   uint64  // 0 is 1
	IDs       uint64  // how many ids there are before they are used again; 0: 2³²−1
}
