package registry

import (
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/chat"
	"github.com/inferometer/inferometer/internal/token/loader"
)

// templateOptions are what a server renders the chat template with, given the fields that
// the plan adds to every body.
func templateOptions(p *plan.Plan, found *loader.Found) chat.Options {
	o := chat.Options{Special: found.Chat.Special, AddGenerationPrompt: true}
	if add, ok := p.Target.Body["add_generation_prompt"].(bool); ok {
		o.AddGenerationPrompt = add
	}
	if on, ok := p.Target.Body["continue_final_message"].(bool); ok && on {
		o.ContinueFinalMessage, o.AddGenerationPrompt = true, false
	}
	o.Extra, _ = p.Target.Body["chat_template_kwargs"].(map[string]any)
	return o
}

// specials is how many special tokens a server puts around the text of a completion.
func specials(p *plan.Plan, found *loader.Found) int {
	add, given := p.Target.Body["add_special_tokens"].(bool)
	e, ok := found.Tokenizer.(*token.Pipeline)
	if !ok || given && !add || p.Data.TokenIDs ||
		p.Target.Endpoint != plan.EndpointCompletions || p.Target.Protocol != plan.ProtocolOpenAI || p.Target.Shaped() {
		return 0
	}
	return len(e.Encode("", true))
}
