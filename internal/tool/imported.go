package tool

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// Imported says what was read of another tool's files.
type Imported struct {
	By    string   // who wrote them, with the version where they have it, such as "AIPerf 0.13.0"
	Notes []string // where its definitions differ from ours, and what its files do not say
}

// Figures are what another tool has worked out of a run whose single requests are not there.
type Figures struct {
	Imported
	Plan    *plan.Plan // what its load comes to: a stage for each of Loads
	Started time.Time  // zero: not known
	Loads   []LoadFigures
}

// LoadFigures are those at one load.
type LoadFigures struct {
	OK, Failed int64
	Seconds    float64 // that it took; 0: not known
	// Metrics are the figures by metric and by statistic (avg, min, max, std, p50, p99.9), in
	// the metric's unit. A rate has avg alone. What was not worked out is not there.
	Metrics map[string]map[string]float64
}

// Import makes an output directory of the single requests that one of the tools wrote.
func Import(env Env, from From, tools []Tool, dir string) (*Imported, error) {
	read, figures, err := Foreign(env, from, tools, dir)
	if err == nil && figures != nil {
		err = fmt.Errorf("%s has figures of %s, and not all of its single requests, of which this is made", from.Path, figures.By)
	}
	return read, err
}

// Foreign reads what one of the tools wrote: an output directory is made of single requests,
// and figures are given where there is nothing but those. One of the two is not nil.
func Foreign(env Env, from From, tools []Tool, dir string) (*Imported, *Figures, error) {
	if _, err := os.Stat(from.Path); err != nil {
		return nil, nil, err
	}
	if err := Readable(from.Path); err != nil {
		return nil, nil, err
	}
	for _, t := range tools {
		if t.Import == nil {
			continue
		}
		if read, err := t.Import(env, from, dir); read != nil || err != nil {
			return read, nil, err
		}
	}
	for _, t := range tools {
		if t.Figures == nil {
			continue
		}
		if figures, err := t.Figures(env, from); figures != nil || err != nil {
			return nil, figures, err
		}
	}
	return nil, nil, fmt.Errorf("%s holds no requests to read. What can be read:\n%s", from.Path, readable(tools))
}

func readable(tools []Tool) string {
	list := []string{"an output directory of inferometer"}
	for _, t := range tools {
		if t.Reads != "" {
			list = append(list, t.Reads)
		}
	}
	return strings.Join(list, "\n")
}
