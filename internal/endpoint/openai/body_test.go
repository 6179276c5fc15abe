package openai

import (
	"testing"

	"inferometer/internal/plan"
	"inferometer/internal/prompt"
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
		{prompt.Prompt{Body: []byte(`{"any":"thing"}`), Model: "x", Output: 9}, `{"any":"thing"}`},
	} {
		if got := string(e.encode(&tt.prompt)); got != tt.want {
			t.Errorf("%s\nwant\n%s", got, tt.want)
		}
	}
	e, err = newBodyEncoder(Completions, plan.Target{Model: "base", Body: map[string]any{"model": nil}}, plan.Data{})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(e.encode(&prompt.Prompt{Text: "hi"})); got != `{"prompt":"hi"}` {
		t.Errorf("without a model: %s", got)
	}
}
