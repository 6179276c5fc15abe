package registry

import (
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/chat"
	"github.com/inferometer/inferometer/internal/token/loader"
)

// The template is rendered with what the requests ask the server for.
func TestTemplateOptions(t *testing.T) {
	template, err := chat.Parse(`{% for m in messages %}[{{ m.content }}]{% endfor %}{% if add_generation_prompt %}<a>{% if enable_thinking is false %}<no>{% endif %}{% endif %}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		body map[string]any
		want string
	}{
		{nil, "[one][two ]<a>"},
		{map[string]any{"chat_template_kwargs": map[string]any{"enable_thinking": false}}, "[one][two ]<a><no>"},
		{map[string]any{"add_generation_prompt": false}, "[one][two ]"},
		{map[string]any{"continue_final_message": true}, "[one][two "},
	} {
		p := &plan.Plan{Target: plan.Target{Body: tc.body}}
		got, err := template.Render([]chat.Message{chat.NewMessage("user", "one"), chat.NewMessage("assistant", "two ")}, templateOptions(p, &loader.Found{Chat: &chat.Config{}}))
		if err != nil || got != tc.want {
			t.Errorf("%v: %q, want %q: %v", tc.body, got, tc.want, err)
		}
	}
}

func TestSpecials(t *testing.T) {
	data := `{"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"s","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"s":{"id":"s","ids":[1],"tokens":["s"]}}},"model":{"type":"WordLevel","unk_token":"u","vocab":{"u":0,"s":1}}}`
	e, err := token.FromJSON("small", []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	found := &loader.Found{Tokenizer: e}
	completions := plan.Target{Protocol: plan.ProtocolOpenAI, Endpoint: plan.EndpointCompletions}
	without := completions
	without.Body = map[string]any{"add_special_tokens": false}
	for _, tc := range []struct {
		target plan.Target
		want   int
	}{{completions, 1}, {without, 0}, {plan.Target{Protocol: plan.ProtocolTriton, Endpoint: plan.EndpointCompletions}, 0}} {
		if got := specials(&plan.Plan{Target: tc.target}, found); got != tc.want {
			t.Errorf("%+v: %d, want %d", tc.target, got, tc.want)
		}
	}
}
