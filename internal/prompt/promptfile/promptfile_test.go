package promptfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token"
)

// with reads text in place of any file.
func with(text string) func(string) ([]byte, error) {
	return func(string) ([]byte, error) { return []byte(text), nil }
}

func source(t *testing.T, d plan.Data, text string) *Source {
	t.Helper()
	s, err := New(d, token.Words{}, 1, with(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	const chat = `{"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "what is light?"}]}`
	const mixed = `{"prompt": "one two three"}` + "\n" + `{"text": "four", "osl": 6}` + "\n" + chat + "\n" + `{"prompt": "one two three"}` + "\n"
	out := plan.Length{Dist: plan.DistUniform, Min: 5, Max: 9}
	for name, tc := range map[string]struct {
		d    plan.Data
		text string
	}{
		"text":       {plan.Data{File: "p.txt", Output: out}, "one\ntwo words\nthree words here\n"},
		"json":       {plan.Data{File: "p.jsonl", Output: out}, mixed},
		"salted":     {plan.Data{File: "p.jsonl", Output: out, Salt: plan.SaltRequest}, mixed},
		"stage salt": {plan.Data{File: "p.jsonl", Output: out, Salt: plan.SaltStage}, mixed},
		"some":       {plan.Data{File: "p.jsonl", Output: out, Prompts: 2}, mixed},
	} {
		t.Run(name, func(t *testing.T) {
			prompttest.Run(t, prompttest.Case{
				New: func(t *testing.T, seed uint64) prompt.Source {
					s, err := New(tc.d, token.Words{}, seed, with(tc.text))
					if err != nil {
						t.Fatal(err)
					}
					return s
				},
				Tokenizer: token.Words{}, MinOutput: 5, MaxOutput: 9, Seeded: tc.d.Salt != "",
			})
		})
	}
}

func TestFormats(t *testing.T) {
	user := func(s string) []prompt.Message { return []prompt.Message{{Role: "user", Content: s}} }
	for _, tc := range []struct {
		name, file, text string
		want             []prompt.Prompt
	}{
		{"text", "p.txt", "one\ntwo\n", []prompt.Prompt{{Text: "one"}, {Text: "two"}}},
		{"no last line end", "p.txt", "one\ntwo", []prompt.Prompt{{Text: "one"}, {Text: "two"}}},
		{"CRLF, blank lines and a byte order mark", "p.txt", "\ufeffone\r\n\r\n  \r\n two \r\n", []prompt.Prompt{{Text: "one"}, {Text: " two "}}},
		{"braces in a text file", "p.txt", "{one}\n", []prompt.Prompt{{Text: "{one}"}}},
		{"JSON by its look", "prompts", "\n {\"prompt\": \"one\"}\n", []prompt.Prompt{{Text: "one"}}},
		{"text by its look", "prompts", "one {\n", []prompt.Prompt{{Text: "one {"}}},
		{"every field", "p.jsonl", `{"prompt": "a"}
{"text": "b", "output_tokens": 1}
{"text_input": "c", "max_tokens": 2}
{"input": "d", "output_length": 3, "id": 77, "more": {"x": [1, 2]}}
{"osl": 4, "prompt": "e"}
{"max_completion_tokens": 5, "max_tokens": 5, "prompt": "f"}
`, []prompt.Prompt{{Text: "a"}, {Text: "b", Output: 1}, {Text: "c", Output: 2}, {Text: "d", Output: 3}, {Text: "e", Output: 4}, {Text: "f", Output: 5}}},
		{"nulls are no fields", "p.ndjson", `{"prompt": null, "text": "a", "max_tokens": null}`, []prompt.Prompt{{Text: "a"}}},
		{"escapes", "p.json", `{"prompt": "\u00e9\n\ud83d\ude00 \"q\""}`, []prompt.Prompt{{Text: "é\n😀 \"q\""}}},
		{"chat", "p.jsonl", `{"messages": [{"role": "system", "content": "s"}, {"content": "u", "role": "user", "name": null}]}`,
			[]prompt.Prompt{{Messages: append([]prompt.Message{{Role: "system", Content: "s"}}, user("u")...)}}},
		{"chat in parts", "p.jsonl", `{"messages": [{"role": "user", "content": [{"type": "text", "text": "a "}, {"type": "text", "text": "b"}]}], "osl": 9}`,
			[]prompt.Prompt{{Messages: user("a b"), Output: 9}}},
		{"an empty message among others", "p.jsonl", `{"messages": [{"role": "assistant", "content": null}, {"role": "user", "content": "x"}]}`,
			[]prompt.Prompt{{Messages: append([]prompt.Message{{Role: "assistant"}}, user("x")...)}}},
		{"a list", "p.json", "[\"one\",\n {\"text\": \"two\", \"osl\": 3}]", []prompt.Prompt{{Text: "one"}, {Text: "two", Output: 3}}},
		{"Perf Analyzer's list", "p.json", `{"data": [{"text_input": ["one"], "max_tokens": [5]}, {"payload": [{"messages": [{"role": "user", "content": "two"}]}]}]}`,
			[]prompt.Prompt{{Text: "one", Output: 5}, {Messages: user("two")}}},
		{"whole requests", "p.json", `{"data": [{"payload": [{"model": "m", "prompt": ["one"], "max_tokens": 7, "stream": true, "stop": ["x"], "temperature": 0.5}]}, {"text_input": ["two"], "seed": [1]}]}`,
			[]prompt.Prompt{{Text: "one", Model: "m", Output: 7, Fields: []prompt.Field{{Name: "stop", Value: []byte(`["x"]`)}, {Name: "temperature", Value: []byte("0.5")}}}, {Text: "two", Tensors: []prompt.Field{{Name: "seed", Value: []byte("[1]")}}}}},
		{"Triton's own form", "p.json", `[{"text_input": "one", "max_tokens": 3, "stream": true, "exclude_input_in_output": true, "top_k": null, "stop_words": ["a", "b"]}]`,
			[]prompt.Prompt{{Text: "one", Output: 3, Tensors: []prompt.Field{{Name: "stop_words", Value: []byte(`["a", "b"]`)}}}}},
		{"the hub's rows", "p.json", `{"rows": [{"row": {"system_prompt": "s", "question": "u", "response": "r"}}, {"row": {"article": "a", "highlights": "h"}}]}`,
			[]prompt.Prompt{{Messages: append([]prompt.Message{{Role: "system", Content: "s"}}, user("u")...)}, {Text: "a"}}},
		{"rows of data sets", "p.jsonl", `{"system_prompt": "", "question": "q"}` + "\n" + `{"article": "a"}`, []prompt.Prompt{{Text: "q"}, {Text: "a"}}},
		{"images", "p.jsonl", `{"text": "what?", "image": "http://there/a.png"}` + "\n" + `{"image": ["data:image/png;base64,eA==", "https://b"]}`, []prompt.Prompt{
			{Text: "what?", Parts: []prompt.Part{{Text: "what?"}, {Kind: prompt.Image, URL: "http://there/a.png"}}},
			{Parts: []prompt.Part{{Kind: prompt.Image, URL: "data:image/png;base64,eA=="}, {Kind: prompt.Image, URL: "https://b"}}},
		}},
	} {
		got, err := parse(tc.file, []byte(tc.text))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		var first []prompt.Prompt
		for _, c := range got {
			first = append(first, c.prompt)
		}
		if diff := cmp.Diff(tc.want, first); diff != "" {
			t.Errorf("%s:\n%s", tc.name, diff)
		}
	}
}

func TestFaultsAreAllListedWithTheirPlace(t *testing.T) {
	for _, tc := range []struct{ file, text, want string }{
		{"p.txt", "", "p.txt: the file has no prompts (write one prompt on each line)"},
		{"p.jsonl", " \n\r\n", "p.jsonl: the file has no prompts (write one prompt on each line)"},
		{"p.txt", "good\nbäd \xff\n", "p.txt:2:5: is not valid UTF-8 (save the file as UTF-8, uncompressed)"},
		{"p.json", "\n[{\"prompt\": \"x\"},\n{\"prompt\":\n 3}]", "p.json:4:2: prompt: must be a string, is a number"},
		{"p.jsonl", `{"text": "a", "image": 3}`, "p.jsonl:1:24: image: must be a string or an array of strings, is a number (a URL, or the name of a file)"},
		{"p.jsonl", `{"text": "a", "image": "promptfile_test.go"}`, "p.jsonl:1:24: image: promptfile_test.go is neither PNG nor JPEG"},
		{"p.json", "[\"x\",\n]", "p.json:2:1: is not valid JSON: invalid character ']' looking for beginning of value (one whole object on each line)"},
		{"p.jsonl", `{"prompt": "é" "x"}` + "\n" + `{"prompt": "x"` + "\n" + `{"prompt": "x"} {}` + "\n" + `nil`, `
p.jsonl:1:16: is not valid JSON: invalid character '"' after object key:value pair (one whole object on each line)
p.jsonl:2:15: is not valid JSON: unexpected end of JSON input (one whole object on each line)
p.jsonl:3:17: is not valid JSON: invalid character '{' after top-level value (one whole object on each line)
p.jsonl:4:2: is not valid JSON: invalid character 'i' in literal null (expecting 'u') (one whole object on each line)`},
		{"p.jsonl", ` "x"` + "\n7", `
p.jsonl:1:2: is not a JSON object (write a prompt as {"prompt": "…"})
p.jsonl:2:1: is not a JSON object (write a prompt as {"prompt": "…"})`},
		{"p.jsonl", "{}\n" + `{"question": 1, "answer": 2}` + "\n" + `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}`, `
p.jsonl:1:1: has no prompt (it needs one of prompt, text, text_input, input, messages)
p.jsonl:2:1: has no prompt (it needs one of prompt, text, text_input, input, messages; it has "question", "answer")
p.jsonl:3:1: has no prompt (it needs one of prompt, text, text_input, input, messages; it has "a", "b", "c", "d", "e", …)`},
		{"p.jsonl", `{"é": 1, "prompt": 7, "max_tokens": 0, "osl": 1.5}` + "\n" + `{"prompt": ["x"]}` + "\n" + `{"prompt": " "}` + "\n" + `{"input": {}, "text": true}`, `
p.jsonl:1:20: prompt: must be a string, is a number
p.jsonl:1:37: max_tokens: must be a whole number from 1 to 10000000, is 0
p.jsonl:1:47: osl: must be a whole number from 1 to 10000000, is 1.5
p.jsonl:2:12: prompt: must be a string, is an array
p.jsonl:3:12: prompt: is empty
p.jsonl:4:11: input: must be a string, is an object
p.jsonl:4:23: text: the line already has a prompt, in "input" (keep one of them)`},
		{"p.jsonl", `{"prompt": "a", "messages": []}` + "\n" + `{"prompt": "a", "prompt": "b"}` + "\n" + `{"prompt": "a", "osl": 5, "max_tokens": 6}`, `
p.jsonl:1:29: messages: the line already has a prompt, in "prompt" (keep one of them)
p.jsonl:2:27: prompt: the line already has a prompt, in "prompt" (keep one of them)
p.jsonl:3:41: max_tokens: is 6, and "osl" says 5 (keep one of them)`},
		{"p.jsonl", `{"prompt": "a", "osl": "12345678901234567890123456789012345"}`,
			`p.jsonl:1:24: osl: must be a whole number from 1 to 10000000, is "12345678901234567890123456789…`},
		{"p.jsonl", `{"messages": "x"}` + "\n" + `{"messages": []}` + "\n" + `{"messages": [1, {"role": "", "content": 2}, {}]}` + "\n" +
			`{"messages": [{"role": "tool", "content": [3], "tool_call_id": "x"}]}` + "\n" +
			`{"messages": [{"role": "user", "content": [{"type": "image_url"}, {"type": "text"}, {"kind": "text"}]}]}`, `
p.jsonl:1:14: messages: must be an array, is a string
p.jsonl:2:14: messages: is empty
p.jsonl:3:15: messages[0]: must be an object, is a number
p.jsonl:3:27: messages[1].role: is empty
p.jsonl:3:42: messages[1].content: must be a string, is a number
p.jsonl:3:46: messages[2].role: is missing
p.jsonl:3:46: messages[2].content: is missing
p.jsonl:4:44: messages[0].content[0]: is not a part of a message (such as {"type": "text", "text": "…"})
p.jsonl:5:44: messages[0].content[0]: has no image_url (such as {"type": "image_url", "image_url": {"url": "https://…"}})
p.jsonl:5:67: messages[0].content[1]: has no text (such as {"type": "text", "text": "…"})
p.jsonl:5:85: messages[0].content[2]: is not a part of a message (such as {"type": "text", "text": "…"})`},
	} {
		_, err := parse(tc.file, []byte(tc.text))
		var faults plan.Faults
		if !errors.As(err, &faults) {
			t.Errorf("%q gives %v, want faults", tc.text, err)
			continue
		}
		if diff := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), err.Error()); diff != "" {
			t.Errorf("%s:\n%s", tc.text, diff)
		}
	}
}

