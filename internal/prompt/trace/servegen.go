package trace

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/blocktext"
)

// Clients plays what ServeGen knows of the clients of a service: how often each sent requests in every ten minutes, how
// bursty it was, and how long its prompts and responses were. Arrivals and lengths are drawn from that.
type Clients struct {
	prompt.RestartPerStage
	data  plan.Data
	maker *blocktext.Composer
	rows  []drawn // in the order of their times
	count int     // clients
}

// drawn is a request.
type drawn struct {
	due           time.Duration
	input, output int32
}

// client is what is known of one.
type client struct {
	id      int
	windows []window
	lengths []lengths // in the order of their times
}

// window is how often a client sent requests from a moment on, and how the times between them were distributed.
type window struct {
	from, to float64 // seconds
	rate     float64
	gap      func(*rand.Rand) float64 // of mean 1; nil: it sent none
}

// lengths are those of a client's requests from a moment on.
type lengths struct {
	from          float64
	input, output distribution
}

// distribution is of a number of tokens.
type distribution struct {
	values []int32
	sums   []float64 // of the probabilities up to each
}

const (
	mostDrawn = 5_000_000 // requests of a window: they are kept in memory
	// lastWindow is how long a window is that none comes after, in seconds.
	lastWindow = 600.0
	// burnIn is how many requests of a client are drawn and left out ahead of the first, so that a burst is as likely
	// there as later.
	burnIn = 1000
)

func newServeGen(d plan.Data, tok prompt.Tokenizer, seed uint64, texts prompt.Factory) (prompt.Source, error) {
	s := &Clients{data: d}
	var err error
	if s.maker, err = blocktext.NewComposer(tok, texts, seed, false); err != nil {
		return nil, err
	}
	files, _ := filepath.Glob(filepath.Join(d.File, "chunk-*-trace.csv"))
	slices.Sort(files)
	var all []client
	for _, name := range files {
		c, err := readClient(d, name)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b client) int { return cmp.Compare(a.id, b.id) })
	s.count = len(all)
	return s, s.draw(all, seed)
}

func readClient(d plan.Data, name string) (c client, err error) {
	base := strings.TrimSuffix(name, "-trace.csv")
	number := strings.TrimPrefix(filepath.Base(base), "chunk-")
	if c.id, err = strconv.Atoi(number); err != nil {
		return c, plan.Faults{{Where: name, Text: fmt.Sprintf("%q is not the number of a client", number)}}
	}
	if c.windows, err = readWindows(d, name); err != nil {
		return c, err
	}
	data := base + "-dataset.json"
	text, err := prompt.Files(d).ReadFile(data)
	if err != nil {
		return c, plan.Faults{{Where: data, Text: err.Error(), Hint: "every chunk-N-trace.csv has its chunk-N-dataset.json beside it"}}
	}
	if c.lengths, err = parseLengths(text); err != nil {
		return c, plan.Faults{{Where: data, Text: err.Error()}}
	}
	return c, nil
}

func readWindows(d plan.Data, name string) ([]window, error) {
	f, err := prompt.Files(d).Open(name)
	if err != nil {
		return nil, plan.Faults{{Where: name, Text: err.Error()}}
	}
	defer f.Close()
	list, line, err := parseWindows(f)
	if err != nil {
		return nil, plan.Faults{{Where: fmt.Sprintf("%s:%d", name, line), Text: err.Error(), Hint: "a line is start,rate,cv,pattern,param1,param2"}}
	}
	return list, nil
}

func parseWindows(f interface{ Read([]byte) (int, error) }) (list []window, line int, err error) {
	in := bufio.NewScanner(f)
	for in.Scan() {
		line++
		if strings.TrimSpace(in.Text()) == "" {
			continue
		}
		w, err := parseWindow(strings.Split(strings.TrimSpace(in.Text()), ","))
		if err != nil {
			return nil, line, err
		}
		if n := len(list); n > 0 {
			if w.from <= list[n-1].from {
				return nil, line, errors.New("does not come after the line before")
			}
			list[n-1].to = w.from
		}
		list = append(list, w)
	}
	return list, line, in.Err()
}

