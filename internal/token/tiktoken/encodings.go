package tiktoken

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/token/scan"
)

type encoding struct {
	name    string
	ranks   int
	second  bool // is only used by name: another one has as many ranks
	pattern string
	special map[string]int32
	nfc     bool    // texts are composed first, as the model's own tokenizer does
	before  []int32 // what Encode puts before a text when asked for special tokens
}

// kimiPattern is that of o200k_base with Chinese set apart.
const kimiPattern = `[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
	`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
	`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

func encodings() []encoding {
	const end, prompt = "<|endoftext|>", "<|endofprompt|>"
	fim := func(id int32) map[string]int32 {
		return map[string]int32{"<|fim_prefix|>": id, "<|fim_middle|>": id + 1, "<|fim_suffix|>": id + 2}
	}
	return []encoding{
		{name: "r50k_base", ranks: 50256, pattern: scan.GPT2Ranks, special: map[string]int32{end: 50256}},
		{name: "p50k_base", ranks: 50280, pattern: scan.GPT2Ranks, special: map[string]int32{end: 50256}},
		{name: "p50k_edit", ranks: 50280, second: true, pattern: scan.GPT2Ranks, special: with(fim(50281), end, 50256)},
		{name: "cl100k_base", ranks: 100256, pattern: scan.CL100KRanks, special: with(with(fim(100258), end, 100257), prompt, 100276)},
		{name: "o200k_base", ranks: 199998, pattern: scan.O200K, special: map[string]int32{end: 199999, prompt: 200018}},
		{name: "o200k_harmony", ranks: 199998, second: true, pattern: scan.O200K, special: harmony()},
		{name: "qwen", ranks: 151643, pattern: scan.Qwen2, special: qwen(), nfc: true},
		{name: "llama3", ranks: 128000, pattern: scan.CL100K, special: llama3(), before: []int32{128000}},
		{name: "llama4", ranks: 200000, pattern: scan.O200K, special: llama4(), before: []int32{200000}},
		{name: "kimi", ranks: 163584, pattern: kimiPattern, special: kimi()},
		{name: "kimi_k3", ranks: 163584, second: true, pattern: kimiPattern, special: kimi3()},
	}
}

func with(m map[string]int32, text string, id int32) map[string]int32 {
	m[text] = id
	return m
}

// numbered gives names ids in a row.
func numbered(first int32, names []string) map[string]int32 {
	m := make(map[string]int32, len(names))
	for i, n := range names {
		m[n] = first + int32(i)
	}
	return m
}

// reserved are names that differ in a number.
func reserved(format string, from, to int) []string {
	var names []string
	for i := from; i < to; i++ {
		names = append(names, fmt.Sprintf(format, i))
	}
	return names
}

func harmony() map[string]int32 {
	m := numbered(200013, reserved("<|reserved_%d|>", 200013, 201088))
	for i, name := range []string{
		"<|startoftext|>", "<|endoftext|>", "<|reserved_200000|>", "<|reserved_200001|>", "<|return|>", "<|constrain|>", "<|reserved_200004|>",
		"<|channel|>", "<|start|>", "<|end|>", "<|message|>", "<|reserved_200009|>", "<|reserved_200010|>", "<|reserved_200011|>", "<|call|>",
	} {
		m[name] = 199998 + int32(i)
	}
	return with(m, "<|endofprompt|>", 200018)
}

func qwen() map[string]int32 {
	return numbered(151643, append([]string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}, reserved("<|extra_%d|>", 0, 205)...))
}

// llama3 are the names of Llama 3.1 and later. In 3.0 some ids are reserved tokens.
func llama3() map[string]int32 {
	names := []string{
		"<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>", "<|finetune_right_pad_id|>",
		"<|step_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>", "<|python_tag|>", "<|image|>",
	}
	return numbered(128000, append(names, reserved("<|reserved_special_token_%d|>", 2, 2+256-len(names))...))
}

// kimi are the names of Kimi K2 and K2.5, which has some that K2 reserves.
func kimi() map[string]int32 {
	return kimiNames(map[int]string{
		0: "[BOS]", 1: "[EOS]", 2: "<|im_end|>", 3: "<|im_user|>", 4: "<|im_assistant|>", 6: "<|start_header_id|>", 7: "<|end_header_id|>", 9: "[EOT]", 10: "<|im_system|>",
		11: "<|tool_calls_section_begin|>", 12: "<|tool_calls_section_end|>", 13: "<|tool_call_begin|>", 14: "<|tool_call_argument_begin|>", 15: "<|tool_call_end|>", 17: "<|im_middle|>",
		18: "<|media_begin|>", 19: "<|media_content|>", 20: "<|media_end|>", 21: "<|media_pad|>", 22: "<think>", 23: "</think>",
	})
}

// kimi3 are those of Kimi K3, which has the ranks of K2.
func kimi3() map[string]int32 {
	return kimiNames(map[int]string{
		0: "[BOS]", 1: "[EOS]", 2: "<|end_of_msg|>", 3: "<|open|>", 4: "<|close|>", 5: "<|sep|>", 6: "[start_header_id]", 7: "[end_header_id]", 9: "[EOT]",
		18: "<|media_begin|>", 19: "<|media_content|>", 20: "<|media_end|>", 21: "<|media_pad|>", 65: "<osagent_mode>",
	})
}

func kimiNames(own map[int]string) map[string]int32 {
	const first, count = 163584, 256
	names := reserved("<|reserved_token_%d|>", first, first+count)
	names[count-2], names[count-1] = "[UNK]", "[PAD]"
	for i, name := range own {
		names[i] = name
	}
	return numbered(first, names)
}

func llama4() map[string]int32 {
	names := []string{
		"<|begin_of_text|>", "<|end_of_text|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>",
		"<|header_start|>", "<|header_end|>", "<|eom|>", "<|eot|>", "<|step|>",
	}
	const text, vision, reasoning = "<|text_post_train_reserved_special_token_%d|>", "<|vision_reserved_special_token_%d|>", "<|reasoning_reserved_special_token_%d|>"
	names = append(names, reserved(text, 0, 6)...)
	names = append(names, "<|python_start|>", "<|python_end|>", "<|finetune_right_pad|>")
	names = append(names, reserved(text, 8, 69)...)
	names = append(names, "<|image_start|>", "<|image_end|>")
	names = append(names, reserved(vision, 0, 2)...)
	names = append(names, "<|tile_x_separator|>", "<|tile_y_separator|>")
	names = append(names, reserved(vision, 2, 6)...)
	names = append(names, "<|image|>", "<|vision_reserved_special_token_6|>", "<|patch|>")
	names = append(names, reserved(vision, 7, 1048)...)
	names = append(names, reserved(reasoning, 0, 8)...)
	names = append(names, "<|reasoning_thinking_start|>", "<|reasoning_thinking_end|>")
	return numbered(200000, append(names, reserved("<|reserved_special_token_%d|>", 0, 2048-len(names))...))
}
