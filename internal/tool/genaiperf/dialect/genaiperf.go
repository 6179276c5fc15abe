// Package dialect holds the metrics of NVIDIA's GenAI-Perf, as each of its releases
// defines them, over records.
//
// An answer comes in responses: of OpenAI's protocol, what one HTTP chunk completed, or one
// network read of an answer that does not come in chunks; of Triton's, each message. Responses without text are no
// tokens: of OpenAI's protocol they are left out, of Triton's they count as the end of the answer. With t₀ … tₖ
// the moments of the responses that are left, T that of sending and n the tokens of the whole text:
//
//	time to first token   t₀ − T
//	time to second token  t₁ − t₀
//	request latency       tₖ − T
//	inter-token latency   (tₖ − t₀) ÷ (n − 1), rounded: one value a request; in 24.03
//	                      and 24.04 (tᵢ − tᵢ₋₁) ÷ nᵢ, rounded: one value a response
//
// Where the original goes wrong, so does this package only when it is asked to be
// faithful; docs/differences.md lists the places.
package dialect

import (
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Release is the last release of those that define and print the same.
type Release string

// The releases.
const (
	Release2403 Release = "24.03"
	Release2404 Release = "24.04"
	Release2406 Release = "24.06" // and 24.05
	Release2408 Release = "24.08" // and 24.07
	Release2412 Release = "24.12" // from 24.09
	Release2503 Release = "25.03" // from 25.01
	Release2505 Release = "25.05" // and 25.04
	Latest      Release = "latest"
)

// Early reports whether times are printed in nanoseconds, and tokens are "Num output
// token".
func (r Release) Early() bool { return r.old() || r == Release2406 }

// old reports whether inter-token latency is one value a response.
func (r Release) old() bool { return r == Release2403 || r == Release2404 }

// Has reports whether a release knows a metric.
func (r Release) Has(metric string) bool {
	switch before := r.Early() || r == Release2408 || r == Release2412; metric {
	case TimeToSecondToken, RequestCount:
		return !before
	case OutputThroughputRequest:
		return !r.old() && (before || r == Release2503)
	case OutputThroughputUser:
		return r == Release2505 || r == Latest
	default:
		return true
	}
}

// Percentiles are those that a release's files have, in order.
func (r Release) Percentiles() []int {
	if r == Latest {
		return Percentiles()
	}
	return Percentiles()[3:]
}

// Task says what is measured.
type Task uint8

// The kinds: responses with tokens, those whose arrival alone counts, and of these those of images.
const (
	LLM Task = iota
	Plain
	Images
)

// The names of the metrics.
const (
	RequestThroughput    = "request_throughput"
	RequestLatency       = "request_latency"
	RequestCount         = "request_count"
	RequestGoodput       = "request_goodput"
	TimeToFirstToken     = "time_to_first_token"
	TimeToSecondToken    = "time_to_second_token"
	InterTokenLatency    = "inter_token_latency"
	OutputThroughput     = "output_token_throughput"
	OutputThroughputUser = "output_token_throughput_per_user"
	// OutputThroughputRequest is in the JSON of releases before 25.04; as a goodput objective in
	// all.
	OutputThroughputRequest = "output_token_throughput_per_request"
	OutputSequenceLength    = "output_sequence_length"
	InputSequenceLength     = "input_sequence_length"
	ImageThroughput         = "image_throughput"
	ImageLatency            = "image_latency"
)

const (
	nanosecondsPerSecond = 1e9
	nanosecondsPerMilli  = 1e6
	triton               = "triton"
)

// Bound is a good request's: of a time, at most Value ms; of a throughput, at least Value per
// second.
type Bound struct {
	Metric string
	Value  float64
}

// throughput reports whether more is better.
func (o Bound) throughput() bool {
	return o.Metric == OutputThroughputUser || o.Metric == OutputThroughputRequest || o.Metric == ImageThroughput
}

// Options say how records are to be seen.
type Options struct {
	Release  Release
	Kind     Task
	Protocol string // "openai" or "triton"
	Faithful bool
	Goodput  []Bound
	// Empty: a response in one piece may have no text, as those of huggingface_generate.
	Empty bool
	// Count is the number of tokens in a text. Pieces is how many of them belong to
	// each piece of it, the pieces ending at the cuts; nil means each piece is counted by
	// itself.
	Count  func(text string) int
	Pieces func(text string, cuts []int) []int
	// Input is the length of a request's prompt in tokens; false: not known.
	Input func(rec *record.Record) (int, bool)
	// Prompt is what a request asked, which responses may begin with, as no output; nil: none does.
	Prompt func(rec *record.Record) string
	// Visible is what a chat said in an answer in one piece, without reasoning and tool
	// calls; false: not known. Only the faithful ask; nil means all of its text.
	Visible func(rec *record.Record) (string, bool)
	// Gap is told the time between two responses, by the tokens of the later one, and
	// the place of its first token in the answer; optional.
	Gap func(position int, ns float64)
	// Each is told the values of every request that has any; optional.
	Each func(values map[string]float64)
	// Pictures is how many images a request holds, of the kind Images.
	Pictures func(rec *record.Record) int
}

// Fold takes records and gives their summary. It belongs to one goroutine.
type Fold struct {
	opt    Options
	series map[string][]float64
	good   int
	seen   int // requests that succeeded
	empty  int // those of them without any text
	first  int64
	last   int64

	failures map[record.Class]*record.FailureCount
	parts    []response
	handed   []time.Duration // when the bytes of each mark were there
	text     []byte
	cuts     []int
}

// NewFold makes an empty fold.
func NewFold(o Options) *Fold {
	return &Fold{opt: o, series: map[string][]float64{}, failures: map[record.Class]*record.FailureCount{}}
}

func (f *Fold) put(name string, v float64) { f.series[name] = append(f.series[name], v) }

func (f *Fold) putAll(values map[string]float64) {
	for name, v := range values {
		f.put(name, v)
	}
}

// Add takes a decoded record. Failed requests are counted and measured by nothing;
// those that were broken off at the end of the run are not failures.
func (f *Fold) Add(rec *record.Record) {
	if rec.Failure != nil {
		f.fail(rec.Failure)
		return
	}
	if f.opt.Kind != LLM {
		f.addPlain(rec)
		return
	}
	f.seen++
	f.split(rec)
	if len(f.parts) == 0 {
		f.empty++
		return
	}
	f.measure(rec)
}

func (f *Fold) fail(failure *record.Failure) {
	if failure.Class.EndedHere() {
		return
	}
	known := f.failures[failure.Class]
	if known == nil {
		known = &record.FailureCount{Class: failure.Class, Example: failure.Message}
		f.failures[failure.Class] = known
	}
	known.Count++
}

// addPlain takes a record of which only the end counts.
func (f *Fold) addPlain(rec *record.Record) {
	f.seen++
	end := int64(rec.End)
	if n := len(rec.Marks); n > 0 {
		end = int64(rec.Marks[n-1].Time())
	}
	f.span(int64(rec.Sent), end)
	latency := float64(end - int64(rec.Sent))
	values := map[string]float64{RequestLatency: latency}
	if f.opt.Kind == Images {
		if n := float64(f.opt.Pictures(rec)); n > 0 {
			values[ImageThroughput], values[ImageLatency] = n/(latency/nanosecondsPerSecond), latency/n
		}
	}
	f.putAll(values)
	f.judge(values)
}

// span widens the time of the whole run.
func (f *Fold) span(sent, end int64) {
	if len(f.series[RequestLatency]) == 0 {
		f.first, f.last = sent, end
		return
	}
	f.first, f.last = min(f.first, sent), max(f.last, end)
}

// measure takes the times and lengths of an answer whose responses are known.
func (f *Fold) measure(rec *record.Record) {
	sent := int64(rec.Sent)
	begin, end := f.parts[0].at, f.parts[len(f.parts)-1].at
	tokens, pieces := f.count()
	f.span(sent, end)
	values := map[string]float64{
		RequestLatency:       float64(end - sent),
		TimeToFirstToken:     float64(begin - sent),
		OutputSequenceLength: float64(tokens),
	}
	if end > sent && (f.opt.Each != nil || f.opt.Release.Has(OutputThroughputRequest) ||
		slices.ContainsFunc(f.opt.Goodput, func(o Bound) bool { return o.Metric == OutputThroughputRequest })) {
		values[OutputThroughputRequest] = float64(tokens) / (float64(end-sent) / nanosecondsPerSecond)
	}
	if n, ok := f.opt.Input(rec); ok {
		values[InputSequenceLength] = float64(n)
	}
	if second, ok := f.second(); ok {
		values[TimeToSecondToken] = float64(second - begin)
	}
	if f.opt.Release.old() {
		f.gaps(pieces)
	} else {
		f.pace(values, end-begin, tokens)
	}
	f.putAll(values)
	if f.opt.Gap != nil {
		f.tellGaps()
	}
	if f.opt.Release.old() { // objectives came later, and are about requests
		f.pace(values, end-begin, tokens)
	}
	f.judge(values)
}

// pace is how fast the tokens of a request came, where it has several.
func (f *Fold) pace(values map[string]float64, took int64, tokens int) {
	if len(f.parts) < 2 || tokens < 2 {
		return
	}
	itl := math.RoundToEven(float64(took) / float64(tokens-1))
	values[InterTokenLatency] = itl
	if itl > 0 {
		values[OutputThroughputUser] = 1 / (itl / nanosecondsPerSecond)
	}
}

// tellGaps tells of the times between responses.
func (f *Fold) tellGaps() {
	position, start := 0, 0
	for i, p := range f.parts {
		n := max(f.piece(string(f.text[start:start+p.size])), 1)
		if i > 0 && p.size > 0 {
			f.opt.Gap(position, float64(p.at-f.parts[i-1].at)/float64(n))
		}
		start += p.size
		position += n
	}
}

// second is when the second response came. The original takes one without text, as Triton's last
// is.
func (f *Fold) second() (at int64, ok bool) {
	if len(f.parts) < 2 || !f.opt.Faithful && f.parts[1].size == 0 {
		return 0, false
	}
	return f.parts[1].at, true
}

// gaps takes one inter-token latency for each response but the first.
func (f *Fold) gaps(pieces []int) {
	for i := 1; i < len(f.parts); i++ {
		n := max(pieces[i], 1) // a response without a token counts as one
		gap := float64(f.parts[i].at - f.parts[i-1].at)
		f.put(InterTokenLatency, math.RoundToEven(gap/float64(n)))
	}
}

// judge tells of a request's values, and counts it where it keeps to every objective. What
// it does not have, such as a second token, it cannot miss.
func (f *Fold) judge(values map[string]float64) {
	if f.opt.Each != nil {
		f.opt.Each(values)
	}
	for _, o := range f.opt.Goodput {
		v, ok := values[o.Metric]
		switch {
		case !ok:
		case o.throughput() && v < o.Value:
			return
		case !o.throughput() && v > o.Value*nanosecondsPerMilli:
			return
		}
	}
	f.good++
}
