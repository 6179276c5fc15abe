package aiperf

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/tool/importer"
)

// config is what input_config says of a run, as of 0.13 and before, when the load was in loadgen.
type config struct {
	Models struct {
		Items []struct {
			Name string `json:"name"`
		} `json:"items"`
	} `json:"models"`
	Endpoint struct {
		URLs      []string `json:"urls"`
		URL       string   `json:"url"`
		Models    []string `json:"model_names"`
		Type      string   `json:"type"`
		Streaming bool     `json:"streaming"`
		Server    bool     `json:"use_server_token_count"`
	} `json:"endpoint"`
	Phases  []phase `json:"phases"`
	Loadgen struct {
		Concurrency number `json:"concurrency"`
		Rate        number `json:"request_rate"`
		Mode        string `json:"request_rate_mode"`
	} `json:"loadgen"`
}

type phase struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"`
	Type        string `json:"type"`
	Concurrency number `json:"concurrency"`
	Rate        number `json:"rate"`
	Smoothness  number `json:"smoothness"`
}

// number is a number, or 0 where something else stands.
type number float64

// UnmarshalJSON takes any value.
func (n *number) UnmarshalJSON(text []byte) error {
	var v float64
	if json.Unmarshal(text, &v) == nil {
		*n = number(v)
	}
	return nil
}

// readConfig reads what is known of it: parts that have other types are left out.
func readConfig(text json.RawMessage) config {
	var c config
	_ = json.Unmarshal(text, &c) // what fits is taken
	return c
}

func (c *config) model() string {
	if len(c.Models.Items) > 0 {
		return c.Models.Items[0].Name
	}
	if len(c.Endpoint.Models) > 0 {
		return c.Endpoint.Models[0]
	}
	return ""
}

func (c *config) url() string {
	if len(c.Endpoint.URLs) > 0 {
		return c.Endpoint.URLs[0]
	}
	return c.Endpoint.URL
}

// phaseOf is the measured phase of a name, or the only one, or nil.
func (c *config) phaseOf(name string) *phase {
	var only *phase
	for i := range c.Phases {
		p := &c.Phases[i]
		if p.Name == name {
			return p
		}
		if p.Kind != "warmup" && p.Name != "warmup" {
			only = p
		}
	}
	if only == nil && (c.Loadgen.Concurrency > 0 || c.Loadgen.Rate > 0) {
		return &phase{Type: c.Loadgen.Mode, Concurrency: c.Loadgen.Concurrency, Rate: c.Loadgen.Rate}
	}
	return only
}

// stage is the load of a phase. What the file does not say is what it came to: known is false.
func (c *config) stage(name string, requests int64, most int, span time.Duration) (st plan.Stage, known bool) {
	p := c.phaseOf(name)
	switch {
	case p != nil && p.Rate > 0:
		st = importer.Stage(float64(p.Rate), int(min(p.Concurrency, 1e9)), requests)
		arrival(&st, p)
		return st, true
	case p != nil && p.Concurrency > 0:
		return importer.Stage(0, int(min(p.Concurrency, 1e9)), requests), true
	case p != nil && p.Type == "fixed_schedule" && span > 0 && requests > 1:
		return importer.Stage(importer.Rate(requests-1, span.Seconds()), 0, requests), false
	}
	return importer.Stage(0, most, requests), false
}

// arrival says how the gaps between arrivals vary.
func arrival(st *plan.Stage, p *phase) {
	switch {
	case strings.Contains(p.Type, "constant"):
		st.Arrival = plan.ArrivalConstant
	case strings.Contains(p.Type, "gamma") && p.Smoothness > 0:
		st.Arrival, st.CV = plan.ArrivalGamma, importer.CV(float64(p.Smoothness))
	default:
		st.Arrival = plan.ArrivalPoisson
	}
}