func TestManyFaultsAreCounted(t *testing.T) {
	_, err := parse("p.jsonl", bytes.Repeat([]byte("{}\n"), 1000))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != mostFaults+1 || lines[mostFaults] != "p.jsonl: and 980 more faults" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}

func TestOrderAndLengths(t *testing.T) {
	d := plan.Data{File: "p.jsonl", Output: plan.Length{Dist: plan.DistFixed, Mean: 30}}
	s := source(t, d, `{"prompt": "a", "osl": 5}`+"\n"+`{"prompt": "b"}`+"\n"+`{"prompt": "c"}`)
	read := func(stage uint64, n int) string {
		var out strings.Builder
		for _, p := range prompttest.TakeAt(t, s, prompt.Position{Stage: stage}, n) {
			fmt.Fprintf(&out, "%s%d ", p.Text, p.Output)
		}
		return out.String()
	}
	if got, want := read(0, 7), "a5 b30 c30 a5 b30 c30 a5 "; got != want {
		t.Errorf("prompts are %s, want %s", got, want)
	}
	s.SetStage(1)
	if got, want := read(1, 2), "a5 b30 "; got != want {
		t.Errorf("the second stage begins with %s, want %s", got, want)
	}
	d.Prompts, d.Output = 2, plan.Length{}
	s = source(t, d, `{"prompt": "a", "osl": 5}`+"\n"+`{"prompt": "b"}`+"\n"+`{"prompt": "c"}`)
	if got, want := read(0, 4), "a5 b0 a5 b0 "; got != want {
		t.Errorf("two of three prompts are %s, want %s", got, want)
	}
}

