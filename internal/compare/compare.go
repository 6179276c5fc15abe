// Package compare says how far apart the runs of two or more sides are, and whether that is
// more than chance: sides are opened, their levels matched by load, and every figure of a
// level is given with the difference, its interval and a word for it.
package compare

import (
	"time"

	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// Schema names the version of the document.
const Schema = "inferometer.comparison/1"

// The words for a difference.
const (
	Better   = "better"
	Worse    = "worse"
	Differs  = "differs" // neither is better
	NoneSeen = "none found"
	NotKnown = "not known"
)

// Comparison is the document: the sides, what is doubtful about comparing them, and a table
// for each load and each side but the first, with which the others are compared.
type Comparison struct {
	Schema     string    `json:"schema"`
	Version    string    `json:"version"`    // of the program
	Confidence float64   `json:"confidence"` // of the intervals
	Size       float64   `json:"size"`       // the difference that is looked for, as a share of the first side's figure
	Sides      []SideDoc `json:"sides"`
	// Trusted: every run is complete and valid.
	Trusted bool     `json:"trusted"`
	Doubts  []string `json:"doubts"` // what speaks against the comparison as a whole
	Plans   []Clash  `json:"plan_differences"`
	// Capacity is what searches for it have found, where every run is one; nil means not.
	Capacity  *Capacities `json:"capacity,omitempty"`
	Loads     []Load      `json:"loads"`
	Unmatched []Unmatched `json:"unmatched"` // levels that are compared with nothing
	// Gates are the conditions under which the user wants the comparison to fail; their stage is
	// the place of the load.
	Gates []result.Gate `json:"gates,omitempty"`
}

// SideDoc is a side as the document has it.
type SideDoc struct {
	Name string   `json:"name"`
	Runs []RunDoc `json:"runs"`
}

// RunDoc is a run as the document has it.
type RunDoc struct {
	Path    string     `json:"path"`
	By      string     `json:"by,omitempty"` // who measured it; empty: this program
	Subject string     `json:"subject"`      // what was measured
	Version string     `json:"version,omitempty"`
	Started *time.Time `json:"started,omitempty"`
	Verdict string     `json:"verdict"` // valid, invalid, inconclusive; not known for what others measured
	Notes   []string   `json:"notes,omitempty"`
}

// Clash is a field of the plan in which a side differs from the first.
type Clash struct {
	Field string `json:"field"`
	Side  int    `json:"side"` // which differs from side 0
	First string `json:"first"`
	Other string `json:"other"`
	// Matters: the two measure different things, and are compared only because that was
	// asked for.
	Matters bool `json:"matters"`
}

// Unmatched is a level that cannot be compared.
type Unmatched struct {
	Side int    `json:"side"`
	Load string `json:"load"`
}

// Load is a load that several sides were measured at.
type Load struct {
	Name   string     `json:"name"` // in words: "32 in flight"
	Sides  []LoadSide `json:"sides"`
	Tables []Table    `json:"tables"`
	Same   bool       `json:"same_load"` // false: the only levels of each side, of different loads
}

// LoadSide is what a side has at a load.
type LoadSide struct {
	Side   int    `json:"side"`
	Load   string `json:"load"`   // in words
	Stages []int  `json:"stages"` // index of the stage in each run; -1: the run lacks it
	OK     int64  `json:"ok"`     // over all runs
	Failed int64  `json:"failed"`
	// UserCancelled are requests whose users went away: neither OK nor Failed.
	UserCancelled int64   `json:"user_cancelled,omitempty"`
	Seconds       float64 `json:"seconds"` // measured, over all runs; 0: not known
}

// Table compares a side with the first.
type Table struct {
	Side   int    `json:"side"`
	Method string `json:"method"` // what intervals are made of: requests, prompts, runs, pairs, or none
	// Prompts is how many both sides answered, where they are compared prompt by prompt.
	Prompts int      `json:"prompts,omitempty"`
	Doubts  []string `json:"doubts"`
	Rows    []Row    `json:"rows"`
	// Compared is how many rows have a p-value, Found those of them with a difference, and
	// Firm those that stand after Holm's correction for so many comparisons.
	Compared int    `json:"compared"`
	Found    int    `json:"found"`
	Firm     int    `json:"firm"`
	Unknown  int    `json:"not_known"`          // rows that nothing can be said of
	Headline string `json:"headline,omitempty"` // in words: what was compared, found and is not known
	Longer   string `json:"longer,omitempty"`   // in words: how much longer to run
}

// Row is one figure of both sides.
type Row struct {
	Metric    string      `json:"metric"`
	Name      string      `json:"name"`
	Stat      string      `json:"stat"` // avg, p50, …
	Unit      string      `json:"unit"`
	Direction string      `json:"direction"` // which is better: lower, higher or neither
	A         *SideStat   `json:"a,omitempty"`
	B         *SideStat   `json:"b,omitempty"`
	Delta     *Difference `json:"difference,omitempty"`
	Verdict   string      `json:"verdict"`
	// Chance: there is a difference by the row's own interval that does not stand after the
	// correction for all the rows of the table.
	Chance bool `json:"may_be_chance,omitempty"`
	// Client: the interval leaves out 0, but the clients' own delays can have made the difference.
	Client bool   `json:"may_be_client,omitempty"`
	Why    string `json:"reason,omitempty"` // why there is no more to say

	bent float64 // how far the clients of both sides can have bent the difference
}

// SideStat is a figure of a side: over several runs it is their mean.
type SideStat struct {
	Value float64 `json:"value"`
	Runs  int     `json:"runs"` // with the figure
	// AtLeast: it is a lower bound, because requests did not end.
	AtLeast bool       `json:"at_least,omitempty"`
	Spread  *RunSpread `json:"spread,omitempty"`
}

// RunSpread is how far the runs of a side are apart.
type RunSpread struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
	Std float64 `json:"std"`
}

// Difference is how far B is from A, in the unit of the row.
type Difference struct {
	Value    float64   `json:"value"`
	Relative *float64  `json:"relative,omitempty"` // share of A; left out where A is 0
	Interval *Interval `json:"interval,omitempty"` // left out: not known
	P        *float64  `json:"p,omitempty"`
	PHolm    *float64  `json:"p_holm,omitempty"` // after the correction
	Least    *float64  `json:"least,omitempty"`  // the smallest difference that would be found, with 80 % power
	Longer   *float64  `json:"longer,omitempty"` // how many times as long to run to find one of the size looked for
	Method   string    `json:"method,omitempty"`

	estimate estimate.Difference // what it is made of; the zero value: there is no interval
}

// Interval is what a difference lies in with the comparison's confidence.
type Interval struct {
	Lo         float64  `json:"lo"`
	Hi         float64  `json:"hi"`
	RelativeLo *float64 `json:"relative_lo,omitempty"` // shares of A
	RelativeHi *float64 `json:"relative_hi,omitempty"`
}

// Found is a row with where it stands.
type Found struct {
	Load  *Load
	Table *Table
	Row   *Row
}

// Find gives the rows of a figure: one for each load and each side but the first.
func (c *Comparison) Find(metric, stat string) []Found {
	var list []Found
	for i := range c.Loads {
		for k := range c.Loads[i].Tables {
			t := &c.Loads[i].Tables[k]
			for r := range t.Rows {
				if t.Rows[r].Metric == metric && t.Rows[r].Stat == stat {
					list = append(list, Found{&c.Loads[i], t, &t.Rows[r]})
				}
			}
		}
	}
	return list
}
