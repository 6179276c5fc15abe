package live

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/inferometer/inferometer/internal/draw"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/stat"
)

// document is what the page shows of a run that goes on: curves and figures come from the
// live histograms, within 0.4 % of the exact ones, and there are no single requests.
func document(p *run.Progress, h *History, version string) *draw.Document {
	d := &draw.Document{Version: draw.Version, Live: true, Stages: []draw.Stage{}, Series: []draw.Series{}}
	d.Show(soFar(p, version))
	if h == nil { // no run has begun
		return d
	}
	for i := range p.Spans {
		d.Stages = append(d.Stages, stage(p, i))
	}
	if bins := h.Bins(); len(bins) > 0 {
		d.Bin = h.width.Seconds()
		d.Series = series(&d.Planes, bins, p.Stages)
	}
	return d
}

// message is a document as it is sent to a page.
func message(d *draw.Document) ([]byte, error) {
	planes, err := d.Planes.Text()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(struct {
		Document *draw.Document `json:"document"`
		Planes   string         `json:"planes"`
	}{d, planes})
	if err != nil {
		return nil, fmt.Errorf("encode the live page's document: %w", err)
	}
	return text, nil
}

// stage is what is drawn of the i-th stage.
func stage(p *run.Progress, i int) draw.Stage {
	span := p.Spans[i]
	end := min(span.End, p.At)
	part := p.Live.Part(i, record.Measured)
	s := draw.Stage{
		Begin: min(span.Begin, end).Seconds(), End: end.Seconds(), Load: loadOf(&p.Stages[i]),
		Curves: map[string]draw.Sides[draw.Curve]{}, Histograms: map[string]draw.Sides[*draw.Histogram]{},
	}
	if from := min(span.From, end); from > span.Begin {
		s.Warmup = &[2]float64{s.Begin, from.Seconds()}
	}
	if span.To < end {
		s.Drain = &[2]float64{span.To.Seconds(), s.End}
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
		curves, counts := draw.Sides[draw.Curve]{Sent: curve(m.sent)}, draw.Sides[*draw.Histogram]{Sent: counted(m.sent)}
		if m.due != nil {
			curves.Due, counts.Due = curve(m.due), counted(m.due)
		}
		s.Curves[m.name], s.Histograms[m.name] = curves, counts
	}
	return s
}

// loadOf is a load that is one number.
func loadOf(s *plan.Stage) *draw.Load {
	switch {
	case s.RampTo != 0:
		return nil
	case s.Rate > 0:
		return &draw.Load{Kind: "rate", Value: s.Rate}
	case s.Concurrency > 0:
		return &draw.Load{Kind: "concurrency", Value: float64(s.Concurrency)}
	}
	return nil
}

// curve are the quantiles that a histogram has to offer: one for each bucket.
func curve(h *stat.Histogram) draw.Curve {
	var out draw.Curve
	n, below := float64(h.Count()), 0.0
	h.Buckets(func(low, high int64, count uint64) bool {
		ms := millis(low + (high-low)/2)
		if below == 0 {
			out = append(out, [2]float64{0, ms})
		}
		below += float64(count)
		out = append(out, [2]float64{below / n, ms})
		return true
	})
	return thinned(out)
}

// mostPoints is how many points of a curve are sent.
const mostPoints = 120

// thinned leaves points out of the middle of a long curve, and none near its end, where each
// stands for few samples.
func thinned(c draw.Curve) draw.Curve {
	if len(c) <= mostPoints {
		return c
	}
	every := (len(c) + mostPoints - 1) / mostPoints * 2
	out := c[:0]
	for i, point := range c {
		if i%every == 0 || i >= len(c)-mostPoints/2 {
			out = append(out, point)
		}
	}
	return out
}

// counted is a histogram in bins of an eighth of a power of two.
func counted(h *stat.Histogram) *draw.Histogram {
	const fraction = 8
	var n []int64
	first := 0
	h.Buckets(func(low, high int64, count uint64) bool {
		at := int(math.Floor(math.Log2(max(millis(low+(high-low)/2), 1e-6)) * fraction))
		if n == nil {
			first = at
		}
		for first+len(n) <= at {
			n = append(n, 0)
		}
		n[at-first] += int64(count)
		return true
	})
	out := &draw.Histogram{Counts: n}
	for i := range len(n) + 1 {
		out.Edges = append(out.Edges, math.Exp2(float64(first+i)/fraction))
	}
	return out
}

func millis(ns int64) float64 { return float64(ns) / float64(time.Millisecond) }