func TestSaltGoesInFrontOfTheFirstMessage(t *testing.T) {
	d := plan.Data{File: "p.jsonl", Salt: plan.SaltRequest}
	s := source(t, d, `{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]}`)
	list := prompttest.FirstPrompts(t, s, 2)
	a, b := list[0], list[1]
	word, rest, _ := strings.Cut(a.Messages[0].Content, " ")
	if len(word) != 13 || rest != "s" || a.Messages[1].Content != "u" || a.Tokens != 3 {
		t.Errorf("salted chat: %+v", a)
	}
	if a.Hash == b.Hash || a.Messages[0].Content == b.Messages[0].Content {
		t.Error("two requests have the same salt")
	}
	if s.chats[0].prompt.Messages[0].Content != "s" {
		t.Error("the salt stays in the source")
	}
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	_, err := New(plan.Data{File: "p.txt"}, token.Words{}, 1, func(name string) ([]byte, error) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	})
	want := "data.file: open p.txt: file does not exist (it must be a readable file of prompts)"
	if err == nil || err.Error() != want {
		t.Errorf("a missing file: %v\nwant %s", err, want)
	}
	_, err = New(plan.Data{File: "p.txt", Prompts: 5}, token.Words{}, 1, with("a\nb\n"))
	want = "p.txt: data.prompts: 5 prompts are asked for and the file has 2 (leave data.prompts out to use all of them)"
	if err == nil || err.Error() != want {
		t.Errorf("too few prompts: %v\nwant %s", err, want)
	}
	if _, err := New(plan.Data{File: "p.jsonl"}, token.Words{}, 1, with("{")); err == nil {
		t.Error("a broken file is taken")
	}
}

