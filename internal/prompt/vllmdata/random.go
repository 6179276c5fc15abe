package vllmdata

import (
	"context"
	"fmt"
	"math"

	"github.com/inferometer/inferometer/internal/lib/mersenne"
	"github.com/inferometer/inferometer/internal/lib/numpy"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// turns are how often a text is brought nearer to the length that it should have.
const turns = 10

// fit finds a text of n tokens near to a row of tokens: what is too long when it comes back from its text
// is cut, what is too short goes on with tokens that extra draws. It gives the text, the tokens that it has,
// and by how many those miss n.
func (s *Source) fit(ids []int32, n int, extra func() int) (text string, _ []int32, off int) {
	for turn := 0; ; turn++ {
		text = s.code.Decode(ids, false)
		ids = s.code.Encode(text, false)
		switch {
		case len(ids) == n:
			return text, ids, 0
		case turn == turns:
			return text, ids, len(ids) - n
		case len(ids) > n:
			ids = ids[:n]
		}
		for len(ids) < n {
			ids = append(ids, int32(extra()))
		}
	}
}

// generator draws random prompts.
type generator struct {
	*Source
	draws   *numpy.Generator
	allowed []int32
}

func (s *Source) newGenerator() *generator {
	return &generator{s, numpy.New(s.seed), s.vocab.Ordinary()}
}

// extra is a token that a prompt goes on with.
func (g *generator) extra() int { return g.draws.Below(g.vocab.BaseSize()) }

// drawn are the lengths of n requests, and where in the vocabulary they begin.
type drawn struct{ input, output, offset []int }

// lengths draws those around an input and an output length.
func (g *generator) lengths(n, input, output int) drawn {
	input = max(input-prompt.Specials(g.tok), 0)
	within := func(length int, share float64, least int) []int {
		low := max(int(math.Floor(float64(length)*(1-share))), least)
		high := max(int(math.Ceil(float64(length)*(1+share))), least)
		return g.integers(n, low, high)
	}
	return drawn{
		input: within(input, g.vllm.InputRange, 0), output: within(output, g.vllm.OutputRange, 1),
		offset: g.integers(n, 0, g.vocab.BaseSize()-1),
	}
}

func (g *generator) integers(n, low, high int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = low + g.draws.Below(high-low+1)
	}
	return list
}

// text makes the i-th prompt of a length, behind a row of tokens.
func (g *generator) text(prefix []int32, length, offset, i int) request {
	ids := make([]int32, len(prefix), len(prefix)+length)
	copy(ids, prefix)
	for k := range length {
		ids = append(ids, g.allowed[(offset+i+k)%len(g.allowed)])
	}
	text, ids, off := g.fit(ids, g.vllm.Prefix+length, g.extra)
	g.off += off
	return request{text: text, length: len(ids)}
}

// random draws prompts of rows of tokens out of the vocabulary.
func (s *Source) random(ctx context.Context) error {
	if s.vllm.Release != "" {
		return s.oldRandom(ctx)
	}
	g, v := s.newGenerator(), &s.vllm
	least := v.Prefix + int(math.Floor(float64(max(v.Input-prompt.Specials(s.tok), 0))*(1-v.InputRange)))
	if least < 1 {
		return plan.Faults{{Path: "data.vllm_bench.input", Text: fmt.Sprintf("prompts can have %d tokens, the shared beginning and special tokens included", least), Hint: "ask for more"}}
	}
	lengths := g.lengths(v.Requests, v.Input, v.Output)
	var prefix []int32
	if v.Prefix > 0 {
		for range v.Prefix {
			prefix = append(prefix, g.allowed[g.draws.Below(len(g.allowed))])
		}
		_, prefix, _ = g.fit(prefix, v.Prefix, g.extra)
	}
	for i := range v.Requests {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := g.text(prefix, lengths.input[i], lengths.offset[i], i)
		r.output, r.number = lengths.output[i], i
		s.made = append(s.made, r)
	}
	if each := s.data.Batch; each > 1 {
		s.made = batches(s.made, each)
	}
	return nil
}

// batches puts so many texts each into one request.
func batches(all []request, each int) []request {
	var out []request
	for len(all) > 0 {
		b := request{number: len(out)}
		for _, r := range all[:min(each, len(all))] {
			b.texts, b.length = append(b.texts, r.text), b.length+r.length
		}
		out, all = append(out, b), all[min(each, len(all)):]
	}
	return out
}

// rerank draws a query and documents that are ranked by it.
func (s *Source) rerank(ctx context.Context) error {
	g, v := s.newGenerator(), &s.vllm
	n, each, query, separator := v.Requests, max(s.data.Batch, 1), v.Input, 0
	if v.Pairs {
		separator = 1
		query = v.Input/2 - separator
	} else {
		n, each = n-1, each-1
	}
	if n < 1 || each < 1 || query < 1 {
		return plan.Faults{{Path: "data.vllm_bench.requests", Text: "leave no documents beside the query", Hint: "ask for more requests, longer ones, or larger batches"}}
	}
	first := g.lengths(1, query, 0)
	documents := v.Input
	if v.Pairs {
		documents = v.Input - first.input[0] - separator
	}
	lengths := g.lengths(n, documents, 0)
	asked := g.text(nil, first.input[0], first.offset[0], 0)
	var all []request
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		all = append(all, g.text(nil, lengths.input[i], lengths.offset[i], i+1))
	}
	s.made = batches(all, each)
	for i := range s.made {
		r := &s.made[i]
		if v.Pairs {
			r.length += (asked.length + separator) * len(r.texts)
		} else {
			r.length += asked.length
		}
		r.texts = append([]string{asked.text}, r.texts...)
	}
	return nil
}

// prefixes draws prompts of which several begin alike.
func (s *Source) prefixes(ctx context.Context) error {
	v := &s.vllm
	each := v.Requests / max(v.Prefixes, 1)
	if each == 0 {
		return plan.Faults{{Path: "data.vllm_bench.prefixes", Text: fmt.Sprintf("%d are more than the %d requests", v.Prefixes, v.Requests), Hint: "ask for more requests"}}
	}
	token := func() int { return s.draws.Below(s.vocab.BaseSize()) }
	draw := func(n int) []int32 {
		ids := make([]int32, n)
		for i := range ids {
			ids[i] = int32(token())
		}
		_, ids, off := s.fit(ids, n, token)
		s.off += off
		return ids
	}
	for range v.Prefixes {
		prefix := draw(v.Prefix)
		for range each {
			if err := ctx.Err(); err != nil {
				return err
			}
			ids := append(prefix[:len(prefix):len(prefix)], draw(v.Input)...)
			s.made = append(s.made, request{text: s.code.Decode(ids, false), length: len(ids), output: v.Output, number: -1})
		}
	}
	if !v.Ordered {
		mersenne.NewPython(s.seed).Shuffle(len(s.made), func(i, j int) { s.made[i], s.made[j] = s.made[j], s.made[i] })
	}
	return nil
}
