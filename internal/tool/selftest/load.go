package selftest

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// The default pace of the mock: a first token that takes longer than any
// delay of this side, and tokens as a fast server sends them.
const (
	usualTTFT = 50 * time.Millisecond
	usualITL  = 10 * time.Millisecond
	// usualTokens is what the mock answers where the plan names no length.
	usualTokens = 64
	// model is what the mock calls itself.
	model = "mock-model"
	// longest is how long one load is measured at most.
	longest = time.Minute
)

func (o Options) pace() (ttft, itl time.Duration) {
	return cmp.Or(o.TTFT, usualTTFT), cmp.Or(o.ITL, usualITL)
}

// loads are the plans of all loads that may be tried: the first and heavier ones, and lighter
// ones.
func (o Options) loads() (up, down []plan.Plan, err error) {
	first, factor := plan.Default(), 4
	first.Stages = []plan.Stage{{Concurrency: 8}}
	first.Data.Input.Mean = 32
	first.Target.Model = model
	if o.Plan != nil {
		like, err := likeness(o.Plan)
		if err != nil {
			return nil, nil, err
		}
		first, factor = *like, 2
	}
	first.Stages[0].Warmup = plan.Warmup{Duration: plan.Duration(warmup)}
	first.Stages[0].Duration = plan.Duration(o.length(&first))
	for i, times := 0, 1; i < o.Levels; i, times = i+1, times*factor {
		up = append(up, scaled(first, float64(times)))
		if lighter := scaled(first, 1/float64(times)); i > 0 && (lighter.Stages[0].Concurrency > 0 || lighter.Stages[0].Rate > 0) {
			down = append(down, lighter)
		}
	}
	return up, down, nil
}

func scaled(p plan.Plan, times float64) plan.Plan {
	s := p.Stages[0]
	s.Concurrency = int(float64(s.Concurrency) * times)
	s.Rate *= times
	s.MaxInFlight = int(math.Ceil(float64(s.MaxInFlight) * times))
	p.Stages = []plan.Stage{s}
	return p
}

// length is how long a load is measured: a response must fit into it several times.
func (o Options) length(p *plan.Plan) time.Duration {
	ttft, itl := o.pace()
	answer := ttft + time.Duration(cmp.Or(p.Data.Output.Mean, usualTokens)*float64(itl))
	return min(max(o.Time, 3*answer), max(longest, o.Time))
}

// likeness is a plan with the load and the prompts of another, for a mock.
func likeness(like *plan.Plan) (*plan.Plan, error) {
	p := plan.Default()
	p.Seed, p.Data, p.Tokenizer, p.Budgets = like.Seed, like.Data, like.Tokenizer, like.Budgets
	p.Target.Streaming, p.Target.HTTP2 = like.Target.Streaming, like.Target.HTTP2
	if like.Target.Protocol == plan.ProtocolOpenAI && like.Target.Generates() {
		p.Target.Endpoint = like.Target.Endpoint
	}
	p.Target.Model = model
	p.Data.Adapters = nil
	s, ok := heaviest(like)
	if !ok {
		return nil, errors.New("the plan has no stage with a concurrency or rate to calibrate at: give one with --concurrency or --rate")
	}
	p.Stages = []plan.Stage{s}
	return &p, nil
}

func heaviest(p *plan.Plan) (most plan.Stage, ok bool) {
	for _, s := range p.Stages {
		load := plan.Stage{Concurrency: s.Concurrency, Rate: s.Rate, Arrival: s.Arrival, CV: s.CV, MaxInFlight: s.MaxInFlight}
		switch {
		case s.Concurrency > 0:
			load.Concurrency = max(s.Concurrency, int(s.RampTo), s.Growth.To)
		case s.Rate > 0:
			load.Rate = max(s.Rate, s.RampTo)
		case s.PerSecond() > 0:
			load.Rate, load.Arrival = s.PerSecond(), ""
		case s.Sessions.Concurrent > 0:
			load = plan.Stage{Concurrency: s.Sessions.Concurrent}
		default:
			continue
		}
		if !ok || load.Concurrency > most.Concurrency || load.Rate > most.Rate {
			most, ok = load, true
		}
	}
	if last := slices.Max(append([]float64{p.Levels.End}, p.Levels.List...)); ok && last > 0 {
		if most.Concurrency > 0 {
			most.Concurrency = int(last)
		} else {
			most.Rate = last
		}
	}
	return most, ok
}
