package pagedata

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// The groups of series, in the order they are drawn.
const (
	groupLoad     = "load"
	groupInFlight = "in flight"
	groupTokens   = "tokens"
	groupErrors   = "errors"
	groupTTFT     = "ttft"
	groupITL      = "itl"
	groupHeat     = "itl heat"
	groupClient   = "client"
	groupQueue    = "server requests"
	groupCache    = "server cache"
	groupSpec     = "speculation"
	groupGPU      = "gpu"
	groupServer   = "server"
)

// mostPoints bounds the points of a series that has no bins.
const mostPoints = 600

func (s *Builder) series(d *Document, f *Facts) {
	if len(s.bins.list) > 0 {
		s.binned(d)
	}
	client(d, f.Health)
	for _, source := range []string{result.SourceScrape, result.SourcePrometheus} {
		services(d, f.Result, source)
	}
	triton(d, s.plan, f.Probes)
	slices.SortStableFunc(d.Series, func(a, b Series) int { return cmp.Compare(place(a.Group), place(b.Group)) })
}

func place(group string) int {
	return slices.Index([]string{
		groupLoad, groupInFlight, groupTokens, groupErrors, groupTTFT, groupITL, groupHeat, groupClient, groupQueue, groupCache, groupSpec,
		groupGPU, groupServer,
	}, group)
}

// binned adds what the client saw, bin by bin.
func (s *Builder) binned(d *Document) {
	b := s.bins
	edges := d.Planes.Floats(b.edges())
	step := func(name, title, unit, group string, values []float64, always bool) {
		if !always && !slices.ContainsFunc(values, func(v float64) bool { return v > 0 }) {
			return
		}
		v := d.Planes.Floats(values)
		d.Series = append(d.Series, Series{Name: name, Title: title, Unit: unit, Group: group, Kind: Step, Column: Columns{T: edges, V: &v}})
	}
	band := func(name, title, group string, of func(*bin) *spread) {
		if !slices.ContainsFunc(b.list, func(x bin) bool { return of(&x).n > 0 }) {
			return
		}
		lo, mid, hi := d.Planes.Floats(b.quantile(of, 0.5)), d.Planes.Floats(b.quantile(of, 0.9)), d.Planes.Floats(b.quantile(of, 0.99))
		d.Series = append(d.Series, Series{
			Name: name, Title: title, Unit: "ms", Group: group, Kind: Band, Labels: []string{"p50", "p90", "p99"},
			Column: Columns{T: edges, Lo: &lo, Mid: &mid, Hi: &hi},
		})
	}
	const perSecond = "requests/s"
	step("requested_rate", "Requested", perSecond, groupLoad, b.perSecond(func(x *bin) float64 { return float64(x.asked) }), false)
	step("requests_sent", "Sent", perSecond, groupLoad, b.perSecond(func(x *bin) float64 { return float64(x.sent.n) }), true)
	step("requests_ok", "Completed", perSecond, groupLoad, b.perSecond(func(x *bin) float64 { return float64(x.ok) }), true)
	due, sent, over := func(x *bin) tally { return x.due }, func(x *bin) tally { return x.sent }, func(x *bin) tally { return x.over }
	step("in_flight", "In flight", "requests", groupInFlight, b.between(sent, over), true)
	if waiting := b.between(due, sent); slices.Max(waiting) >= 0.1 {
		step("waiting", "Due, not yet sent", "requests", groupInFlight, waiting, false)
	}
	step("output_tokens", "Output tokens", "tokens/s", groupTokens, b.perSecond(func(x *bin) float64 { return float64(x.tokens) / share }), false)
	failures, kinds := "Failed requests", s.drawnKinds()
	if len(kinds) == 1 {
		failures, kinds = kinds[0].String(), nil
	}
	step("errors", failures, perSecond, groupErrors, b.perSecond(func(x *bin) float64 { return float64(x.failed) }), true)
	for _, k := range kinds {
		name := kindPrefix + strings.ReplaceAll(k.String(), " ", "_")
		step(name, k.String(), perSecond, groupErrors, b.perSecond(k.failures), true)
	}
	band("ttft", "Time to first token", groupTTFT, func(x *bin) *spread { return &x.first })
	band("itl", "Inter-token latency", groupITL, func(x *bin) *spread { return &x.gap })
	spans := func(i int, add func(time.Duration, uint64)) { b.list[i].gap.each(add) }
	d.Series = append(d.Series, HeatMap(&d.Planes, "itl_heat", "Inter-token latency", groupHeat, b.edges(), spans)...)
}

// line adds a series of points, if there are any.
func line(d *Document, s Series, t, v []float64) {
	if len(t) == 0 {
		return
	}
	values := d.Planes.Floats(v)
	s.Kind, s.Column = Line, Columns{T: d.Planes.Floats(t), V: &values}
	d.Series = append(d.Series, s)
}

// client adds what the client used of its processors, each worker by itself.
func client(d *Document, health []record.Health) {
	byWorker := map[int][]record.Health{}
	for _, h := range health {
		byWorker[h.Worker] = append(byWorker[h.Worker], h)
	}
	for _, w := range slices.Sorted(maps.Keys(byWorker)) {
		list := byWorker[w]
		// Samples are totals: what lies between any two of them is exact.
		stride := max(1, (len(list)+mostPoints-1)/mostPoints)
		var t, v []float64
		for i := stride; i < len(list); i += stride {
			a, b := list[i-stride], list[i]
			if b.Allowed > a.Allowed && b.At > a.At {
				t, v = append(t, ((a.At+b.At)/2).Seconds()), append(v, float64(b.CPU-a.CPU)/float64(b.Allowed-a.Allowed))
			}
		}
		s := Series{Name: "client_cpu", Title: "CPU used by the client", Unit: "ratio", Group: groupClient}
		if w > 0 {
			s.Title, s.Target = "CPU used by worker "+strconv.Itoa(w), "worker "+strconv.Itoa(w)
		}
		line(d, s, t, v)
	}
}

