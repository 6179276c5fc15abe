package build

import (
	"strings"

	"github.com/inferometer/inferometer/internal/cost"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
)

// charge puts what the GPUs cost into the figures of a stage; optional.
func (f *Inputs) charge(p *plan.Plan, sum *metric.StageStats) *result.Cost {
	if !p.Cost.On() {
		return nil
	}
	c := &result.Cost{GPUs: p.Cost.GPUs, Price: p.Cost.Price}
	whole := f.bill(&p.Cost, &sum.Whole.Totals, c)
	if sum.Whole.Stats == nil {
		return c // nothing was measured
	}
	sum.Whole.AddCost(whole)
	if sum.Steady != nil {
		sum.Steady.AddCost(f.bill(&p.Cost, &sum.Steady.Totals, &result.Cost{GPUs: p.Cost.GPUs, Price: p.Cost.Price}))
	}
	return c
}

// bill is what the GPUs cost in a window. It fills in c.
func (f *Inputs) bill(p *plan.Cost, t *metric.Totals, c *result.Cost) cost.GPUUsage {
	begin, end := t.Begin.Seconds(), t.End.Seconds()
	b := cost.GPUUsage{Price: p.Price}
	switch {
	case p.Watts > 0:
		c.Power = &result.Power{Source: result.MethodGiven, Method: result.MethodGiven, Valid: true}
		b.Joules = p.Watts * float64(p.GPUs) * (end - begin)
	case p.Power == plan.PowerNone:
	default:
		source, gpus, faults := f.GPUs.read(p.Devices, begin, end)
		if source == "" && p.Power == "" {
			break
		}
		e := cost.Integrate(gpus, begin, end, p.GPUs)
		if c.GPUs == 0 {
			c.GPUs = len(gpus)
		}
		c.Power = powerOf(source, &e, end-begin)
		if c.Power.Reasons = append(c.Power.Reasons, faults...); c.Power.Valid {
			b.Joules, b.Peak = e.Joules, e.Peak
			c.Power.Reasons = nil
		}
	}
	b.GPUs = c.GPUs
	return b
}

func powerOf(source string, e *cost.Energy, seconds float64) *result.Power {
	p := &result.Power{Source: source, Method: result.MethodIntegral, Valid: len(e.Reasons) == 0, Reasons: e.Reasons}
	if e.Counted {
		p.Method = result.MethodCounter
	}
	if !p.Valid {
		return p
	}
	p.Readings, p.Gap, p.Integral = e.Readings, e.Gap, e.Integral
	for _, g := range e.Each {
		p.GPUs = append(p.GPUs, result.GPUPower{Name: g.Name, Energy: g.Joules, Avg: g.Joules / seconds, Peak: g.Peak})
	}
	return p
}

// disagree is by how much integral and counted energy may differ before it is worth a note.
const disagree = 0.05

// cost tells of what is not known of the energy, and of what does not fit together.
func (j *judge) cost(i int, c *result.Cost) {
	if c == nil || c.Power == nil {
		return
	}
	switch p := c.Power; {
	case !p.Valid:
		j.addNote(i, "There are no figures of energy: %s.", strings.Join(p.Reasons, "; "))
	case p.Integral > 0:
		if off := p.Integral/sumOf(p.GPUs) - 1; off > disagree || off < -disagree {
			j.addNote(i, "The GPUs' energy counters and their power readings differ by %.1f %%: the counters are used. Read the power more often, or measure longer.", off*100)
		}
	}
}

func sumOf(gpus []result.GPUPower) (joules float64) {
	for _, g := range gpus {
		joules += g.Energy
	}
	return joules
}
