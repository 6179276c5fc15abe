package tensor

// Signature is what a model says of its tensors.
type Signature struct {
	Name      string
	Inputs    []Spec
	Outputs   []Spec
	MaxBatch  int  // 0: it takes no batches
	Sequences bool // it keeps state over sequences of requests
}
