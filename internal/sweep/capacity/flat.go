package capacity

import "math"

const (
	// apart is how many times as high the highest load must be as the lowest, at least, to tell that
	// an objective does not depend on the load.
	apart = 4
	// alikeValue is how far figures are apart that are taken for the same.
	alikeValue = 1.15
	// flatOdds are the odds at which it is said.
	flatOdds = 3
)

// flat is an objective that is missed at every load alike, or nil.
func (s *Search) flat(levels []Trial) *Flat {
	for j := range s.Objectives {
		if f := s.flatIn(levels, j); f != nil {
			return f
		}
	}
	return nil
}

// Flat is an objective that is missed at every load alike.
type Flat struct {
	Figure string  `json:"figure"`
	Share  float64 `json:"share"`           // of samples that miss it
	Value  float64 `json:"value,omitempty"` // of the figure
	Lo     float64 `json:"lo"`              // the lowest load at which it was missed
	Hi     float64 `json:"hi"`              // the highest
	j      int
}

// flatIn looks at one objective, at the levels that the server keeps up with.
func (s *Search) flatIn(levels []Trial, j int) *Flat {
	o := &s.Objectives[j]
	var kept []Trial
	f := &Flat{Figure: o.Figure, Lo: math.Inf(1), j: j}
	var sum Batch
	hopeless, value := true, [2]float64{math.Inf(1), 0}
	for i := range levels {
		l := &levels[i]
		seen := element(l.Seen, j)
		if seen == nil || seen.Total().N == 0 || l.Grew || l.Cut && seen.Share < mostBad {
			continue
		}
		kept = append(kept, *l)
		t := seen.Total()
		sum.Add(t)
		f.Lo, f.Hi = min(f.Lo, l.Load), max(f.Hi, l.Load)
		if o.Allowed > 0 {
			hopeless = hopeless && seen.Met == No && seen.Share >= mostBad
		} else {
			hopeless = hopeless && seen.Met == No && o.margin(t.Sum/t.N) < -mostBad/2
		}
		if v := seen.Value; v != nil {
			value[0], value[1] = min(value[0], *v), max(value[1], *v)
		}
	}
	if f.Hi < apart*f.Lo || sum.N == 0 {
		return nil
	}
	f.Share = sum.Bad / sum.N
	if value[1] > 0 {
		f.Value = value[1]
	}
	switch {
	case hopeless && (value[1] == 0 || value[1] <= alikeValue*value[0]):
		return f
	case o.Allowed == 0 || f.Share <= o.Allowed:
		return nil
	}
	var low Batch
	for i := range kept {
		if kept[i].Load <= f.Hi/apart {
			low.Add(kept[i].Seen[j].Total())
		}
	}
	if low.Bad <= o.Allowed*low.N {
		return nil
	}
	if alikeShares(kept, j) || s.flatter(kept, j) >= math.Log(flatOdds) {
		return f
	}
	return nil
}

// alikeShares reports whether an objective is likely missed at several loads that are far apart, met at
// none, and missed by about as many samples at the lower ones as at the higher.
func alikeShares(levels []Trial, j int) bool {
	lo, hi, n := math.Inf(1), 0.0, 0
	for i := range levels {
		switch l := &levels[i]; {
		case l.Seen[j].bad < -1.2:
			return false
		case l.Seen[j].bad > 1:
			lo, hi, n = min(lo, l.Load), max(hi, l.Load), n+1
		}
	}
	if n < 3 || hi < apart*lo {
		return false
	}
	var low, high Batch
	for i := range levels {
		to := &low
		if l := &levels[i]; l.Load*l.Load > lo*hi {
			to = &high
		}
		to.Add(levels[i].Seen[j].Total())
	}
	return high.Bad/high.N < 1.7*low.Bad/low.N
}

// flatter is the logarithm of how much likelier the levels are where the share of bad samples is the
// same at all loads, and too high, than where it rises with the load.
func (s *Search) flatter(levels []Trial, j int) float64 {
	o := &s.Objectives[j]
	c := &curve{clumping: 1.5, deviance: o.deviance()}
	lo, hi := math.Inf(1), math.Inf(-1)
	var alike [scales]dispersion
	for i := range levels {
		e := o.evidenceOf(&levels[i], element(levels[i].Seen, j))
		lo, hi = min(lo, e.load), max(hi, e.load)
		for k := range alike {
			alike[k].chi2, alike[k].df = alike[k].chi2+e.alike[k].chi2, alike[k].df+e.alike[k].df
		}
		c.evidence = append(c.evidence, e)
	}
	c.clumping = clumped(alike)
	likely := func(d func(e *evidence) float64) float64 {
		sum := 0.0
		for i := range c.evidence {
			sum -= c.deviance(&c.evidence[i], d(&c.evidence[i]), c.clumping) / 2
		}
		return sum
	}
	const steps, highest = 40, 4
	var level, rising []float64
	for k := range steps {
		above := highest * (float64(k) + 0.5) / steps
		level = append(level, likely(func(*evidence) float64 { return above }))
	}
	least, most := o.steepness()
	for _, knee := range newGrid(lo-1, hi+0.5, steps) {
		for k := range slopes {
			slope := least * math.Pow(most/least, float64(k)/(slopes-1))
			rising = append(rising, likely(func(e *evidence) float64 { return slope * (e.load - knee) }))
		}
	}
	return logMean(level) - logMean(rising)
}

// logMean is the logarithm of the mean of what these are the logarithms of.
func logMean(logs []float64) float64 {
	best := math.Inf(-1)
	for _, l := range logs {
		best = max(best, l)
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - best)
	}
	return best + math.Log(sum/float64(len(logs)))
}
