package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/sample"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// Options say how sides are compared.
type Options struct {
	Version    string  // of the program
	Confidence float64 // 0: 0.95
	Size       float64 // of a difference that is looked for, as a share; 0: 0.05
	All        bool    // every metric and statistic
	Figures    []Figured
	Anyway     bool // also where plans measure different things
}

// Figured names a figure that is compared in any case.
type Figured struct{ Metric, Stat string }

// RefusedError is that plans measure different things.
type RefusedError struct{ Clashes []Clash }

func (e *RefusedError) Error() string {
	if len(e.Clashes) == 1 {
		return "the plans measure different things, and differ in 1 field that matters"
	}
	return "the plans measure different things, and differ in " + number.Plural(int64(len(e.Clashes)), "field") + " that matter"
}

// Make compares sides with the first. The error is a RefusedError where their plans forbid it.
func Make(sides []Side, o Options) (*Comparison, error) {
	o.Confidence, o.Size = cmp.Or(o.Confidence, estimate.Confidence), cmp.Or(o.Size, 0.05)
	if len(sides) < 2 {
		return nil, errors.New("need at least two runs to compare, got one")
	}
	c := &Comparison{
		Schema: Schema, Version: o.Version, Confidence: o.Confidence, Size: o.Size,
		Doubts: []string{}, Plans: []Clash{}, Loads: []Load{}, Unmatched: []Unmatched{},
	}
	c.describe(sides)
	loads, alone := match(sides)
	if c.Capacity = capacitiesOf(sides, o.Confidence); c.Capacity != nil && !o.All && len(o.Figures) == 0 {
		loads, alone = nil, nil // where the searches happened to go
	}
	c.Plans = append(c.Plans, objectivesDiffer(sides)...)
	c.Plans = append(c.Plans, clashes(sides, loads)...)
	if refused := slices.DeleteFunc(slices.Clone(c.Plans), func(d Clash) bool { return !d.Matters }); len(refused) > 0 && !o.Anyway {
		return nil, &RefusedError{refused}
	}
	c.Unmatched = append(c.Unmatched, alone...)
	for _, m := range loads {
		c.Loads = append(c.Loads, loadDoc(sides, &m))
	}
	c.Doubts = slices.Insert(c.Doubts, 0, c.otherLoads()...)
	return c, c.fill(sides, loads, &o)
}

// loadDoc is a load without its tables.
func loadDoc(sides []Side, m *matched) Load {
	l := Load{Name: m.name, Same: m.same, Tables: []Table{}}
	for i, stages := range m.stages {
		if stages == nil {
			continue
		}
		s := LoadSide{Side: i, Load: sides[i].load(stages), Stages: stages}
		for r, n := range stages {
			if n >= 0 {
				v := &sides[i].Runs[r].Levels[n]
				s.OK, s.Failed, s.Seconds = s.OK+v.OK, s.Failed+v.Failed, s.Seconds+v.Seconds
				s.UserCancelled += v.UserCancelled
			}
		}
		l.Sides = append(l.Sides, s)
	}
	return l
}

// fill makes the tables, one side after the other: the samples of two are held at a time.
func (c *Comparison) fill(sides []Side, loads []matched, o *Options) error {
	var levels []*MeasuredLoad
	for i := range sides {
		for _, r := range sides[i].Runs {
			for n := range r.Levels {
				levels = append(levels, &r.Levels[n])
			}
		}
	}
	metrics := metricsOf(figuresOf(o, levels...))
	first := &opened{side: &sides[0], metrics: metrics}
	for i := 1; i < len(sides); i++ {
		other := &opened{side: &sides[i], metrics: metrics}
		for k := range loads {
			m := &loads[k]
			if m.stages[0] == nil || m.stages[i] == nil {
				continue
			}
			p := &pair{first: first, other: other, a: m.stages[0], b: m.stages[i], same: m.same, options: o}
			t, err := p.table(i)
			if err != nil {
				return err
			}
			c.Loads[k].Tables = append(c.Loads[k].Tables, *t)
		}
	}
	return nil
}

// opened is a side whose samples are read when they are first needed.
type opened struct {
	side    *Side
	metrics []string                       // that are wanted of them
	samples []map[int]*sample.StageSamples // by run and stage
}

