// Package vllmdata draws the requests of vLLM's serving benchmark, and when they are due, from the same
// seed with the same numbers. All of them are made before the first is sent.
package vllmdata

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/lib/mersenne"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// coder turns texts into tokens and back.
type coder interface {
	Encode(text string, special bool) []int32
	Decode(ids []int32, skipSpecial bool) string
}

// vocabulary is what tokens are drawn from.
type vocabulary interface {
	BaseSize() int     // without tokens that were added
	Ordinary() []int32 // those of it that are not special
}

// request is one that was drawn.
type request struct {
	text   string
	texts  []string // in place of text, where it holds several
	ids    []int32  // in place of text, where it is sent as tokens
	length int      // of the prompt in tokens, as planned
	output int
	number int           // that it goes by; -1: none
	due    time.Duration // by the data
}

// Source has the requests of one run. Every stage begins with the first.
type Source struct {
	prompt.RestartPerStage
	data  plan.Data
	vllm  plan.VLLM
	tok   prompt.Tokenizer
	code  coder
	vocab vocabulary
	seed  uint64
	made  []request
	due   []time.Duration
	wrap  func(string) (string, error)
	draws *mersenne.NumPy // that the times are drawn from, too
	off   int             // tokens by which prompts missed their lengths
	notes []string
}

// New makes a source of what d asks for.
func New(d plan.Data, tok prompt.Tokenizer, seed uint64) (*Source, error) {
	code, ok := tok.(coder)
	vocab, also := tok.(vocabulary)
	if !ok || !also || vocab.BaseSize() == 0 {
		return nil, plan.Faults{{
			Path: "tokenizer.name", Text: tok.Name() + " has no vocabulary that prompts could be drawn from", Hint: "name the model's tokenizer",
		}}
	}
	return &Source{data: d, vllm: d.VLLM, tok: tok, code: code, vocab: vocab, seed: seed, draws: mersenne.NewNumPy(uint32(seed))}, nil
}

// Open implements prompt.Opener: it draws all requests.
func (s *Source) Open(ctx context.Context, u prompt.Use) error {
	s.wrap = u.Wrap
	draw := map[string]func(context.Context) error{
		plan.VLLMRandom: s.random, plan.VLLMRerank: s.rerank, plan.VLLMShareGPT: s.shareGPT, plan.VLLMCustom: s.custom,
		plan.VLLMPrefixes: s.prefixes, plan.VLLMBurstGPT: s.burstGPT, plan.VLLMTimed: s.timed,
	}[s.vllm.Kind]
	if draw == nil {
		return plan.Faults{{Path: "data.vllm_bench.kind", Text: fmt.Sprintf("%q is no kind of its requests", s.vllm.Kind)}}
	}
	if err := draw(ctx); err != nil {
		return err
	}
	if len(s.made) == 0 {
		return plan.Faults{{Path: "data.file", Text: s.data.File + " has no row that can be sent", Hint: "see which rows are taken in docs/vllm-bench.md"}}
	}
	if s.off != 0 {
		s.notes = append(s.notes, fmt.Sprintf("Prompts have %+d tokens beside the lengths that were drawn: not every row of tokens comes back from its text.", s.off))
	}
	if note := s.align(ctx, u.Server); note != "" {
		s.notes = append(s.notes, note)
	}
	s.schedule()
	return nil
}

// Notes are worth telling the user.
func (s *Source) Notes() []string { return s.notes }

// Prompt implements prompt.Source. It ends with the last request.
func (s *Source) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	rehearsal := s.vllm.Rehearsed && at.Stage == 0
	i := at.I
	if rehearsal {
		i = 0
	}
	if i >= uint64(len(s.made)) {
		return prompt.Prompt{}, io.EOF
	}
	r := &s.made[i]
	p := prompt.Prompt{Text: r.text, Texts: r.texts, Tokens: r.length, Output: r.output, Hash: prompt.HashText(r.text)}
	for _, text := range r.texts {
		p.Hash = prompt.Mix(p.Hash ^ prompt.HashText(text))
	}
	if r.ids != nil {
		ids, err := json.Marshal(r.ids)
		if err != nil {
			return p, err
		}
		p.Fields, p.Hash = []prompt.Field{{Name: "prompt", Value: ids}}, prompt.HashText(string(ids))
	}
	if s.vllm.IDPrefix != "" && r.number >= 0 && !rehearsal {
		p.Headers = [][2]string{{"x-request-id", s.vllm.IDPrefix + strconv.Itoa(r.number)}}
	}
	return p, nil
}

// Schedule implements prompt.Scheduler.
func (s *Source) Schedule() prompt.Moments { return prompt.NewMoments(s.due) }

// schedule works out when requests are due: by their data, or drawn.
func (s *Source) schedule() {
	a := s.vllm.Arrivals
	n := len(s.made)
	at := make([]float64, n)
	sum := 0.0
	for i := range at {
		rate := a.Rate
		if a.RampTo > 0 {
			rate = rateAt(&a, float64(i)/float64(max(n-1, 1)))
		}
		switch {
		case a.Rate == 0 && a.RampTo == 0:
		case a.Burstiness == 0:
			sum += 1 / rate
		default:
			sum += s.draws.Gamma(a.Burstiness) / (rate * a.Burstiness)
		}
		at[i] = sum
	}
	stretch := 1.0
	if a.RampTo == 0 && sum > 0 {
		stretch = float64(n) / a.Rate / sum
	}
	s.due = make([]time.Duration, n)
	last := time.Duration(0)
	for i := range at {
		due := s.made[i].due
		if a.Rate > 0 || a.RampTo > 0 {
			due = time.Duration(math.Round(at[i] * stretch * float64(time.Second)))
		}
		last = max(last, due)
		s.due[i] = last
	}
}

// rateAt is the rate of arrivals when a share of them is over.
func rateAt(a *plan.VLLMArrivals, share float64) float64 {
	if a.Exponential {
		return a.Rate * math.Pow(a.RampTo/a.Rate, share)
	}
	return a.Rate + (a.RampTo-a.Rate)*share
}
