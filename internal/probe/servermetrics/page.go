package servermetrics

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/promtext"
	"github.com/inferometer/inferometer/internal/record"
)

// cell is one metric of one GPU, or of no GPU in particular; of the workers of a role, or of all.
type cell struct{ own, gpu, role string }

// The roles of workers that share the work on a request.
const (
	Prefill = "prefill"
	Decode  = "decode"
)

// roleOf is the role that the labels of a sample tell; empty: they tell none.
func (p *page) roleOf(labels string) string {
	said := strings.ToLower(p.labels.Label(labels, "engine_type", "dynamo_component", "disaggregation_mode", "worker_type", "role"))
	for _, role := range []string{Prefill, Decode} {
		if strings.Contains(said, role) {
			return role
		}
	}
	return ""
}

// index finds the samples of a page by their names.
type index map[string][]*record.Sample

func indexOf(samples []record.Sample) index {
	x := index{}
	for i := range samples {
		x[samples[i].Name] = append(x[samples[i].Name], &samples[i])
	}
	return x
}

// samples are a metric's samples, a counter's with and without the suffix of newer servers.
func (x index) samples(m *Metric, suffix string) []*record.Sample {
	name, label := m.splitName()
	found := x[name+suffix]
	if m.Kind == record.FigureCounter {
		found = x[name+"_total"]
		if len(found) == 0 {
			found = x[name]
		}
	}
	if label == "" {
		return found
	}
	return having(found, label)
}

func having(samples []*record.Sample, label string) []*record.Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(s *record.Sample) bool { return !promtext.Has(s.Labels, label) })
}

type page struct {
	metrics []Metric
	label   string // by which models are told apart
	model   string
	labels  *promtext.Reader
}

// read finds out whose page it is: whatever server it is of, the GPU exporter's metrics
// may be on it too. prefer decides where it has the names of several.
func read(samples []record.Sample, prefer, model string) page {
	x := indexOf(samples)
	order := servers()
	if i := slices.Index(order, prefer); i > 0 {
		order = append([]string{prefer}, slices.Delete(order, i, i+1)...)
	}
	p := page{model: model, labels: promtext.NewReader()}
	for _, server := range order {
		if all := Metrics(server); x.any(all) {
			p.metrics, p.label = all, ModelLabel(server)
			break
		}
	}
	p.metrics = append(p.metrics, slices.Concat(Metrics(DCGM), Metrics(amd))...)
	return p
}

func (x index) any(all []Metric) bool {
	for i := range all {
		m := &all[i]
		if len(x.samples(m, "")) > 0 || m.Kind == record.FigureHistogram && len(x.samples(m, "_count")) > 0 {
			return true
		}
	}
	return false
}

// ours are the samples of the model under test, where the server has any of that one; else all.
func (p *page) ours(samples []*record.Sample) []*record.Sample {
	if p.label == "" || p.model == "" {
		return samples
	}
	if found := having(samples, promtext.Pair(p.label, p.model)); len(found) > 0 {
		return found
	}
	return samples
}

// values are a page's gauges and counters, and the sums and counts of its histograms:
// those of all models together, in the units of this package.
func (p *page) values(samples []record.Sample) map[cell]float64 {
	x := indexOf(samples)
	out := map[cell]float64{}
	done := map[string]bool{}
	for i := range p.metrics {
		m := &p.metrics[i]
		if m.Kind == record.FigureHistogram || done[m.Own] {
			continue
		}
		done[m.Own] = true // a metric may be known under two names
		n := map[cell]float64{}
		for _, s := range p.ours(x.samples(m, "")) {
			c := cell{own: m.Own}
			if m.PerGPU {
				c.gpu = cmp.Or(p.labels.Label(s.Labels, "UUID", "gpu_uuid", "gpu", amdLabel), "0")
			} else if c.role = p.roleOf(s.Labels); c.role != "" {
				out[c] += s.Value * m.scale()
				n[c]++
				c.role = ""
			}
			out[c] += s.Value * m.scale()
			n[c]++
		}
		if m.Mean {
			for c, k := range n {
				out[c] /= k
			}
		}
	}
	return out
}

func (m *Metric) scale() float64 { return cmp.Or(m.Scale, 1) }

// buckets are a histogram: how many values are at most as large as each bound.
type buckets struct {
	bounds map[float64]float64
	sum    float64
	count  float64
	there  bool
}

// histogram adds up the series of a histogram on a page.
func (p *page) histogram(m *Metric, x index) buckets {
	b := buckets{bounds: map[float64]float64{}}
	for _, s := range p.ours(x.samples(m, "_bucket")) {
		bound, err := strconv.ParseFloat(p.labels.Label(s.Labels, "le"), 64)
		if err == nil {
			b.bounds[bound*m.scale()] += s.Value
		}
	}
	for _, s := range p.ours(x.samples(m, "_sum")) {
		b.sum += s.Value * m.scale()
	}
	for _, s := range p.ours(x.samples(m, "_count")) {
		b.count += s.Value
		b.there = true
	}
	return b
}

// since is what was added to a histogram. One with fewer values than before began anew: all of it.
func (b buckets) since(before buckets) buckets {
	if b.count < before.count {
		return b
	}
	d := buckets{bounds: map[float64]float64{}, sum: b.sum - before.sum, count: b.count - before.count, there: b.there}
	for bound, n := range b.bounds {
		d.bounds[bound] = n - before.bounds[bound]
	}
	return d
}

func (b *buckets) add(more buckets) {
	if b.bounds == nil {
		b.bounds = map[float64]float64{}
	}
	for bound, n := range more.bounds {
		b.bounds[bound] += n
	}
	b.sum += more.sum
	b.count += more.count
	b.there = b.there || more.there
}

// quantile is the bucket that a quantile lies in; false: nothing was counted.
func (b *buckets) quantile(q float64) (in record.Bucket, ok bool) {
	bounds := slices.Sorted(maps.Keys(b.bounds))
	if len(bounds) < 2 || !math.IsInf(bounds[len(bounds)-1], 1) {
		return in, false
	}
	total := b.bounds[bounds[len(bounds)-1]]
	if total <= 0 {
		return in, false
	}
	rank := q * total
	i := 0
	for i < len(bounds)-1 && b.bounds[bounds[i]] < rank {
		i++
	}
	if i > 0 {
		in.Above = bounds[i-1]
	}
	if i == len(bounds)-1 {
		in.Evenly = in.Above
		return in, true
	}
	in.UpTo, in.Evenly = &bounds[i], b.within(bounds, i, rank)
	in.Above = min(in.Above, bounds[i]) // where even the first bound is below 0
	return in, true
}

// quantiles are the buckets of those that a figure has; nil means nothing was counted.
func (b *buckets) quantiles() *record.QuantileBounds {
	var w record.QuantileBounds
	var ok bool
	for q, to := range map[float64]*record.Bucket{0.5: &w.Median, 0.9: &w.P90, 0.99: &w.P99} {
		if *to, ok = b.quantile(q); !ok {
			return nil
		}
	}
	return &w
}

// within is where a rank lies in the i-th bucket.
func (b *buckets) within(bounds []float64, i int, rank float64) float64 {
	end, start, before := bounds[i], 0.0, 0.0
	if i == 0 && end <= 0 {
		return end
	}
	if i > 0 {
		start, before = bounds[i-1], b.bounds[bounds[i-1]]
	}
	inside := b.bounds[end] - before
	if inside <= 0 {
		return end
	}
	return start + (end-start)*(rank-before)/inside
}