// services adds what the metrics of servers said, all stages one after the other.
func services(d *Document, r *result.Result, source string) {
	type points struct {
		name, role, unit string
		t, v             []float64
	}
	all := map[string]*points{}
	var names []string
	for i := range r.Stages {
		for _, service := range r.Stages[i].Services {
			if service.Source != source {
				continue
			}
			for _, s := range service.Series {
				key := s.Name + " " + s.Role
				p := all[key]
				if p == nil {
					p = &points{name: s.Name, role: s.Role, unit: s.Unit}
					all[key], names = p, append(names, key)
				} else if len(p.t) > 0 { // nothing is known of the time between stages
					p.t, p.v = append(p.t, p.t[len(p.t)-1]), append(p.v, math.NaN())
				}
				for _, at := range s.Points {
					p.t, p.v = append(p.t, at[0]), append(p.v, at[1])
				}
			}
		}
	}
	for _, key := range names {
		p := all[key]
		name := p.name
		if groupOf(name) != groupQueue && !slices.ContainsFunc(p.v, func(v float64) bool { return v != 0 && !math.IsNaN(v) }) {
			continue // it never happened: the figures say so
		}
		t, v := thin(p.t, p.v)
		line(d, Series{Name: name, Title: titled(name), Unit: p.unit, Group: groupOf(name), Target: p.role}, t, v)
	}
}

// thin takes the mean of neighbours where there are too many points.
func thin(t, v []float64) (at, mean []float64) {
	stride := (len(t) + mostPoints - 1) / mostPoints
	if stride <= 1 {
		return t, v
	}
	for i := 0; i < len(t); i += stride {
		var sum, n float64
		end := min(i+stride, len(t))
		for _, x := range v[i:end] {
			if !math.IsNaN(x) {
				sum, n = sum+x, n+1
			}
		}
		at, mean = append(at, t[(i+end-1)/2]), append(mean, sum/n)
	}
	return at, mean
}

// triton adds the GPUs that servers told of themselves.
func triton(d *Document, p *plan.Plan, probes []record.Probe) {
	type key struct {
		target int
		uuid   string
	}
	type points struct{ t, busy, power, memory []float64 }
	all := map[key]*points{}
	var keys []key
	for _, look := range probes {
		for target, one := range look.Targets {
			if one.Server == nil {
				continue
			}
			for _, g := range one.Server.GPUs {
				k := key{target, g.UUID}
				if all[k] == nil {
					all[k], keys = new(points), append(keys, k)
				}
				q := all[k]
				q.t, q.busy = append(q.t, look.At.Seconds()), append(q.busy, g.Utilization)
				q.power, q.memory = append(q.power, g.Power), append(q.memory, g.MemoryUsed)
			}
		}
	}
	for _, k := range keys {
		q := all[k]
		s := Series{Group: groupGPU, Target: k.uuid}
		if len(p.Target.URLs) > 1 && k.target < len(p.Target.URLs) {
			s.Target = plan.SafeURL(p.Target.URLs[k.target]) + " " + k.uuid
		}
		for _, one := range []struct {
			name, unit string
			v          []float64
		}{{"gpu_utilization", "ratio", q.busy}, {"gpu_power", "W", q.power}, {"gpu_memory_used", "bytes", q.memory}} {
			if !slices.ContainsFunc(one.v, func(v float64) bool { return v > 0 }) {
				continue
			}
			s.Name, s.Title, s.Unit = one.name, titled(one.name), one.unit
			t, v := thin(q.t, one.v)
			line(d, s, t, v)
		}
	}
}

func groupOf(name string) string {
	switch {
	case strings.HasPrefix(name, "gpu_"):
		return groupGPU
	case strings.Contains(name, "queue_length") || strings.Contains(name, "running"):
		return groupQueue
	case strings.Contains(name, "cache"):
		return groupCache
	case strings.HasPrefix(name, "spec_decode"):
		return groupSpec
	}
	return groupServer
}

func titled(name string) string { return cmp.Or(titles()[name], words(name)) }

// titles are the words for metrics of servers that their names do not say well.
func titles() map[string]string {
	return map[string]string{
		"queue_length": "Waiting in the server", "num_requests_running": "Running in the server",
		"kv_cache_usage": "KV cache in use", "num_preemptions_total": "Preemptions", "prefix_cache_hit_ratio": "Prompt tokens found in the prefix cache",
		"spec_decode_acceptance_rate": "Draft tokens accepted", "spec_decode_acceptance_length": "Tokens per verified step",
		"gpu_utilization": "GPU utilization", "gpu_power": "GPU power", "gpu_memory_used": "GPU memory used", "gpu_memory_free": "GPU memory free",
		"gpu_memory_total": "GPU memory", "gpu_energy": "GPU energy", "gpu_temperature": "GPU temperature",
	}
}

// words are a name with its first letter large and spaces in it.
func words(name string) string {
	text := strings.ReplaceAll(name, "_", " ")
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