func parseWindow(cells []string) (w window, err error) {
	if len(cells) != 6 {
		return w, fmt.Errorf("has %d columns, not 6", len(cells))
	}
	var numbers [6]float64
	for i, cell := range cells {
		if i == 3 {
			continue
		}
		if numbers[i], err = strconv.ParseFloat(cell, 64); err != nil || !(numbers[i] >= 0 && numbers[i] < 1e9) {
			return w, fmt.Errorf("%q is not a number that could stand there", cell)
		}
	}
	w = window{from: numbers[0], to: numbers[0] + lastWindow, rate: numbers[1]}
	shape := numbers[4]
	if cells[3] != "" && !(shape > 1e-3 && shape < 1e6) {
		return w, fmt.Errorf("%s is not the shape of a distribution", cells[4])
	}
	switch cells[3] {
	case "Gamma":
		w.gap = func(r *rand.Rand) float64 { return gamma(r, shape) / shape }
	case "Weibull":
		mean := math.Gamma(1 + 1/shape)
		w.gap = func(r *rand.Rand) float64 { return math.Pow(r.ExpFloat64(), 1/shape) / mean }
	case "":
		w.rate = 0
	default:
		return w, fmt.Errorf("the pattern is %q, not Gamma or Weibull", cells[3])
	}
	return w, nil
}

// gamma draws from a gamma distribution of that shape and scale 1, as Marsaglia and Tsang do.
func gamma(r *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(r, shape+1) * math.Pow(1-r.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-r.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// parseLengths reads the lengths of a client's requests: by the start of a window, distributions that are written as
// Python writes a dict.
func parseLengths(text []byte) ([]lengths, error) {
	var doc map[string]map[string]string
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("is not a mapping of times to distributions: %w", err)
	}
	var out []lengths
	for key, fields := range doc {
		at, err := strconv.ParseFloat(key, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a time in seconds", key)
		}
		if _, ok := fields["text_tokens"]; ok {
			return nil, errors.New("has text_tokens beside those of images, audio and video: traces are played without media")
		}
		l := lengths{from: at}
		for name, to := range map[string]*distribution{"input_tokens": &l.input, "output_tokens": &l.output} {
			if *to, err = parseDistribution(fields[name]); err != nil {
				return nil, fmt.Errorf("%s.%s %w", key, name, err)
			}
		}
		if len(l.input.values) > 0 && len(l.output.values) > 0 { // else the client sent nothing then
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b lengths) int { return cmp.Compare(a.from, b.from) })
	return out, nil
}

// parseDistribution reads {tokens: probability, …}.
func parseDistribution(text string) (d distribution, err error) {
	inner, ok := strings.CutPrefix(strings.TrimSpace(text), "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !ok || !closed {
		return d, errors.New("is not a distribution such as {12: 0.5, 40: 0.5}")
	}
	sum := 0.0
	for pair := range strings.SplitSeq(inner, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, ":")
		n, err := strconv.Atoi(strings.Trim(strings.TrimSpace(key), `'"`))
		p, wrong := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || wrong != nil || n < 0 || n > mostTokens || !(p >= 0 && p <= 1+1e-6) {
			return d, fmt.Errorf("has %q, which is not a length and its probability", strings.TrimSpace(pair))
		}
		sum += p
		d.values, d.sums = append(d.values, int32(n)), append(d.sums, sum)
	}
	if len(d.values) > 0 && math.Abs(sum-1) > 0.01 {
		return d, fmt.Errorf("has probabilities that add up to %v", sum)
	}
	return d, nil
}

// drawLength draws one, at least 1.
func (d *distribution) drawLength(r *rand.Rand) int32 {
	i, _ := slices.BinarySearch(d.sums, r.Float64()*d.sums[len(d.sums)-1])
	return max(d.values[min(i, len(d.values)-1)], 1)
}

