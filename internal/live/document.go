package live

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/stat"
)

// document is what the page shows of a run that goes on: curves and figures come from the
// live histograms, within 0.4 % of the exact ones, and there are no single requests.
func document(p *run.Progress, h *History, version string) *pagedata.Document {
	d := &pagedata.Document{Version: pagedata.Version, Live: true, Stages: []pagedata.StageData{}, Series: []pagedata.Series{}}
	d.Show(soFar(p, version))
	d.Underway = underway(p)
	if h == nil { // no run has begun
		return d
	}
	for i := range p.Times {
		d.Stages = append(d.Stages, stage(p, i))
	}
	if bins := h.Bins(); len(bins) > 0 {
		d.Bin = h.width.Seconds()
		d.Series = series(&d.Planes, bins, p.Stages)
	}
	return d
}

// message is a document as it is sent to a page.
func message(d *pagedata.Document) ([]byte, error) {
	planes, err := d.Planes.Text()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(struct {
		Document *pagedata.Document `json:"document"`
		Planes   string             `json:"planes"`
	}{d, planes})
	if err != nil {
		return nil, fmt.Errorf("encode the live page's document: %w", err)
	}
	return text, nil
}

func stage(p *run.Progress, i int) pagedata.StageData {
	span := p.Times[i]
	end := min(span.DrainEnd, p.At)
	part, d := p.Live.Part(i, record.Measured), coarse
	if i == p.Stage {
		d = fine
	}
	s := pagedata.StageData{
		Begin: min(span.Begin, end).Seconds(), End: end.Seconds(), Load: loadOf(&p.Stages[i]),
		Curves: map[string]pagedata.Sides[pagedata.Curve]{}, Histograms: map[string]pagedata.Sides[*pagedata.Histogram]{},
	}
	if from := min(span.WarmupEnd, end); from > span.Begin {
		s.Warmup = &[2]float64{s.Begin, from.Seconds()}
	}
	if span.SendEnd < end {
		s.Drain = &[2]float64{span.SendEnd.Seconds(), s.End}
	}
	for _, m := range []struct {
		name      string
		sent, due *stat.Histogram
	}{
		{"time_to_first_token", &part.TTFT, &part.TTFTFromDue},
		{"inter_token_latency", &part.ITL, nil},
		{"request_latency", &part.Latency, &part.LatencyFromDue},
	} {
		if m.sent.Count() == 0 {
			continue
		}
		curves, counts := pagedata.Sides[pagedata.Curve]{Sent: d.curve(m.sent)}, pagedata.Sides[*pagedata.Histogram]{Sent: d.counts(m.sent)}
		if m.due != nil {
			curves.Due, counts.Due = d.curve(m.due), d.counts(m.due)
		}
		s.Curves[m.name], s.Histograms[m.name] = curves, counts
	}
	return s
}

func loadOf(s *plan.Stage) *pagedata.SingleLoad {
	switch {
	case s.RampTo != 0:
		return nil
	case s.Rate > 0:
		return &pagedata.SingleLoad{Kind: "rate", Value: s.Rate}
	case s.Concurrency > 0:
		return &pagedata.SingleLoad{Kind: "concurrency", Value: float64(s.Concurrency)}
	}
	return nil
}

// detail is how finely a stage is drawn.
type detail struct{ points, bins int }

// The current stage is drawn in detail, the others so that many fit into an event.
var (
	fine   = detail{points: 120, bins: 60}
	coarse = detail{points: 40, bins: 30}
)

// curve are the quantiles that a histogram has to offer: one for each bucket, or fewer, but all
// near the end, where each stands for few samples.
func (d detail) curve(h *stat.Histogram) pagedata.Curve {
	var all pagedata.Curve
	n, below := float64(h.Count()), 0.0
	h.Buckets(func(low, high int64, count uint64) bool {
		ms := rounded(millis(low + (high-low)/2))
		if below == 0 {
			all = append(all, [2]float64{0, ms})
		}
		below += float64(count)
		all = append(all, [2]float64{rounded(below / n), ms})
		return true
	})
	every := (2*len(all) + d.points - 1) / d.points
	if every <= 2 {
		return all
	}
	out := all[:0]
	for i, point := range all {
		if i%every == 0 || i >= len(all)-d.points/2 {
			out = append(out, point)
		}
	}
	return out
}

// counts is a histogram in bins that are the same part of a power of two.
func (d detail) counts(h *stat.Histogram) *pagedata.Histogram {
	least, _ := h.Quantile(0)
	most, _ := h.Quantile(1)
	octave := func(ns int64) float64 { return math.Log2(max(millis(ns), 1e-6)) }
	parts := 32.0
	for parts > 1 && (octave(most)-octave(least))*parts > float64(d.bins) {
		parts /= 2
	}
	first, last := int(math.Floor(octave(least)*parts)), int(math.Floor(octave(most)*parts))
	out := &pagedata.Histogram{Counts: make([]int64, last-first+1)}
	h.Buckets(func(low, high int64, count uint64) bool {
		at := int(math.Floor(octave(low+(high-low)/2)*parts)) - first
		out.Counts[min(max(at, 0), last-first)] += int64(count)
		return true
	})
	for i := range last - first + 2 {
		out.Edges = append(out.Edges, rounded(math.Exp2(float64(first+i)/parts)))
	}
	return out
}

// rounded is a number to six digits, which takes less room.
func rounded(v float64) float64 {
	if v == 0 || v == 1 {
		return v
	}
	unit := math.Pow(10, 5-math.Floor(math.Log10(v)))
	return math.Round(v*unit) / unit
}

func millis(ns int64) float64 { return float64(ns) / float64(time.Millisecond) }
