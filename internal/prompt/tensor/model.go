package tensor

// Model is what a model says of its tensors.
type Model struct {
	Name      string
	Inputs    []Spec
	Outputs   []Spec
	MaxBatch  int  // 0: it takes no batches
	Sequences bool // it keeps state over sequences of requests
}
