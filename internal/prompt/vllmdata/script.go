package vllmdata

import (
	"context"
	"fmt"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// oldRandom draws random prompts as the script of 0.10 does, and its fork: of the whole vocabulary, and the
// shared beginning first. The script cuts what is too long, the fork also fills up what is too short.
func (s *Source) oldRandom(ctx context.Context) error {
	v, size := &s.vllm, s.vocab.BaseSize()
	input, err := s.within(v.Input - prompt.Specials(s.tok))
	if err != nil {
		return err
	}
	below := func(n, low, high int) []int {
		list := make([]int, n)
		for i := range list {
			list[i] = low + s.draws.Below(high-low+1)
		}
		return list
	}
	span := func(length int, share float64, least int) (low, high int) {
		low, high = int(float64(length)*(1-share)), int(float64(length)*(1+share))
		if v.Release == plan.VLLMFork {
			low, high = int(float64(length)*share), length
		}
		return max(low, least), max(high, least)
	}
	prefix := make([]int32, v.Prefix)
	for i, id := range below(v.Prefix, 0, size-1) {
		prefix[i] = int32(id)
	}
	low, high := span(input, v.InputRange, 0)
	inputs := below(v.Requests, low, high)
	low, high = span(v.Output, v.OutputRange, 1)
	outputs := below(v.Requests, low, high)
	offsets := below(v.Requests, 0, size-1)
	aside := s.newGenerator()
	for i := range v.Requests {
		if err := ctx.Err(); err != nil {
			return err
		}
		ids := append([]int32{}, prefix...)
		for k := range inputs[i] {
			ids = append(ids, int32((offsets[i]+i+k)%size))
		}
		r := request{output: outputs[i], number: i}
		if v.Release == plan.VLLMFork {
			r.text, ids, _ = s.fit(ids, v.Prefix+inputs[i], aside.extra)
		} else {
			ids = s.code.Encode(s.code.Decode(ids, false), false)
			ids = ids[:min(len(ids), v.Prefix+inputs[i])]
			r.text = s.code.Decode(ids, false)
		}
		r.length = len(ids)
		if s.data.Template {
			if r.text, err = s.wrap(r.text); err != nil {
				return fmt.Errorf("putting the chat template around a prompt: %w", err)
			}
			r.length = len(s.code.Encode(r.text, false))
		}
		s.made = append(s.made, r)
	}
	return nil
}

// within is what a length leaves beside the chat template, where that goes around prompts.
func (s *Source) within(length int) (int, error) {
	if s.data.Template {
		if s.wrap == nil {
			return 0, plan.Faults{{Path: "data.template", Text: "the tokenizer " + s.tok.Name() + " comes without a chat template", Hint: "name the tokenizer of a chat model"}}
		}
		text, err := s.wrap("")
		if err != nil {
			return 0, fmt.Errorf("putting the chat template around a prompt: %w", err)
		}
		length -= s.tok.Count(text)
	}
	if length < 1 {
		return 0, plan.Faults{{Path: "data.vllm_bench.input", Text: "leaves no room beside what goes around prompts", Hint: "ask for more"}}
	}
	return length, nil
}
