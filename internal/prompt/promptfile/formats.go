package promptfile

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

// foreign reports what a file is that holds no lines of prompts, by its first bytes or by its
// name: its lines would be sent as if they were prompts.
func foreign(name string, data []byte) *plan.Fault {
	const jsonLines = `make JSON lines of it, such as {"prompt": "…", "output_tokens": 100}`
	fault := func(what, hint string, named ...any) *plan.Fault {
		return &plan.Fault{Where: name, Text: "is " + what, Hint: hint, Args: named}
	}
	for magic, what := range map[string]string{
		"\x1f\x8b": "compressed with gzip", "\x28\xb5\x2f\xfd": "compressed with zstd", "BZh": "compressed with bzip2", "\xfd7zXZ": "compressed with xz",
	} {
		if bytes.HasPrefix(data, []byte(magic)) && (magic != "BZh" || bytes.IndexByte(data[:min(len(data), 64)], 0) >= 0) {
			return fault(what, "uncompress it")
		}
	}
	for magic, what := range map[string]string{
		"PAR1": "a Parquet file", "ARROW1": "an Arrow file", "PK\x03\x04": "a ZIP archive or a spreadsheet", "SQLite format 3": "an SQLite database", "%PDF-": "a PDF",
	} {
		if bytes.HasPrefix(data, []byte(magic)) {
			return fault(what, "%s%v", jsonLines, message.New("; %v reads Parquet files of well-known data sets", message.Dataset).Or(""))
		}
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv", ".tsv":
		return fault("a table of columns, not a list of prompts", jsonLines)
	case ".yaml", ".yml", ".xml", ".html", ".toml":
		return fault("a document in a form that is not read here", jsonLines)
	case ".txt", ".text":
		if first, _, _ := bytes.Cut(bytes.TrimSpace(data), []byte("\n")); isPromptObject(first) {
			return fault("called text, and its lines are JSON", "call it .jsonl")
		}
	}
	return nil
}

func isPromptObject(line []byte) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(line, &fields) != nil {
		return false
	}
	return slices.ContainsFunc(append(textFields(), messagesField), func(name string) bool { return len(fields[name]) > 0 })
}

// requestFields are the fields of a line that are sent with its request: what the OpenAI API
// has beside the prompt, the model and the length, and what servers that speak it have added.
func requestFields() []string {
	return []string{
		"add_generation_prompt", "add_special_tokens", "audio", "bad_words", "best_of", "chat_template_kwargs", "continue_final_message", "documents", "echo", "extra_body", "frequency_penalty", "function_call", "functions",
		"guided_choice", "guided_grammar", "guided_json", "guided_regex", "ignore_eos", "include_stop_str_in_output", "length_penalty", "logit_bias", "logprobs",
		"metadata", "min_p", "min_tokens", "modalities", "n", "parallel_tool_calls", "prediction", "presence_penalty", "priority", "reasoning", "reasoning_effort",
		"repetition_penalty", "response_format", "safety_identifier", "seed", "service_tier", "skip_special_tokens", "stop", "stop_sequences", "stop_token_ids", "store",
		"structured_outputs", "suffix", "temperature", "thinking", "tool_choice", "tools", "top_k", "top_logprobs", "top_p", "truncate_prompt_tokens", "use_beam_search",
		"user", "verbosity", "web_search_options",
	}
}
