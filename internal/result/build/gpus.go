package build

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/cost"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe/servermetrics"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// GPUs are the readings of the power of GPUs in a run, from all who read them.
type GPUs struct {
	sources []*gpuSource // the most exact first
}

// gpuSource is what one kind of source has read.
type gpuSource struct {
	name   string
	gpus   []*gpuLog
	faults []string
	sorted bool
}

type gpuLog struct {
	place       int // on which page, or of which server
	index, uuid string
	cost.GPU
}

// The places of GPUs.sources.
const (
	fromTool = iota
	fromPages
	fromServers
)

// gpus are the facts' own, begun where there are none.
func (f *Inputs) gpus() *GPUs {
	if f.GPUs == nil {
		f.GPUs = &GPUs{sources: []*gpuSource{{name: plan.PowerSMI}, {name: result.SourceScrape}, {name: "triton"}}}
	}
	return f.GPUs
}

// AddPower takes in what was read of the power of this machine's GPUs.
func (f *Inputs) AddPower(p *plan.Plan, said *record.Power) {
	if !p.Cost.On() {
		return
	}
	s := f.gpus().sources[fromTool]
	s.name = cmp.Or(said.Source, s.name)
	s.fault(said.Error)
	for i := range said.GPUs {
		g := &said.GPUs[i]
		log := s.log(0, g.Index, g.UUID)
		for k := range min(len(g.At), len(g.Watts)) {
			log.Power = append(log.Power, cost.Point{At: g.At[k].Seconds(), Value: g.Watts[k]})
		}
	}
}

// observe takes in what servers and exporters say of GPUs.
func (g *GPUs) observe(look *record.Probe) {
	for i := range look.Pages {
		page := &look.Pages[i]
		for _, r := range servermetrics.Readings(page.Samples) {
			g.sources[fromPages].log(i, r.Index, r.UUID).add(page.At, r.Watts, r.Joules)
		}
		g.sources[fromPages].fault(page.Error)
	}
	for i, t := range look.Targets {
		if t.Server == nil {
			continue
		}
		for _, gpu := range t.Server.GPUs {
			g.sources[fromServers].log(i, "", gpu.UUID).add(cmp.Or(t.Server.At, look.At), gpu.Power, math.NaN())
		}
	}
}

func (s *gpuSource) fault(text string) {
	if text != "" && !slices.Contains(s.faults, text) {
		s.faults = append(s.faults, text)
	}
}

// log finds the log of a GPU, or begins it.
func (s *gpuSource) log(place int, index, uuid string) *gpuLog {
	s.sorted = false
	for _, g := range s.gpus {
		if g.place == place && g.index == index && g.uuid == uuid {
			return g
		}
	}
	g := &gpuLog{place: place, index: index, uuid: uuid}
	if g.Name = "GPU " + index; index == "" {
		g.Name = "GPU " + uuid
	}
	s.gpus = append(s.gpus, g)
	return g
}

func (g *gpuLog) add(at time.Duration, watts, joules float64) {
	for _, v := range []struct {
		to    *[]cost.Point
		value float64
	}{{&g.Power, watts}, {&g.Energy, joules}} {
		if !math.IsNaN(v.value) {
			*v.to = append(*v.to, cost.Point{At: at.Seconds(), Value: v.value})
		}
	}
}

// read gives what the best source has of a window and around it, of some devices or all, if any.
func (g *GPUs) read(devices []string, begin, end float64) (source string, gpus []cost.GPU, faults []string) {
	if g == nil {
		return "", nil, nil
	}
	for _, s := range g.sources {
		faults = append(faults, s.faults...)
		if len(s.gpus) == 0 {
			continue
		}
		s.sort()
		several := slices.ContainsFunc(s.gpus, func(l *gpuLog) bool { return l.place > 0 })
		for _, l := range s.gpus {
			if len(devices) > 0 && !slices.Contains(devices, l.index) && !slices.Contains(devices, l.uuid) {
				continue
			}
			one := cost.GPU{Name: l.Name, Power: near(l.Power, begin, end), Energy: near(l.Energy, begin, end)}
			if several {
				one.Name = fmt.Sprintf("%s of page %d", l.Name, l.place+1)
			}
			gpus = append(gpus, one)
		}
		if len(gpus) == 0 {
			return s.name, nil, append(slices.Clone(s.faults), "none of the GPUs that were read has the index or UUID that was given")
		}
		return s.name, gpus, s.faults
	}
	return "", nil, faults
}

// sort puts all readings in the order of time.
func (s *gpuSource) sort() {
	if s.sorted {
		return
	}
	s.sorted = true
	byTime := func(a, b cost.Point) int { return cmp.Compare(a.At, b.At) }
	for _, l := range s.gpus {
		slices.SortStableFunc(l.Power, byTime)
		slices.SortStableFunc(l.Energy, byTime)
	}
}

// near are the readings of a window, of some seconds around it, and one more at either side.
func near(points []cost.Point, begin, end float64) []cost.Point {
	const around = 10
	at := func(t float64) int {
		i, _ := slices.BinarySearchFunc(points, t, func(p cost.Point, t float64) int { return cmp.Compare(p.At, t) })
		return i
	}
	return points[max(at(begin-around)-1, 0):min(at(end+around)+1, len(points))]
}
