package genaiperf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// Images that a file names are sent where the endpoint type is about images. What is counted is
// the text, also where an image stands in it.
// differs: genai-image-tokens
func TestPicturesOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(file, []byte(`{"text":"one two","image":"https://h/a.png"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ endpoint, answer, body string }{
		{"chat", `{"object":"chat.completion","choices":[{"message":{"content":"a"}}]}`, `{"model":"gpt2","messages":[{"role":"user","content":"one two"}]}`},
		{"completions", `{"object":"text_completion","choices":[{"text":"a"}]}`, `{"model":"gpt2","prompt":["one two"]}`},
		{"embeddings", `{"object":"list","data":[{"index":0,"embedding":[1]}]}`, `{"model":"gpt2","input":["one two"]}`},
		{"multimodal", `{"object":"chat.completion","choices":[{"message":{"content":"a"}}]}`,
			`{"model":"gpt2","messages":[{"role":"user","content":[{"type":"text","text":"one two"},{"type":"image_url","image_url":{"url":"https://h/a.png"}}]}]}`},
		{"huggingface_generate", `[{"generated_text":"a"}]`, `{"model":"gpt2","inputs":"![](https://h/a.png) one two"}`},
	} {
		s := scripted(t, func(_ int, w write) { w(whole(tt.answer)) })
		line := "profile -m gpt2 --endpoint-type " + tt.endpoint + " --tokenizer builtin:gpt2 --request-count 2 --input-file " + file
		out := profile(t, parse(t, s.mockServer, t.TempDir(), strings.Fields(line)...), world(offline, t.Output()))
		if tt.endpoint != "embeddings" {
			if n := avg(t, out.Summary, dialect.InputSequenceLength); n != 2 {
				t.Errorf("%s: %v tokens, want 2", tt.endpoint, n)
			}
		}
		if got := s.seen[0].body; got != tt.body {
			t.Errorf("%s: %s, want %s", tt.endpoint, got, tt.body)
		}
	}
}
