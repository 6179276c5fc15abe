package genaiperf

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/inferometer/inferometer/internal/remote/hub/hubtest"
	frontend "github.com/inferometer/inferometer/internal/tool/genaiperf/args"
)

// orcaRow and newsRow are rows of the two datasets.
type orcaRow struct {
	ID       string `parquet:"id"`
	System   string `parquet:"system_prompt"`
	Question string `parquet:"question"`
}

type newsRow struct {
	Article    string `parquet:"article"`
	Highlights string `parquet:"highlights"`
}

// A dataset comes from the hub, and from the cache the next time.
func TestDatasets(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	orca := write("orca.parquet", parquet.WriteFile(filepath.Join(dir, "orca.parquet"), []orcaRow{{"1", "", "one"}, {"2", "Be kind.", "two"}, {"3", "", "three"}}))
	news := write("news.parquet", parquet.WriteFile(filepath.Join(dir, "news.parquet"), []newsRow{{"one", "h"}, {"two", "h"}, {"three", "h"}}))
	h := hubtest.New(t)
	h.Add("datasets/Open-Orca/OpenOrca", strings.Repeat("2", 40), map[string]hubtest.FakeFile{"1M-GPT4-Augmented.parquet": {Data: orca, Large: true}})
	h.Add("datasets/abisee/cnn_dailymail", strings.Repeat("3", 40), map[string]hubtest.FakeFile{"3.0.0/test-00000-of-00001.parquet": {Data: news}})
	home := t.TempDir()
	online := func(name string) string { return map[string]string{"HF_ENDPOINT": h.URL, "HF_HOME": home}[name] }
	cached := func(name string) string { return map[string]string{"HF_HUB_OFFLINE": "1", "HF_HOME": home}[name] }
	const line = "-m m --service-kind openai --endpoint v1/chat/completions --tokenizer builtin:gpt2 --num-of-output-prompts 2 "
	make := func(args string, env func(string) string) ([]string, error) {
		a, err := frontend.Parser{}.Parse(strings.Fields(line + args))
		if err != nil {
			t.Fatal(err)
		}
		tt := &job{env: world(env, t.Output()), set: &a.Settings, plan: a.Plan}
		if err := tt.tokenizer(t.Context()); err != nil {
			t.Fatal(err)
		}
		err = tt.makeEntries(t.Context())
		var texts []string
		for _, e := range tt.entries {
			texts = append(texts, tt.said(&e.prompt))
		}
		return texts, err
	}
	for _, tt := range []struct{ args, want string }{
		{"--dataset openorca", "one|Be kind. two"},
		{"--input-type url", "one|Be kind. two"},
		{"--dataset cnn_dailymail", "one|two"},
		{"--input-data " + filepath.Join(dir, "orca.parquet"), "one|Be kind. two"},
		{"--input-data " + filepath.Join(dir, "news.parquet"), "one|two"},
	} {
		for _, env := range []func(string) string{online, cached} {
			got, err := make(tt.args, env)
			if err != nil || strings.Join(got, "|") != tt.want {
				t.Errorf("%s: %q, %v, want %s", tt.args, got, err, tt.want)
			}
		}
	}
	_, err := make("--dataset openorca", offline)
	if err == nil || !strings.Contains(err.Error(), "name the file (data.dataset.path, or --input-file)") {
		t.Errorf("offline: %v", err)
	}
}

func TestPromptsOfFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"lines.jsonl":   "{\"text\":\"one\"}\n{\"text_input\":\"two\"}\n",
		"texts.json":    `["one", "two"]`,
		"analyzer.json": `{"data":[{"text_input":["one"],"max_tokens":[5]},{"payload":[{"messages":[{"role":"user","content":"two"}]}]}]}`,
		"orca.json":     `{"rows":[{"row":{"id":"1","system_prompt":"","question":"one","response":"r"}},{"row":{"system_prompt":"","question":"two"}}]}`,
		"orca.jsonl":    `{"id":"1","system_prompt":"","question":"one"}` + "\n" + `{"system_prompt":"","question":"two"}`,
		"cnn.json":      `{"rows":[{"row":{"article":"one","highlights":"h","id":"x"}},{"row":{"article":"two"}}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		a, err := frontend.Parser{}.Parse(strings.Fields("-m m --service-kind openai --endpoint v1/chat/completions --tokenizer builtin:gpt2 --input-data " + filepath.Join(dir, name)))
		if err != nil {
			t.Fatal(err)
		}
		tt := &job{env: world(offline, t.Output()), set: &a.Settings, plan: a.Plan}
		if err := tt.tokenizer(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := tt.makeEntries(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var texts []string
		for _, e := range tt.entries {
			texts = append(texts, tt.said(&e.prompt))
		}
		if !slices.Equal(texts, []string{"one", "two"}) {
			t.Errorf("%s: %q", name, texts)
		}
	}
}

// What a run sent can be sent again: its inputs are a file of requests.
func TestInputsOfAnotherRun(t *testing.T) {
	s := serve(t, nil)
	first := parse(t, s, t.TempDir(), strings.Fields("profile -m gpt2 --endpoint-type chat --osl 3 --isl 10 --num-prompts 3 --tokenizer builtin:gpt2 --extra-inputs temperature:0.5")...)
	profile(t, first, world(offline, t.Output()))
	name := filepath.Join(first.Settings.Dir, "inputs.json")
	second := parse(t, s, t.TempDir(), append(strings.Fields("profile -m gpt2 --endpoint-type chat --tokenizer builtin:gpt2 --input-file"), name)...)
	profile(t, second, world(offline, t.Output()))
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(second.Settings.Dir, "inputs.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
}

// Texts that do not fill a batch go with the first ones: none is left out.
func TestBatchesOfAFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "texts.jsonl")
	if err := os.WriteFile(file, []byte(`{"text": "first"}`+"\n"+`{"text": "second"}`+"\n"+`{"text": "third"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := parse(t, serve(t, nil), dir, strings.Fields("profile -m m --endpoint-type embeddings --batch-size-text 2 --request-count 3 --tokenizer builtin:gpt2 --input-file "+file)...)
	profile(t, a, world(offline, t.Output()))
	text, err := os.ReadFile(filepath.Join(a.Settings.Dir, "inputs.json"))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(string(text)), "")
	for _, want := range []string{`"input":["first","second"]`, `"input":["third","first"]`, `"input":["second","third"]`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
}