// stageSamples are the samples of a side's stages, by run; nil means there are none of one of them.
func (o *opened) stageSamples(stages []int) ([]*sample.StageSamples, error) {
	if o.samples == nil {
		for i := range o.side.Runs {
			r := &o.side.Runs[i]
			var all []int
			for n := range r.Levels {
				all = append(all, n)
			}
			s, err := r.sample(all, o.metrics)
			if err != nil {
				return nil, err
			}
			o.samples = append(o.samples, s)
		}
	}
	var list []*sample.StageSamples
	for i, n := range stages {
		if n < 0 {
			continue
		}
		s := o.samples[i][n]
		if s == nil {
			return nil, nil
		}
		list = append(list, s)
	}
	return list, nil
}

// pair is two sides at one load.
type pair struct {
	first, other *opened
	a, b         []int // stages by run
	same         bool  // the load is the same
	options      *Options
	method       string
	runsA, runsB []*sample.StageSamples // of the methods within runs
	prompts      *sample.Prompts        // that both sides answered; nil means they are not compared by prompt
}

// The methods of a table.
const (
	ByRequests = "requests"
	ByPrompts  = "prompts"
	ByRuns     = "runs"
	ByPairs    = "pairs"
	ByNothing  = "none"
)

func (p *pair) table(side int) (*Table, error) {
	if err := p.choose(); err != nil {
		return nil, err
	}
	t := &Table{Side: side, Method: p.method, Doubts: []string{}, Rows: []Row{}}
	if p.prompts != nil {
		t.Prompts = p.prompts.Count()
	}
	levels := append(p.first.side.levels(p.a), p.other.side.levels(p.b)...)
	t.Rows = append(t.Rows, p.rows(figuresOf(p.options, levels...))...)
	t.correct(1 - p.options.Confidence)
	t.Doubts = append(t.Doubts, p.doubts(t)...)
	t.Headline, t.Longer = t.headline(p.options.Confidence, p.options.Size), p.longer(t)
	return t, nil
}

// mostAtOnce is how many requests may be worked with at once, those of each metric counted: each
// takes some forty bytes.
const mostAtOnce = 64 << 20

// rows compares figures, those of a metric next to one another, with several metrics at a time.
func (p *pair) rows(figures []figure) []Row {
	var metrics [][]figure
	for begin := 0; begin < len(figures); {
		end := begin + 1
		for end < len(figures) && figures[end].metric == figures[begin].metric {
			end++
		}
		metrics = append(metrics, figures[begin:end])
		begin = end
	}
	requests := 1
	for _, runs := range [][]*sample.StageSamples{p.runsA, p.runsB} {
		for _, s := range runs {
			requests += s.Len()
		}
	}
	made := make([][]Row, len(metrics))
	var next atomic.Int64
	var working sync.WaitGroup
	for range max(1, min(runtime.GOMAXPROCS(0), len(metrics), mostAtOnce/requests)) {
		working.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(metrics)); i = next.Add(1) - 1 {
				made[i] = p.metric(metrics[i])
			}
		})
	}
	working.Wait()
	return slices.Concat(made...)
}

// choose says what intervals are made of, and reads samples where that is requests.
func (p *pair) choose() (err error) {
	count := func(stages []int) (n int) {
		for _, s := range stages {
			if s >= 0 {
				n++
			}
		}
		return n
	}
	nA, nB := count(p.a), count(p.b)
	switch {
	case nA >= 2 && nA == nB && nA == len(p.a) && nB == len(p.b) && Pairs(p.first.side.paths(), p.other.side.paths()):
		p.method = ByPairs
		return nil
	case nA >= 2 && nB >= 2:
		p.method = ByRuns
		return nil
	}
	if p.runsA, err = p.first.stageSamples(p.a); err != nil {
		return err
	}
	if p.runsB, err = p.other.stageSamples(p.b); err != nil {
		return err
	}
	switch p.method = ByRequests; {
	case p.runsA == nil || p.runsB == nil:
		p.method = ByNothing
	case p.pairPrompts():
		p.method = ByPrompts
	}
	return nil
}

func (s *Side) levels(stages []int) []*MeasuredLoad {
	var list []*MeasuredLoad
	for i, n := range stages {
		if n >= 0 {
			list = append(list, &s.Runs[i].Levels[n])
		}
	}
	return list
}

