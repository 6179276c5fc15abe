package result

// Cost is what is known of the GPUs behind a stage. The figures that follow from it are among the
// stage's metrics.
type Cost struct {
	GPUs  int     `json:"gpus"`
	Price float64 `json:"gpu_hour_price,omitempty"` // dollars
	Power *Power  `json:"power,omitempty"`          // nil means it is not known
}

// The ways in which the energy of a stage can be known.
const (
	MethodGiven    = "given"    // the plan says what a GPU draws
	MethodCounter  = "counter"  // the GPUs count it themselves
	MethodIntegral = "integral" // of readings of their power, by the trapezoid rule
)

// Power says where the energy of a stage comes from, and whether it is valid. Where it is not,
// there are no figures of energy.
type Power struct {
	Source   string   `json:"source"`
	Method   string   `json:"method"`
	Valid    bool     `json:"valid"`
	Reasons  []string `json:"reasons,omitempty"`       // why it is not valid
	Readings int      `json:"readings,omitempty"`      // in the window, of the GPU that has the fewest
	Gap      float64  `json:"longest_gap_s,omitempty"` // between two of them
	// Integral is that of the power, in joules, where the energy was counted: the two should be
	// about the same.
	Integral float64    `json:"integral_j,omitempty"`
	GPUs     []GPUPower `json:"gpus,omitempty"`
}

// GPUPower is what one GPU used in the window of a stage.
type GPUPower struct {
	Name   string  `json:"name"`
	Energy float64 `json:"energy_j"`
	Avg    float64 `json:"avg_w"`
	Peak   float64 `json:"peak_w,omitempty"`
}
