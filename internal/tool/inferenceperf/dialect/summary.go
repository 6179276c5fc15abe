package dialect

import (
	"fmt"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/stat"
)

// Dist is the distribution of one quantity, in seconds where it is a time.
type Dist struct {
	N              int64
	Mean, Min, Max float64
	Std            float64   // of the population
	Ranks          []float64 // of the percentiles, from 0 to 100
	Percentiles    []float64
}

// Prompts are the tokens of prompts.
type Prompts struct {
	Total, Cached int64
	Each          *Dist
}

// Goodput is how many requests kept to the objectives.
type Goodput struct {
	Good, Total int64
	Tokens      int64 // of the good ones
	Seconds     float64
	Attainment  []Attainment // in the order of the names above
}

// Attainment is the share of requests that kept to one objective.
type Attainment struct {
	Name            string
	Applicable, Met int64
}

// Summary is what the requests of a scope come to. A nil Dist has no samples.
type Summary struct {
	Seconds      float64 // from the first request's start to the last one's end
	Count        int64
	Delay        *Dist
	SendDuration float64 // from the first request's start to the last one's

	OK                              int64
	Latency, NTPOT, TPOT, TTFT, ITL *Dist
	NTPOTOfTokens                   *Dist // NTPOT of the responses that have tokens
	Out                             int64 // tokens of their responses
	Images, Videos, Audios          int64
	Size                            *Dist
	Image, Video, Audio             Media
	Prompt                          Prompts
	Client                          *Dist // tokens of responses in this program's count
	ServerTotal                     int64
	Server                          *Dist    // the same in the server's count
	Mismatches                      int64    // answers of which the two counts differ
	ClientIn, ClientOut             int64    // successes that the server did not count
	Goodput                         *Goodput // nil means nothing is asked for

	Failed        int64
	FailedLatency *Dist
	FailedPrompt  Prompts
	Failures      []Failure

	Retries Retries
}

// Retries are requests that no server answered at first.
type Retries struct {
	Requests, Attempts int64 // requests that went again, and how often
	Recovered          int64 // those of them that were answered
	Wasted             float64
	Each               *Dist // seconds that each lost
}

// Media describes the pictures, videos or sounds of prompts.
type Media struct {
	Count, Pixels, Bytes, Aspect, Frames, Seconds *Dist
}

// Summary works out what the requests of a scope come to.
func (f *Fold) Summary(scope Scope) (*Summary, error) { return f.SummaryAt(scope, f.opt.Percentiles) }

// SummaryAt is Summary with other percentiles.
func (f *Fold) SummaryAt(scope Scope, percentiles []float64) (*Summary, error) {
	buckets := f.in(scope)
	s := new(Summary)
	var okStart, okEnd time.Duration
	var start, lastStart, end time.Duration
	for i, b := range buckets {
		if i == 0 {
			start, lastStart, end = b.firstStart, b.lastStart, b.lastEnd
		}
		start, lastStart, end = min(start, b.firstStart), max(lastStart, b.lastStart), max(end, b.lastEnd)
		if b.sum.OK > 0 {
			if s.OK == 0 {
				okStart, okEnd = b.okStart, b.okEnd
			}
			okStart, okEnd = min(okStart, b.okStart), max(okEnd, b.okEnd)
		}
		s.add(&b.sum)
		s.Retries.Wasted += b.wasted.Seconds()
	}
	s.Seconds, s.SendDuration = (end - start).Seconds(), (lastStart - start).Seconds()
	s.Failures = merged(buckets, f.opt.MaxMessages)
	if f.opt.Goodput != nil {
		s.Goodput = f.goodput(s, buckets, (okEnd - okStart).Seconds())
	}
	err := s.distributions(buckets, percentiles)
	if !f.opt.Faithful { // they are all that there are
		s.NTPOTOfTokens = s.NTPOT
	}
	return s, err
}