func (p *pair) metric(figures []figure) []Row {
	id := figures[0].metric
	rows := make([]Row, len(figures))
	differences := make([]*estimate.Difference, len(figures))
	valuesA, valuesB := make([][]float64, len(figures)), make([][]float64, len(figures))
	for i, f := range figures {
		row := Row{Metric: id, Name: nameOf(id), Stat: f.stat, Direction: Direction(id), Verdict: NotKnown}
		var unitA, unitB string
		valuesA[i], unitA = valuesOf(p.first.side.levels(p.a), f)
		valuesB[i], unitB = valuesOf(p.other.side.levels(p.b), f)
		row.A, row.B, row.Unit = summary(valuesA[i]), summary(valuesB[i]), cmp.Or(unitA, unitB)
		switch {
		case row.A == nil:
			row.Why = notOnFirst
		case row.B == nil:
			row.Why = notOnOther
		case unitA != unitB:
			row.Why = fmt.Sprintf("in %s on one side and in %s on the other", unitA, unitB)
		default:
			row.bounds(p, f)
		}
		rows[i] = row
	}
	switch p.method {
	case ByRuns, ByPairs:
		for i := range figures {
			between := estimate.BetweenRuns
			if p.method == ByPairs && len(valuesA[i]) == len(valuesB[i]) {
				between = estimate.BetweenPairs
			}
			d := between(valuesA[i], valuesB[i], p.options.Confidence)
			differences[i] = &d
		}
	case ByRequests, ByPrompts:
		differences = p.between(figures)
	}
	for i := range rows {
		rows[i].judge(differences[i], p.options.Size)
		rows[i].unfinished(p)
		rows[i].doubt(p, figures[i])
	}
	return rows
}

// valuesOf are a figure's values at several levels, with their unit. Where units differ there
// is none.
func valuesOf(levels []*MeasuredLoad, f figure) (values []float64, unit string) {
	for _, l := range levels {
		if v, u, ok := l.stat(f); ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
			values, unit = append(values, v), u
		}
	}
	return values, unit
}

func summary(values []float64) *SideStat {
	if len(values) == 0 {
		return nil
	}
	f := &SideStat{Runs: len(values)}
	for _, v := range values {
		f.Value += v / float64(len(values))
	}
	if len(values) > 1 {
		f.Spread = &RunSpread{Min: slices.Min(values), Max: slices.Max(values)}
		for _, v := range values {
			f.Spread.Std += (v - f.Value) * (v - f.Value) / float64(len(values)-1)
		}
		f.Spread.Std = math.Sqrt(f.Spread.Std)
	}
	return f
}

// judge fills in the difference of a row and the word for it.
func (r *Row) judge(e *estimate.Difference, size float64) {
	if r.Why != "" {
		return
	}
	a, by := r.A.Value, r.B.Value-r.A.Value
	if e != nil && e.Known && e.Method == estimate.Prompts {
		a, by = e.A, e.Delta // of the prompts that both sides answered
	}
	d := difference(a, by)
	r.Delta = d
	if e == nil || !e.Known || math.IsNaN(e.Lo) || math.IsNaN(e.Hi) {
		r.Why = fewRequests
		if e == nil {
			r.Why = noRequests
		}
		return
	}
	d.Method, d.estimate = e.Method, *e
	d.Interval = &Interval{Lo: e.Lo, Hi: e.Hi, RelativeLo: shareOf(a, e.Lo), RelativeHi: shareOf(a, e.Hi)}
	d.P, d.Least, d.Longer = finite(e.P), finite(e.Least), finite(e.SampleFactor(size*math.Abs(a)))
	switch {
	case e.Lo <= 0 && e.Hi >= 0:
		r.Verdict = NoneSeen
	case r.Direction == Neither:
		r.Verdict = Differs
	case (r.Direction == Lower) == (d.Value < 0):
		r.Verdict = Better
	default:
		r.Verdict = Worse
	}
}

// finite is a number that a document can hold; nil means it is none.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// correct applies Holm's correction to the rows of a table: with many figures, chance alone
// finds differences in some.
func (t *Table) correct(alpha float64) {
	var rows []*Row
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Delta != nil && r.Delta.P != nil {
			rows = append(rows, r)
		}
		if r.Verdict == NotKnown {
			t.Unknown++
		}
	}
	slices.SortStableFunc(rows, func(a, b *Row) int { return cmp.Compare(*a.Delta.P, *b.Delta.P) })
	t.Compared = len(rows)
	worst := 0.0
	for i, r := range rows {
		worst = max(worst, min(1, *r.Delta.P*float64(len(rows)-i)))
		r.Delta.PHolm = finite(worst)
		if r.Verdict == NoneSeen {
			continue
		}
		t.Found++
		if r.Chance = worst >= alpha; !r.Chance {
			t.Firm++
		}
	}
}