func TestHugeLine(t *testing.T) {
	long := strings.Repeat("word ", 1<<20)
	got, err := parse("p.jsonl", []byte(`{"prompt": "`+long+`", "osl": 3}`))
	if err != nil || len(got) != 1 || got[0].prompt.Text != long || got[0].prompt.Output != 3 {
		t.Errorf("a line of 5 MB: %d prompts, %v", len(got), err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"one\ntwo\r\n\n", "{\"prompt\": \"a\", \"osl\": 3}\n", "\ufeff{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}]}",
		"[1]", "{\"prompt\":1}\n{\"text\":\"\\ud800\"}", "\xff\xfe", "{\"input\":\"x\"}{", "{\"max_tokens\":1e3,\"text_input\":\" x\"}",
		"{\"prompt\":\"a\",\"session_id\":\"s\",\"timestamp\":2.5}\n{\"prompt\":\"b\",\"session_id\":\"s\",\"delay\":10}\n{\"prompt\":\"c\",\"model\":\"m\"}",
	} {
		f.Add("p.jsonl", []byte(s))
		f.Add("p.txt", []byte(s))
		f.Add("p", []byte(s))
	}
	mutate.Fuzz(f, func(t *testing.T, name string, data []byte) {
		prompts, err := parse(name, data)
		if (err == nil) != (len(prompts) > 0) {
			t.Fatalf("%d prompts and %v", len(prompts), err)
		}
		for i, c := range prompts {
			p := c.prompt
			if p.Output < 0 || (strings.TrimSpace(p.Text) == "") == (p.Messages == nil) {
				t.Fatalf("prompt %d: %+v", i, p)
			}
		}
	})
}

func parse(name string, data []byte) ([]chat, error) { return (&file{name: name}).read(data) }
