package compare

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// describe fills in the sides, and what speaks against them.
func (c *Comparison) describe(sides []Side) {
	c.Trusted = true
	for i := range sides {
		doc := SideDoc{Name: sides[i].Name}
		for k := range sides[i].Runs {
			r := &sides[i].Runs[k]
			doc.Runs = append(doc.Runs, describeRun(r))
			for _, why := range r.faults() {
				c.Trusted = false
				c.Doubts = append(c.Doubts, nameOfRun(&sides[i], k)+" "+why)
			}
			if r.By != "" {
				c.Doubts = append(c.Doubts, fmt.Sprintf("%s was measured by %s: whether its client kept up is not known.", nameOfRun(&sides[i], k), r.By))
			}
		}
		c.Sides = append(c.Sides, doc)
	}
	c.Doubts = append(c.Doubts, sameRuns(sides)...)
	c.Doubts = append(c.Doubts, machines(sides)...)
	c.Doubts = append(c.Doubts, samePrompts(sides)...)
}

// nameOfRun is a side or, where it has several, one of its runs.
func nameOfRun(s *Side, k int) string {
	if len(s.Runs) == 1 {
		return s.Name
	}
	return fmt.Sprintf("%s (run %d, %s)", s.Name, k+1, s.Runs[k].Path)
}

func describeRun(r *Run) RunDoc {
	d := RunDoc{Path: r.Path, By: r.By, Subject: subject(r.Plan), Verdict: NotKnown, Notes: r.Notes}
	if r.Saved != nil {
		res := r.Saved.Result
		if !res.Started.IsZero() {
			d.Started = &res.Started
		}
		if r.By == "" {
			d.Version, d.Verdict = res.Version, res.Verdict.Status
		}
	}
	return d
}

func subject(p *plan.Plan) string {
	var urls []string
	for _, u := range p.Target.URLs {
		urls = append(urls, plan.SafeURL(u))
	}
	text := strings.TrimSpace(p.Target.Model + " " + p.Target.Endpoint)
	if len(urls) > 0 {
		text += " at " + strings.Join(urls, ", ")
	}
	return text
}

// faults are why a run of ours is not to be trusted.
func (r *Run) faults() []string {
	if r.Saved == nil || r.By != "" {
		return nil
	}
	res := r.Saved.Result
	var list []string
	switch {
	case res.Incomplete:
		list = append(list, "is incomplete: the run was cut off before its end.")
	case res.Interrupted:
		list = append(list, "was stopped early.")
	}
	switch v := &res.Verdict; {
	case v.Valid:
	case v.Status == result.Inconclusive:
		list = append(list, strings.TrimSpace("is INCONCLUSIVE: "+firstOf(v.Undecided)+" "+v.Summary))
	default:
		list = append(list, strings.TrimSpace("is INVALID: "+firstOf(v.Reasons)+" "+v.Summary))
	}
	return list
}

// firstOf is the first of several reasons.
func firstOf(reasons []string) string {
	if len(reasons) == 0 {
		return "no reason is given."
	}
	text := strings.ReplaceAll(reasons[0], "\n", " ")
	if n := len(reasons) - 1; n > 0 {
		text += fmt.Sprintf(" (and %s)", number.Plural(int64(n), "further reason"))
	}
	return text
}

// sameRuns finds runs that are compared with themselves.
func sameRuns(sides []Side) []string {
	type place struct{ side, run int }
	var seen []os.FileInfo
	var places []place
	var list []string
	for i := range sides {
		for k := range sides[i].Runs {
			info, err := os.Stat(sides[i].Runs[k].Path)
			if err != nil {
				continue
			}
			if n := slices.IndexFunc(seen, func(o os.FileInfo) bool { return os.SameFile(o, info) }); n >= 0 {
				p := places[n]
				list = append(list, fmt.Sprintf("%s and %s are the same run, %s.", nameOfRun(&sides[p.side], p.run), nameOfRun(&sides[i], k), sides[i].Runs[k].Path))
			}
			seen, places = append(seen, info), append(places, place{i, k})
		}
	}
	return list
}

// machines finds sides that other machines measured than the first.
func machines(sides []Side) []string {
	first := sides[0].Runs[0].Saved
	if first == nil || sides[0].Runs[0].By != "" {
		return nil
	}
	words := func(h record.Host) string {
		return strings.TrimSpace(fmt.Sprintf("%s, %d cores, %s/%s", h.CPU, h.Cores, h.OS, h.Arch))
	}
	var list []string
	for i := 1; i < len(sides); i++ {
		r := &sides[i].Runs[0]
		if r.Saved == nil || r.By != "" {
			continue
		}
		if a, b := words(first.Result.Host), words(r.Saved.Result.Host); a != b {
			list = append(list, fmt.Sprintf("The clients ran on different machines: %s (%s) and %s (%s).", sides[0].Name, a, sides[i].Name, b))
		}
		if a, b := first.Result.Version, r.Saved.Result.Version; a != b {
			list = append(list, fmt.Sprintf("The clients are of different versions: %s (%s) and %s (%s).", sides[0].Name, a, sides[i].Name, b))
		}
	}
	return list
}

// samePrompts finds runs that sent the prompts of another to the same server again: what its
// cache has kept makes the later one faster.
func samePrompts(sides []Side) []string {
	type sent struct {
		urls string
		seed uint64
	}
	first := map[sent]string{}
	var list []string
	for i := range sides {
		for k := range sides[i].Runs {
			r := &sides[i].Runs[k]
			if r.Saved == nil || r.By != "" || r.Plan.Data.Salt != "" || r.Plan.Data.Prompts > 0 || len(r.Plan.Target.URLs) == 0 {
				continue
			}
			key := sent{strings.Join(r.Plan.Target.URLs, " "), r.Saved.Facts.Header.Seed}
			name := nameOfRun(&sides[i], k)
			if before, ok := first[key]; ok && before != name {
				list = append(list, fmt.Sprintf("%s and %s sent the same prompts to the same server (both have seed %d): its prefix cache may have made the later one faster. Run without a seed, or with --salt run.", before, name, key.seed))
				continue
			}
			first[key] = name
		}
	}
	return list
}

