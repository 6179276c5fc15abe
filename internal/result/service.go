package result

import (
	"slices"

	"github.com/inferometer/inferometer/internal/record"
)

// The sources of a Service.
const (
	SourceScrape     = "scrape"     // the servers' own pages, read by this program
	SourcePrometheus = "prometheus" // a Prometheus server
)

// ServerMetrics is what the metrics of the servers say of a stage or of the whole run, under
// names that are the same whatever the server. A metric that is missing is left out.
type ServerMetrics struct {
	Source  string   `json:"source"`
	Window  Span     `json:"window"`
	Figures []Figure `json:"figures,omitempty"` // of all servers together
	// Parts are the figures of each page, or of each GPU on it, where there are several, and of prefill and decode workers.
	Parts  []ServicePart   `json:"parts,omitempty"`
	Series []ServiceSeries `json:"series,omitempty"`
	Faults []string        `json:"faults,omitempty"` // what was not available
}

// Figure is what one metric says.
type Figure = record.Figure

// ServicePart is what one page says, or one GPU.
type ServicePart struct {
	Page    string   `json:"page"`
	GPU     string   `json:"gpu,omitempty"`
	Role    string   `json:"role,omitempty"` // of workers, all those of one on all pages: prefill or decode
	Figures []Figure `json:"figures"`
}

// ServiceSeries is how a metric went over the time of a stage, all servers together:
// a gauge as it was, a counter by its rise per second.
type ServiceSeries struct {
	Name   string       `json:"name"`
	Unit   string       `json:"unit,omitempty"`
	Role   string       `json:"role,omitempty"` // of the workers that it is about; empty: all
	Points [][2]float64 `json:"points"`         // seconds since the start of the run, value
}

// Figure finds a figure by its name; nil means it was not said.
func (s *ServerMetrics) Figure(name string) *Figure {
	if i := slices.IndexFunc(s.Figures, func(f Figure) bool { return f.Name == name }); i >= 0 {
		return &s.Figures[i]
	}
	return nil
}

// FromPrometheus is what a Prometheus server said; optional.
func FromPrometheus(all []ServerMetrics) *ServerMetrics { return serviceOf(all, SourcePrometheus) }

// FromPages is what the servers' own pages said; optional.
func FromPages(all []ServerMetrics) *ServerMetrics { return serviceOf(all, SourceScrape) }

func serviceOf(all []ServerMetrics, source string) *ServerMetrics {
	if i := slices.IndexFunc(all, func(s ServerMetrics) bool { return s.Source == source }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Cost is what is known of the GPUs behind a stage. Figures made of it are among the stage's
// metrics.
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

// Power says where a stage's energy comes from, and whether it is valid: else it has no figures.
type Power struct {
	Source   string   `json:"source"`
	Method   string   `json:"method"`
	Valid    bool     `json:"valid"`
	Reasons  []string `json:"reasons,omitempty"`       // why it is not valid
	Readings int      `json:"readings,omitempty"`      // in the window, of the GPU that has the fewest
	Gap      float64  `json:"longest_gap_s,omitempty"` // between two of them
	// Integral is that of the power, in joules, where the energy was counted: they should be alike.
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
