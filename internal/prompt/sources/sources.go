// Package sources is the table of the sources of prompts that are built in.
package sources

import (
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/agents"
	"github.com/inferometer/inferometer/internal/prompt/conversations"
	"github.com/inferometer/inferometer/internal/prompt/dataset"
	"github.com/inferometer/inferometer/internal/prompt/mockdata"
	"github.com/inferometer/inferometer/internal/prompt/oteltrace"
	"github.com/inferometer/inferometer/internal/prompt/promptfile"
	"github.com/inferometer/inferometer/internal/prompt/random"
	"github.com/inferometer/inferometer/internal/prompt/sessions"
	"github.com/inferometer/inferometer/internal/prompt/sharedprefix"
	"github.com/inferometer/inferometer/internal/prompt/synthetic"
	"github.com/inferometer/inferometer/internal/prompt/tensordata"
	"github.com/inferometer/inferometer/internal/prompt/trace"
	"github.com/inferometer/inferometer/internal/prompt/vllmdata"
	"github.com/inferometer/inferometer/internal/prompt/wekatrace"
)

// All make the built-in sources, by their names in a plan. getenv looks up the hub's settings.
func All(getenv func(string) string) map[string]prompt.Factory {
	return map[string]prompt.Factory{
		plan.SourceSynthetic:          plain(synthetic.New),
		plan.SourceFile:               reading(promptfile.New),
		plan.SourceTensors:            tensors,
		plan.SourceRandom:             reading(random.New),
		plan.SourceSharedPrefix:       plain(sharedprefix.New),
		plan.SourceConversationReplay: plain(conversations.New),
		plan.SourceDataset:            datasets(getenv),
		plan.SourceOtelTrace:          fetching(oteltrace.New, getenv),
		plan.SourceWekaTrace:          fetching(wekatrace.New, getenv),
		plan.SourceAgents:             seedless(agents.New),
		plan.SourcePayload:            payload,
		plan.SourceSessions:           newSessions,
		plan.SourceTrace:              traces(getenv),
		plan.SourceMock:               mock,
		plan.SourceVLLM:               plain(vllmdata.New),
	}
}

func plain[S prompt.Source](construct func(plan.Data, prompt.Tokenizer, uint64) (S, error)) prompt.Factory {
	return func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
		return construct(d, tok, seed)
	}
}

// reading is plain for sources that read the plan's files.
func reading[S prompt.Source](construct func(plan.Data, prompt.Tokenizer, uint64, func(string) ([]byte, error)) (S, error)) prompt.Factory {
	return func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
		return construct(d, tok, seed, prompt.Files(d).ReadFile)
	}
}

// fetching is plain for sources that fetch from the hub.
func fetching[S prompt.Source](construct func(plan.Data, prompt.Tokenizer, uint64, func(string) string) (S, error),
	getenv func(string) string) prompt.Factory {
	return func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
		return construct(d, tok, seed, getenv)
	}
}

// datasets reads data sets, and files of prompts where a file that is to be recognised is one.
func datasets(getenv func(string) string) prompt.Factory {
	known := fetching(dataset.New, getenv)
	return func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
		if !dataset.HasPrompts(d) {
			return known(d, tok, seed)
		}
		d.File = d.Dataset.Path
		return promptfile.New(d, tok, seed, prompt.Files(d).ReadFile)
	}
}

// seedless is plain for sources whose seed is in the plan's data.
func seedless[S prompt.Source](construct func(plan.Data, prompt.Tokenizer) (S, error)) prompt.Factory {
	return func(d plan.Data, tok prompt.Tokenizer, _ uint64) (prompt.Source, error) {
		return construct(d, tok)
	}
}

func tensors(d plan.Data, _ prompt.Tokenizer, seed uint64) (prompt.Source, error) {
	return tensordata.New(d, seed)
}

func payload(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
	return sessions.NewPayload(d, tok, seed, plain(synthetic.New), prompt.Files(d).ReadFile)
}

func traces(getenv func(string) string) prompt.Factory {
	kit := trace.Kit{Texts: plain(synthetic.New), Weka: fetching(wekatrace.New, getenv), Otel: fetching(oteltrace.New, getenv)}
	return func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
		return trace.New(d, tok, seed, kit)
	}
}

func newSessions(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
	return sessions.NewSessions(d, tok, seed, plain(synthetic.New))
}

func mock(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
	return mockdata.New(d, tok, seed), nil
}