// draw draws the requests of the plan's window.
func (s *Clients) draw(all []client, seed uint64) error {
	first := math.Inf(1)
	for i := range all {
		if w := all[i].windows; len(w) > 0 {
			first = min(first, w[0].from)
		}
	}
	tr := s.data.Trace
	from, to := first+time.Duration(tr.From).Seconds(), math.Inf(1)
	if tr.To > 0 {
		to = first + time.Duration(tr.To).Seconds()
	}
	expected := 0.0
	for i := range all {
		for _, w := range all[i].windows {
			expected += max(min(w.to, to)-max(w.from, from), 0) * w.rate
		}
	}
	if expected > mostDrawn {
		return plan.Faults{{
			Path: "data.trace.to", Text: fmt.Sprintf("about %.0f requests are due there, more than %d", expected, mostDrawn), Hint: "play a part, such as --window 0s..1h",
		}}
	}
	for i := range all {
		s.client(&all[i], from, to, prompt.Mix(seed^uint64(all[i].id)<<8))
	}
	if len(s.rows) == 0 {
		return plan.Faults{{Path: "data.trace", Text: s.data.File + " has no requests there", Hint: "widen the window, or name another directory"}}
	}
	slices.SortStableFunc(s.rows, func(a, b drawn) int { return cmp.Compare(a.due, b.due) })
	p := pace{Trace: tr}
	for i := range s.rows {
		s.rows[i].due = p.play(s.rows[i].due)
	}
	return nil
}

// client draws the requests of a client: times between them have the recorded distribution, and there are as many as
// the recorded rate has.
func (s *Clients) client(c *client, from, to float64, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	left := -1.0 // requests that are due before the next: the rate counts them down
	for _, w := range c.windows {
		if w.rate == 0 || w.gap == nil || w.to <= from || w.from >= to {
			continue
		}
		if left < 0 {
			for left = -burnIn; left < 0; {
				left += w.gap(rng)
			}
		}
		l := c.lengthsAt(w.from)
		now := max(w.from, from)
		end := min(w.to, to)
		for now+left/w.rate < end {
			now += left / w.rate
			left = w.gap(rng)
			if l != nil {
				s.rows = append(s.rows, drawn{time.Duration((now - from) * 1e9), l.input.drawLength(rng), l.output.drawLength(rng)})
			}
		}
		left -= (end - now) * w.rate
	}
}

// lengthsAt are those of a moment; nil: none are known.
func (c *client) lengthsAt(at float64) *lengths {
	for i := len(c.lengths) - 1; i >= 0; i-- {
		if c.lengths[i].from <= at {
			return &c.lengths[i]
		}
	}
	return nil
}

// Notes say what the directory is taken for.
func (s *Clients) Notes() []string {
	span := s.rows[len(s.rows)-1].due
	return []string{fmt.Sprintf("%s is a servegen trace of %d clients: %d requests in %s, drawn as often and as long as theirs.",
		s.data.File, s.count, len(s.rows), plan.Duration(span.Round(time.Millisecond)))}
}

// Sessions implements prompt.Finite.
func (s *Clients) Sessions() int { return len(s.rows) }

// Schedule implements prompt.Scheduler.
func (s *Clients) Schedule() prompt.Moments {
	i := 0
	return func() (time.Duration, bool) {
		if i == len(s.rows) {
			return 0, false
		}
		i++
		return s.rows[i-1].due, true
	}
}

// Prompt implements prompt.Source. It never ends: the trace begins again.
func (s *Clients) Prompt(_ context.Context, at prompt.Position) (p prompt.Prompt, err error) {
	i := at.I % uint64(len(s.rows))
	r := &s.rows[i]
	p = prompt.Prompt{Output: int(r.output), Tokens: int(r.input)}
	if p.Text, err = s.maker.Text(&blocktext.Coded{Length: int(r.input), Number: i + 1}); err == nil {
		p.Hash = prompt.HashText(p.Text)
	}
	return p, err
}