func (s *Summary) add(o *Summary) {
	s.Count += o.Count
	s.OK += o.OK
	s.Out += o.Out
	s.Images, s.Videos, s.Audios = s.Images+o.Images, s.Videos+o.Videos, s.Audios+o.Audios
	s.Prompt.Total += o.Prompt.Total
	s.Prompt.Cached += o.Prompt.Cached
	s.ServerTotal += o.ServerTotal
	s.Mismatches += o.Mismatches
	s.ClientIn += o.ClientIn
	s.ClientOut += o.ClientOut
	s.Failed += o.Failed
	s.FailedPrompt.Total += o.FailedPrompt.Total
	s.FailedPrompt.Cached += o.FailedPrompt.Cached
	s.Retries.Requests += o.Retries.Requests
	s.Retries.Attempts += o.Retries.Attempts
	s.Retries.Recovered += o.Retries.Recovered
}

// goodput counts good requests among all; the original leaves failures out. It has none where
// nothing succeeded, nor here where all objectives are in headers and about streams that were not
// there.
func (f *Fold) goodput(s *Summary, buckets []*bucket, okSeconds float64) *Goodput {
	g := &Goodput{Total: s.Count, Seconds: s.Seconds}
	if f.opt.Faithful {
		if s.OK == 0 {
			return nil
		}
		g.Total, g.Seconds = s.OK, okSeconds
	}
	for _, name := range []string{TTFT, TPOT, ITL, NTPOT, RequestLatency} {
		if _, ok := f.opt.Goodput[name]; !ok {
			continue
		}
		a := Attainment{Name: name}
		for _, b := range buckets {
			a.Applicable += b.applicable[name]
			a.Met += b.met[name]
		}
		g.Attainment = append(g.Attainment, a)
	}
	if len(f.opt.Headers) > 0 && f.opt.Constraints == nil && !slices.ContainsFunc(g.Attainment,
		func(a Attainment) bool { return a.Applicable > 0 }) {
		return nil
	}
	for _, b := range buckets {
		g.Good += b.good
		g.Tokens += b.goodTokens
	}
	return g
}

func (s *Summary) distributions(buckets []*bucket, percentiles []float64) error {
	for _, d := range []struct {
		to   **Dist
		from quantity
	}{
		{&s.Delay, delayColumn}, {&s.Latency, latencyColumn}, {&s.NTPOT, ntpotColumn}, {&s.NTPOTOfTokens, ntpotOfTokens}, {&s.TPOT, tpotColumn},
		{&s.TTFT, ttftColumn}, {&s.ITL, itlColumn}, {&s.Size, sizeColumn}, {&s.Prompt.Each, promptColumn},
		{&s.Client, clientColumn}, {&s.Server, serverColumn},
		{&s.FailedLatency, failedLatencyColumn}, {&s.FailedPrompt.Each, failedPromptColumn}, {&s.Retries.Each, wastedColumn},
		{&s.Image.Count, imageCount}, {&s.Image.Pixels, imagePixels}, {&s.Image.Bytes, imageBytes}, {&s.Image.Aspect, imageAspect},
		{&s.Video.Count, videoCount}, {&s.Video.Frames, videoFrames}, {&s.Video.Pixels, videoPixels}, {&s.Video.Bytes, videoBytes},
		{&s.Video.Aspect, videoAspect},
		{&s.Audio.Count, audioCount}, {&s.Audio.Seconds, audioLength}, {&s.Audio.Bytes, audioBytes},
	} {
		var cols []*stat.Column
		for _, b := range buckets {
			cols = append(cols, b.columns[d.from])
		}
		dist, err := distribution(cols, percentiles, d.from.scale())
		if err != nil {
			return err
		}
		*d.to = dist
	}
	return nil
}

func distribution(cols []*stat.Column, percentiles []float64, scale float64) (*Dist, error) {
	qs := make([]float64, len(percentiles))
	for i, p := range percentiles {
		qs[i] = p / 100
	}
	sums, err := stat.Summarize(qs, stat.Linear, cols...)
	if err != nil {
		return nil, fmt.Errorf("working out percentiles: %w", err)
	}
	sum := &sums[0]
	if sum.N == 0 {
		return nil, nil
	}
	d := &Dist{N: sum.N, Mean: sum.Mean / scale, Min: float64(sum.Min) / scale, Max: float64(sum.Max) / scale, Std: sum.Std / scale,
		Ranks: percentiles}
	for _, q := range sum.Quantiles {
		d.Percentiles = append(d.Percentiles, q/scale)
	}
	return d, nil
}
