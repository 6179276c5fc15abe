package openai

import (
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

func TestBodyOfAPromptWithItsOwnModel(t *testing.T) {
	e, err := newBodyEncoder(Completions, plan.Target{Model: "base", Body: map[string]any{"seed": 1, "zeta": true}}, plan.Data{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		prompt prompt.Prompt
		want   string
	}{
		{prompt.Prompt{Text: "hi", Output: 3}, `{"seed":1,"zeta":true,"model":"base","max_tokens":3,"prompt":"hi"}`},
		{prompt.Prompt{Text: "hi", Model: `an "adapter"`}, `{"seed":1,"zeta":true,"model":"an \"adapter\"","prompt":"hi"}`},
	} {
		if got := encoded(t, &e, &tt.prompt); got != tt.want {
			t.Errorf("%s\nwant\n%s", got, tt.want)
		}
	}
	e, err = newBodyEncoder(Completions, plan.Target{Model: "base", Body: map[string]any{"model": nil}}, plan.Data{})
	if err != nil {
		t.Fatal(err)
	}
	if got := encoded(t, &e, &prompt.Prompt{Text: "hi"}); got != `{"prompt":"hi"}` {
		t.Errorf("without a model: %s", got)
	}
}

func encoded(t *testing.T, e *bodyEncoder, p *prompt.Prompt) string {
	t.Helper()
	body, err := e.encode(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestBodyWithMedia(t *testing.T) {
	image := prompt.Part{Kind: prompt.Image, Type: "image/png", Data: []byte("abc")}
	parts := []prompt.Part{
		{Kind: prompt.Text, Text: "see "},
		image,
		{Kind: prompt.Audio, Type: "audio/wav", Data: []byte("wave")},
		{Kind: prompt.Video, Type: "video/mp4", Data: []byte("film")},
		{Kind: prompt.Image, URL: "http://x/y.png"},
		{Kind: prompt.Text, Text: `"this"`},
	}
	content := `[{"type":"text","text":"see "},{"type":"image_url","image_url":{"url":"data:image/png;base64,YWJj"}},` +
		`{"type":"input_audio","input_audio":{"data":"d2F2ZQ==","format":"wav"}},{"type":"video_url","video_url":{"url":"data:video/mp4;base64,ZmlsbQ=="}},` +
		`{"type":"image_url","image_url":{"url":"http://x/y.png"}},{"type":"text","text":"\"this\""}]`
	for _, tt := range []struct {
		kind   Kind
		prompt prompt.Prompt
		want   string
	}{
		{Chat, prompt.Prompt{Text: `see "this"`, Parts: parts}, `{"model":"m","messages":[{"role":"user","content":` + content + `}]}`},
		{Chat, prompt.Prompt{Messages: []prompt.Message{{Role: "system", Content: "s"}, {Role: "user", Content: `see "this"`, Parts: parts}}},
			`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":` + content + `}]}`},
		{Embeddings, prompt.Prompt{Texts: []string{"a", "b"}}, `{"model":"m","input":["a","b"]}`},
		{Embeddings, prompt.Prompt{Text: "a", Parts: []prompt.Part{{Text: "a"}, image}}, `{"model":"m","input":["a","data:image/png;base64,YWJj"]}`},
	} {
		e, err := newBodyEncoder(tt.kind, plan.Target{Model: "m"}, plan.Data{})
		if err != nil {
			t.Fatal(err)
		}
		if got := encoded(t, &e, &tt.prompt); got != tt.want {
			t.Errorf("%s\nwant\n%s", got, tt.want)
		}
	}
	e, err := newBodyEncoder(Completions, plan.Target{Model: "m"}, plan.Data{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.encode(&prompt.Prompt{Text: "see", Parts: parts}); err == nil {
		t.Error("completions took an image")
	}
}

// Fields of a prompt take the place of those of the run: no name stands twice in a body.
func TestFieldsOfAPromptWin(t *testing.T) {
	target := plan.Target{Endpoint: "chat", Model: "m", Body: map[string]any{"temperature": 1, "top_p": 0.5, "user": "me"}}
	e, err := newBodyEncoder(Chat, target, plan.Data{})
	if err != nil {
		t.Fatal(err)
	}
	p := &prompt.Prompt{Text: "x", Fields: []prompt.Field{{Name: "temperature", Value: []byte("0.25")}, {Name: "tools", Value: []byte("[]")}}}
	b, err := e.encode(p)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"top_p":0.5,"user":"me","temperature":0.25,"tools":[],"model":"m","messages":[{"role":"user","content":"x"}]}`
	if string(b) != want {
		t.Errorf("%s, want\n%s", b, want)
	}
}