// otherLoads says that the levels of sides that are compared have different loads, which differences
// come from in the first place.
func (c *Comparison) otherLoads() []string {
	var list []string
	for i := range c.Loads {
		l := &c.Loads[i]
		if l.Same {
			continue
		}
		var parts []string
		for _, s := range l.Sides {
			parts = append(parts, s.Load+" on "+c.Sides[s.Side].Name)
		}
		list = append(list, "The loads differ: "+strings.Join(parts, ", ")+". Differences are those of the load first of all.")
	}
	return list
}

// SameLoads reports whether all that is compared was measured under the same load.
func (c *Comparison) SameLoads() bool {
	return !slices.ContainsFunc(c.Loads, func(l Load) bool { return !l.Same })
}

// lengthShare is the difference in length from which on the work of two sides is not the same.
const lengthShare = 0.01

// doubts are what speaks against the latencies of a table.
func (p *pair) doubts(t *Table) []string {
	a, b := p.first.side.Name, p.other.side.Name
	var list []string
	for _, s := range []struct {
		name   string
		levels []*MeasuredLoad
	}{{a, p.first.side.levels(p.a)}, {b, p.other.side.levels(p.b)}} {
		if !slices.ContainsFunc(s.levels, func(l *MeasuredLoad) bool { return l.OK > 0 }) {
			list = append(list, s.name+" has no successful request at this load.")
		}
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Stat != average || r.Delta == nil || r.Verdict == NoneSeen {
			continue
		}
		switch r.Metric {
		case "output_sequence_length", "input_sequence_length":
			if d := r.Delta.Relative; d != nil && math.Abs(*d) >= lengthShare {
				what, then := "Responses", "latency and throughput are of different work"
				if r.Metric == "input_sequence_length" {
					what, then = "Prompts", "time to first token and throughput are of different work"
				}
				list = append(list, fmt.Sprintf("%s of %s have %s tokens on average and those of %s %s: %s.", what, a, plain(r.A.Value), b, plain(r.B.Value), then))
			}
		case "error_rate":
			if r.Verdict != NotKnown || math.Abs(r.Delta.Value) >= 0.01 {
				list = append(list, fmt.Sprintf("%s of the requests of %s failed and %s of those of %s: latencies are of the others alone.", number.Share(r.A.Value), a, number.Share(r.B.Value), b))
			}
		}
	}
	if x, y := p.first.side.counted(p.a), p.other.side.counted(p.b); x != "" && y != "" && x != y {
		list = append(list, fmt.Sprintf("Output tokens are counted in different ways: %s on %s, %s on %s.", x, a, y, b))
	}
	if p.method == ByRequests && len(p.runsA)+len(p.runsB) > 2 {
		list = append(list, "One side is a single run: what changes from run to run is not in the intervals. Give several runs of each side.")
	}
	return list
}

// counted says who counted most of the output tokens of a side's first run; empty if none was counted.
func (s *Side) counted(stages []int) string {
	r := &s.Runs[0]
	if r.Saved == nil || stages[0] < 0 {
		return ""
	}
	best, most := "", int64(0)
	for source, n := range r.Saved.Result.Stages[stages[0]].Tokens.Output {
		if n > most || n == most && source < best {
			best, most = source, n
		}
	}
	return best
}

// plain is a number with one decimal at most.
func plain(v float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}

// longer says in words how much longer to run to find a difference of the size looked for.
func (p *pair) longer(t *Table) string {
	type need struct {
		name  string
		times float64
	}
	var needs []need
	known := 0
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Delta == nil || r.Delta.Longer == nil {
			continue
		}
		if known++; *r.Delta.Longer > 1 {
			needs = append(needs, need{r.Name + " " + r.Stat, *r.Delta.Longer})
		}
	}
	size := number.Percent(p.options.Size)
	switch {
	case known == 0:
		return ""
	case len(needs) == 0:
		return fmt.Sprintf("A difference of %s would have been found in every figure that has an interval (4 times out of 5).", size)
	}
	slices.SortStableFunc(needs, func(a, b need) int {
		switch {
		case a.times > b.times:
			return -1
		case a.times < b.times:
			return 1
		}
		return 0
	})
	text := fmt.Sprintf("A difference of %s would have been found in %d of %s (4 times out of 5). ", size, known-len(needs), number.Plural(int64(known), "figure"))
	var parts []string
	for _, n := range needs[:min(3, len(needs))] {
		parts = append(parts, n.name+" "+p.times(n.times))
	}
	text += "To find one: " + strings.Join(parts, "; ")
	if n := len(needs) - 3; n > 0 {
		text += fmt.Sprintf("; less for %d more", n)
	}
	return text + "."
}

// times says how much more of a side it takes.
func (p *pair) times(n float64) string {
	if n > 1000 {
		return "more than 1,000 times as long"
	}
	if !within(p.method) {
		runs := max(len(p.a), len(p.b))
		return number.Plural(int64(math.Ceil(n*float64(runs))), "run") + " of each side"
	}
	seconds := 0.0
	for _, l := range append(p.first.side.levels(p.a), p.other.side.levels(p.b)...) {
		seconds = max(seconds, l.Seconds)
	}
	return fmt.Sprintf("%s times as long (%s)", digits(n), number.Seconds(seconds*n))
}

func digits(n float64) string {
	if n < 10 {
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.0f", n)
}
