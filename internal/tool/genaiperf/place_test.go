package genaiperf

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
)

const earlyChat = "-m gpt2 --service-kind openai --endpoint v1/chat/completions --output-format openai_chat_completions --tokenizer builtin:gpt2 "

// A file of prompts is never written over.
func TestInputsAreKept(t *testing.T) {
	s := serve(t, nil)
	dir := t.TempDir()
	t.Chdir(dir)
	const mine = `["one", "two"]`
	if err := os.WriteFile("llm_inputs.json", []byte(mine), 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	profile(t, parse(t, s, "", strings.Fields(earlyChat+"--input-type file")...), world(offline, &log))
	text, err := os.ReadFile("llm_inputs.json")
	if err != nil || string(text) != mine || !strings.Contains(log.String(), "llm_inputs.json holds the prompts and is left as it is") {
		t.Errorf("%s, %v; the log:\n%s", text, err, log.String())
	}
	a := parse(t, s, "", strings.Fields(earlyChat+"--input-type file --profile-export-file mine.json --input-data mine.json")...)
	if err := os.WriteFile("mine.json", []byte(mine), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Profile(t.Context(), a, world(offline, t.Output())); err == nil || !strings.Contains(err.Error(), "mine.json holds the prompts") {
		t.Error(err)
	}
}

// A run that is being prepared can be stopped.
func TestStopWhilePreparing(t *testing.T) {
	s := serve(t, nil)
	env := world(offline, t.Output())
	stop := make(chan struct{})
	env.Stop = stop
	made := env.Kit.Sources[plan.SourceSynthetic]
	env.Kit.Sources[plan.SourceSynthetic] = func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
		inner, err := made(d, tok, seed)
		return &halting{Source: inner, stop: stop}, err
	}
	_, err := Profile(t.Context(), parse(t, s, t.TempDir(), strings.Fields("profile -m gpt2 --endpoint-type chat --isl 5 --tokenizer builtin:gpt2")...), env)
	var early *run.PrepareError
	if !errors.As(err, &early) || !errors.Is(err, errStopped) {
		t.Error(err)
	}
}

// halting is a source during whose second prompt the user stops the run.
type halting struct {
	prompt.Source
	stop chan struct{}
}

func (h *halting) Prompt(ctx context.Context, at prompt.Position) (prompt.Prompt, error) {
	if at.I == 1 {
		close(h.stop)
		<-ctx.Done()
	}
	return h.Source.Prompt(ctx, at)
}

// Other files of JSON beside a run are not taken for it, and several runs not for one.
func TestFilesBesideARun(t *testing.T) {
	s := serve(t, nil)
	dir := t.TempDir()
	env := world(offline, t.Output())
	a := parse(t, s, dir, strings.Fields(earlyChat+"--input-tokens-mean 60")...)
	profile(t, a, env)
	for name, text := range map[string]string{"a.json": `{"version": "1", "files": []}`, "b.json": "[1]", "c.json": "{", "package.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Report(t.Context(), dir, args.Settings{}, env); err != nil || !IsFolder(dir) {
		t.Errorf("with other files beside it: %v", err)
	}
	profile(t, parse(t, s, dir, strings.Fields(earlyChat+"--input-tokens-mean 60 --profile-export-file second.json")...), env)
	_, err := Report(t.Context(), dir, args.Settings{}, env)
	if err == nil || !strings.Contains(err.Error(), "several runs, with the profile exports profile_export.json, second.json") {
		t.Errorf("with two runs: %v", err)
	}
	if IsFolder(t.TempDir()) {
		t.Error("an empty directory is taken for a run")
	}
}
