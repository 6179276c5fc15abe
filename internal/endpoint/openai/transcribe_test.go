package openai

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/endpoint/decodetest"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

func TestForms(t *testing.T) {
	target := plan.Default().Target
	target.Endpoint, target.Model = plan.EndpointTranscriptions, "m"
	target.Body = map[string]any{"language": "en", "temperature": 0, "stream_include_usage": nil}
	e, err := newFormEncoder(target)
	if err != nil {
		t.Fatal(err)
	}
	sound := prompt.Part{Kind: prompt.Audio, Type: "audio/wav", Data: []byte("RIFF")}
	p := prompt.Prompt{Text: "unsent", Parts: []prompt.Part{{Text: "unsent"}, sound}, Output: 3, Fields: []prompt.Field{{Name: "prompt", Value: []byte(`"so"`)}}}
	got, err := e.encode(&p)
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	for part := range strings.SplitSeq(string(got), "--"+boundary) {
		fields = append(fields, strings.ReplaceAll(strings.Trim(part, "\r\n"), "\r\n", "|"))
	}
	want := []string{"", `Content-Disposition: form-data; name="language"||en`, `Content-Disposition: form-data; name="stream"||true`,
		`Content-Disposition: form-data; name="temperature"||0`, `Content-Disposition: form-data; name="model"||m`,
		`Content-Disposition: form-data; name="max_completion_tokens"||3`, `Content-Disposition: form-data; name="prompt"||so`,
		`Content-Disposition: form-data; name="file"; filename="audio.wav"|Content-Type: audio/wav||RIFF`, "--"}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Error(diff)
	}
	if _, err := e.encode(&prompt.Prompt{Text: "x"}); err == nil {
		t.Error("a form without a sound")
	}
	target.Body = map[string]any{"file": "x"}
	if _, err := newFormEncoder(target); err == nil {
		t.Error("the sound could be replaced")
	}
}

func TestTranscriptions(t *testing.T) {
	const usage = `"usage":{"type":"tokens","input_tokens":7,"output_tokens":2}`
	in := record.Tokens{N: 7, Source: record.FromServer, Local: 3}
	uncounted := record.Tokens{Local: -1}
	out := func(n int, source record.Source) record.Tokens { return record.Tokens{N: n, Source: source, Local: -1} }
	delta := func(text string) string {
		return `data: {"type":"transcript.text.delta","delta":"` + text + `","logprobs":[]}` + "\n\n"
	}
	for name, c := range map[string]struct {
		body string
		want decodetest.Decoded
	}{
		"OpenAI": {delta("a") + delta(" b") + `data: {"type":"transcript.text.done","text":"a b",` + usage + "}\n\n",
			decodetest.Decoded{Labels: "content content finish", Texts: []string{"a", " b"}, Tokens: []int{1, 1}, Finish: "stop", In: in, Out: out(2, record.FromServer), Cached: -1}},
		"vLLM": {`data: {"object":"transcription.chunk","choices":[{"delta":{"content":"a"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":" b"},"finish_reason":"stop"}]}` + "\n\n" +
			`data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}` + "\n\ndata: [DONE]\n\n",
			decodetest.Decoded{Labels: "content content usage done", Texts: []string{"a", " b"}, Tokens: []int{1, 1}, Finish: "stop", In: in, Out: out(2, record.FromServer), Cached: -1}},
		"cut off": {delta("a"),
			decodetest.Decoded{Labels: "content", Texts: []string{"a"}, Tokens: []int{1}, In: uncounted, Out: out(1, record.FromEvents), Cached: -1, Failure: "truncated: the stream ends after 1 events without a finish reason or [DONE]"}},
		"one piece": {`{"text":"a b",` + usage + `}`,
			decodetest.Decoded{Labels: "whole", Texts: []string{"a b"}, Tokens: []int{2}, In: in, Out: out(2, record.FromServer), Cached: -1}},
		"Whisper": {`{"text":"a b c","usage":{"type":"duration","seconds":2}}`,
			decodetest.Decoded{Labels: "whole", Texts: []string{"a b c"}, Tokens: []int{3}, In: uncounted, Out: out(3, record.FromTokenizer), Cached: -1}},
		"silence": {`{"text":""}`,
			decodetest.Decoded{Labels: "whole", Texts: []string{""}, Tokens: []int{0}, In: uncounted, Out: out(0, record.FromTokenizer), Cached: -1}},
		"no text": {`{"x":1}`,
			decodetest.Decoded{In: uncounted, Out: uncounted, Cached: -1, Failure: `bad_body: the response has no text: {"x":1}`}},
		"an error": {`{"error":{"message":"boom"}}`,
			decodetest.Decoded{Labels: "error", In: record.Tokens{N: 3, Source: record.FromTokenizer, Local: 3}, Out: uncounted, Cached: -1, Failure: "stream_error: boom"}},
	} {
		rec := decodetest.Answered(c.body)
		NewDecoder(Transcriptions, decodetest.Words{}, false).Decode(rec)
		if diff := cmp.Diff(c.want, decodetest.Summarise(rec)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
