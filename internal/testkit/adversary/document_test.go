//go:build linux

package adversary

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
)

// document is what of result.json is held against the truth.
type document struct {
	Interrupted bool     `json:"interrupted"`
	Incomplete  bool     `json:"incomplete"`
	Verdict     verdict  `json:"verdict"`
	Notes       []string `json:"notes"`
	Stages      []stage  `json:"stages"`
}

// verdict is that of a run or of one of its stages.
type verdict struct {
	Word    string   `json:"status"`
	Valid   bool     `json:"valid"`
	Reasons []string `json:"reasons"`
	Checks  []struct {
		Name      string  `json:"name"`
		Stage     int     `json:"stage"`
		OK        bool    `json:"ok"`
		Undecided bool    `json:"undecided"`
		Value     float64 `json:"value"`
	} `json:"checks"`
	// Undecided are the checks that could not be made.
	Undecided []string `json:"undecided"`
}

// tally is how many requests there were.
type tally struct {
	Sent, OK, Failed, Scheduled, Resent, Warmup int64
	CutOff                                      int64 `json:"cut_off"`
}

// window is a part of a run, in seconds since its start.
type window struct {
	Begin float64 `json:"begin_s"`
	End   float64 `json:"end_s"`
}

// figures are metrics by their name, each with its statistics and what belongs to them.
type figures map[string]map[string]any

// stage is one stage of a run.
type stage struct {
	Counts  tally    `json:"counts"`
	Window  window   `json:"window"`
	Metrics figures  `json:"metrics"`
	Verdict *verdict `json:"verdict"` // nil: the run's is all that there is
	Steady  *struct {
		Counts  tally   `json:"counts"`
		Window  window  `json:"window"`
		Metrics figures `json:"metrics"`
	} `json:"steady"`
}

func readResult(name string) *document {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	d := new(document)
	if err := json.Unmarshal(text, d); err != nil {
		d.Verdict.Word = fmt.Sprintf("a result.json that cannot be read: %v", err)
	}
	return d
}

// counts are those of all stages.
func (d *document) counts() (all tally) {
	for i := range d.Stages {
		c := &d.Stages[i].Counts
		all.Sent, all.OK, all.Failed, all.CutOff = all.Sent+c.Sent, all.OK+c.OK, all.Failed+c.Failed, all.CutOff+c.CutOff
		all.Resent, all.Warmup = all.Resent+c.Resent, all.Warmup+c.Warmup
	}
	return all
}

// printed is a statistic as a report prints it: a value within a bar.
type printed struct {
	value, lo, hi float64
	least         bool // the value is a lower bound: "≥ 30 s"
	barred        bool // the statistic has a bar of its own
}

// figure is a statistic of a metric of the first stage.
func (d *document) figure(metric, stat string) (said printed, ok bool) {
	if d == nil || len(d.Stages) == 0 {
		return printed{}, false
	}
	return d.Stages[0].Metrics.get(metric, stat)
}

// get is a statistic of a metric with its bar: what has none is claimed to be exact. One of few
// samples says little of other runs, and is true of this one all the same.
func (f figures) get(metric, stat string) (said printed, ok bool) {
	m := f[metric]
	v, ok := m[stat].(float64)
	if !ok {
		return printed{}, false
	}
	said = printed{value: v, lo: v, hi: v, least: names(m["at_least"], stat) || names(m["censored"], stat)}
	bars, _ := m["error"].(map[string]any)
	switch bar := bars[stat].(type) {
	case map[string]any:
		said.lo, said.hi, said.barred = number(bar["lo"], math.Inf(-1)), number(bar["hi"], math.Inf(1)), true
	case float64:
		said.lo, said.hi = v-bar, v+bar
	case nil:
		// A bar of one number for the tail holds for every percentile.
		if tail, isNumber := bars["p99"].(float64); isNumber && stat != "avg" {
			said.lo, said.hi = v-tail, v+tail
		}
	}
	return said, true
}

// names reports whether a list, or an object, has a name.
func names(list any, name string) bool {
	switch l := list.(type) {
	case []any:
		return slices.Contains(l, any(name))
	case map[string]any:
		_, ok := l[name]
		return ok
	}
	return false
}

// number is a number of a document, or what stands in for one that is not there.
func number(v any, otherwise float64) float64 {
	if n, ok := v.(float64); ok && !math.IsNaN(n) {
		return n
	}
	return otherwise
}
