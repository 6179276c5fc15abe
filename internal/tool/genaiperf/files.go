package genaiperf

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"inferometer/internal/plan"
	"inferometer/internal/prompt"
	"inferometer/internal/prompt/promptfile"
)

// filePrompts reads prompts from a file: JSON lines, plain text, or one JSON list. A
// most of 0 is no bound.
func (t *tool) filePrompts(ctx context.Context, name string, most int) ([]prompt.Prompt, error) {
	names := []string{name}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		if names, err = filepath.Glob(filepath.Join(name, "*.jsonl")); err != nil || len(names) == 0 {
			return nil, fmt.Errorf("reading prompts: the directory %s has no file that ends in .jsonl", name)
		}
	}
	var all []prompt.Prompt
	for _, name := range names {
		if strings.HasSuffix(name, ".parquet") {
			list, err := t.parquetPrompts(name)
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
			continue
		}
		d := plan.Data{File: name, Output: t.plan.Data.Output}
		s, err := promptfile.New(d, t.tok, t.plan.Seed, readPrompts)
		if err != nil {
			return nil, err
		}
		list, err := take(ctx, s, s.Len())
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	if most > 0 && len(all) > most {
		all = all[:most]
	}
	return all, nil
}

// readPrompts reads a file, and turns one JSON document into lines of JSON.
func readPrompts(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	trimmed := bytes.TrimSpace(data)
	switch {
	case len(trimmed) == 0:
		return data, nil
	case isDataset(trimmed):
		return datasetLines(name, trimmed)
	case trimmed[0] != '[' && !isDocument(trimmed):
		return data, nil
	}
	items, err := requestList(trimmed)
	if err != nil {
		line := 1
		if syntax, ok := err.(*json.SyntaxError); ok {
			line += bytes.Count(trimmed[:min(int(syntax.Offset), len(trimmed))], []byte("\n"))
		}
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	return bytes.Join(items, []byte("\n")), nil
}

// isDataset reports whether a file has lines of one of the known datasets.
func isDataset(data []byte) bool {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	var row map[string]json.RawMessage
	return json.Unmarshal(first, &row) == nil && (row["question"] != nil || row["article"] != nil)
}

// datasetLines turns rows of a dataset into lines with a prompt each.
func datasetLines(name string, data []byte) ([]byte, error) {
	lines := bytes.Split(data, []byte("\n"))
	for i, line := range lines {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		out, err := requestLine(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
		lines[i] = out
	}
	return bytes.Join(lines, []byte("\n")), nil
}

// isDocument reports whether a file is one object with a list of requests in it.
func isDocument(data []byte) bool {
	var doc struct{ Data, Rows json.RawMessage }
	return data[0] == '{' && json.Unmarshal(data, &doc) == nil && (doc.Data != nil || doc.Rows != nil)
}

// requestList takes a list of requests apart: texts, objects, the "data" that Perf
// Analyzer reads, or the "rows" that the hub serves.
func requestList(data []byte) ([][]byte, error) {
	var list []json.RawMessage
	if data[0] == '{' {
		var doc struct {
			Data []json.RawMessage
			Rows []struct{ Row json.RawMessage }
		}
		if err := json.Unmarshal(data, &doc); err != nil {
			return nil, err
		}
		list = doc.Data
		for _, r := range doc.Rows {
			list = append(list, r.Row)
		}
	} else if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	items := make([][]byte, 0, len(list))
	for i, raw := range list {
		item, err := requestLine(raw)
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i+1, err)
		}
		items = append(items, item)
	}
	return items, nil
}

// requestLine is one request as a line of JSON.
func requestLine(raw json.RawMessage) ([]byte, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return compact(object{{"text", text}})
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("is neither a text nor an object: %s", strings.TrimSpace(string(raw[:min(len(raw), 60)])))
	}
	for name, value := range fields { // Perf Analyzer has a list of one value everywhere
		var one []json.RawMessage
		if name != "messages" && json.Unmarshal(value, &one) == nil && len(one) == 1 {
			fields[name] = one[0]
		}
	}
	if payload := fields["payload"]; payload != nil {
		return requestLine(payload)
	}
	if system, question := fields["system_prompt"], fields["question"]; question != nil {
		return compact(object{{"messages", chatOf(system, question)}})
	}
	if article := fields["article"]; article != nil {
		return compact(object{{"text", article}})
	}
	return compact(fields)
}

// chatOf is the chat of a row of OpenOrca: what the system says, if anything, and the
// question.
func chatOf(system, question json.RawMessage) []object {
	var messages []object
	if s := string(system); s != "" && s != `""` && s != "null" {
		messages = append(messages, object{{"role", "system"}, {"content", system}})
	}
	return append(messages, object{{"role", "user"}, {"content", question}})
}
