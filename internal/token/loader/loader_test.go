package loader

import (
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/remote/hub"
	"github.com/inferometer/inferometer/internal/remote/hub/hubtest"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/chat"
)

// unpack is the content of a compressed file of another package's testdata.
func unpack(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const (
	small = "../filetest/testdata/"
	train = "../testdata/"
)

// write puts files into a new directory.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// pairFiles is a vocabulary of three tokens.
func pairFiles() (vocab, merges string) {
	return `{"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3}`, "#version: 0.2\na b\n"
}

func finder(extra ...string) Finder {
	env := map[string]string{"HF_HUB_OFFLINE": "1", "HF_HOME": "/nonexistent"}
	for i := 0; i < len(extra); i += 2 {
		env[extra[i]] = extra[i+1]
	}
	return Finder{Env: func(name string) string { return env[name] }}
}

func TestFilesAndDirectories(t *testing.T) {
	vocab, merges := pairFiles()
	bpeJSON, tekkenJSON, model := unpack(t, train+"gpt2.json.gz"), unpack(t, small+"small.json.gz"), unpack(t, small+"bpe.model.gz")
	for _, tc := range []struct {
		what  string
		files map[string]string
		open  string
		read  []string
	}{
		{"tokenizer.json", map[string]string{"tokenizer.json": bpeJSON}, "tokenizer.json", []string{"tokenizer.json"}},
		{"under another name", map[string]string{"x.json": bpeJSON}, "x.json", []string{"x.json"}},
		{"directory", map[string]string{"tokenizer.json": bpeJSON, "tekken.json": "{", "tokenizer_config.json": "{}"}, "", []string{"tokenizer.json", "tokenizer_config.json"}},
		{"tekken.json", map[string]string{"tekken.json": tekkenJSON}, "tekken.json", []string{"tekken.json"}},
		{"directory of tekken", map[string]string{"tekken.json": tekkenJSON, "params.json": "{}"}, "", []string{"tekken.json"}},
		{"SentencePiece", map[string]string{"m.model": model}, "m.model", []string{"m.model"}},
		{"SentencePiece by content", map[string]string{"tokenizer.model.v3": model}, "tokenizer.model.v3", []string{"tokenizer.model.v3"}},
		{"directory of SentencePiece", map[string]string{"tokenizer.model": model}, "", []string{"tokenizer.model"}},
		{"vocab.json", map[string]string{"vocab.json": vocab, "merges.txt": merges}, "vocab.json", []string{"vocab.json", "merges.txt"}},
		{"merges.txt", map[string]string{"vocab.json": vocab, "merges.txt": merges}, "merges.txt", []string{"merges.txt", "merges.txt"}},
		{"directory of a pair", map[string]string{"vocab.json": vocab, "merges.txt": merges}, "", []string{"vocab.json", "merges.txt"}},
	} {
		t.Run(tc.what, func(t *testing.T) {
			dir := write(t, tc.files)
			name := filepath.Join(dir, tc.open)
			found, err := finder().Find(t.Context(), name, "")
			if err != nil {
				t.Fatal(err)
			}
			if found.Tokenizer.Name() != name {
				t.Errorf("it is called %q", found.Tokenizer.Name())
			}
			var read []string
			for _, f := range found.Files {
				read = append(read, filepath.Base(f))
			}
			if !slices.Equal(read, tc.read) {
				t.Errorf("read %v, want %v", read, tc.read)
			}
			if n := found.Tokenizer.Count("ab"); n < 1 || n > 3 {
				t.Errorf("%d tokens", n)
			}
		})
	}
}

func TestBuiltin(t *testing.T) {
	for _, name := range []string{token.Builtin, "words"} {
		found, err := finder().Find(t.Context(), name, "")
		if err != nil || found.Tokenizer.Name() != name || len(found.Files) > 0 || found.Chat == nil {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}

func TestFaults(t *testing.T) {
	vocab, _ := pairFiles()
	dir := write(t, map[string]string{
		"x.json": "{\"tokens\": []}", "v.json": vocab, "bad.json": `{"model": `, "lfs.model": "version https://git-lfs.github.com/spec/v1\n", "noise": "?", "few.tiktoken": "AA== 0\n",
	})
	empty := t.TempDir()
	half := write(t, map[string]string{"vocab.json": vocab})
	config := write(t, map[string]string{"tokenizer_config.json": "{"})
	for _, tc := range []struct{ name, want string }{
		{"", "no tokenizer given: name a tokenizer.json, tekken.json"},
		{"builtin:gpt3", "there is only builtin:gpt2"},
		{filepath.Join(dir, "none.json"), "no such file or directory; name a tokenizer.json"},
		{"./org/name/x", "no such file or directory"},
		{"missing.tiktoken", "no such file or directory"},
		{empty, "has no tokenizer (looked for tokenizer.json, tekken.json, tokenizer.model, spiece.model, vocab.json, qwen.tiktoken, tiktoken.model)"},
		{half, "vocab.json with merges.txt"},
		{config, "tokenizer_config.json"},
		{filepath.Join(dir, "x.json"), "is not a known kind of tokenizer file"},
		{filepath.Join(dir, "v.json"), "name it vocab.json and put its merges.txt next to it"},
		{filepath.Join(dir, "bad.json"), "bad.json"},
		{filepath.Join(dir, "lfs.model"), "run git lfs pull"},
		{filepath.Join(dir, "noise"), "is not a known kind of tokenizer file"},
		{filepath.Join(dir, "few.tiktoken"), "no known encoding has 1 ranks"},
		{"org/name", "model org/name at revision main is not in the local cache, and HF_HUB_OFFLINE forbids"},
		{"org/name", "there is no local file or directory org/name, so the hub was searched"},
	} {
		_, err := finder().Find(t.Context(), tc.name, "")
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v; want %q", tc.name, err, tc.want)
		}
	}
}

const commit = "0123456789012345678901234567890123456789"

func TestHub(t *testing.T) {
	s := hubtest.New(t)
	bpeJSON := unpack(t, train+"gpt2.json.gz")
	s.Add("org/new", commit, map[string]hubtest.FakeFile{
		"tokenizer.json":          {Data: bpeJSON, Large: true},
		"tokenizer_config.json":   {Data: `{"bos_token": "<s>", "chat_template": "old"}`},
		"special_tokens_map.json": {Data: `{"bos_token": "no", "eos_token": {"content": "</s>"}}`},
		"chat_template.jinja":     {Data: "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}"},
	})
	s.Add("org/sp", commit, map[string]hubtest.FakeFile{
		"tokenizer.model":       {Data: unpack(t, small+"bpe.model.gz"), Large: true},
		"tokenizer_config.json": {Data: `{"add_bos_token": false, "add_eos_token": true}`},
		"chat_template.json":    {Data: `{"chat_template": "{{ 1 }}"}`},
	})
	s.Add("org/weights", commit, map[string]hubtest.FakeFile{"model.safetensors": {Data: "x"}})
	home := t.TempDir()
	online := finder("HF_ENDPOINT", s.URL, "HF_HOME", home, "HF_HUB_OFFLINE", "0")
	found, err := online.Find(t.Context(), "org/new", "main")
	if err != nil {
		t.Fatal(err)
	}
	if found.Tokenizer.Name() != "org/new" {
		t.Errorf("it is called %q", found.Tokenizer.Name())
	}
	tmpl, err := found.Chat.Template("", false)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tmpl.Render([]chat.Message{chat.NewMessage("user", "hi")}, chat.Options{Special: found.Chat.Special})
	if err != nil || got != "<s>hi</s>" {
		t.Errorf("rendered %q, %v", got, err)
	}

	sp, err := online.Find(t.Context(), "org/sp", "")
	if err != nil {
		t.Fatal(err)
	}
	ids := sp.Tokenizer.(*token.Pipeline).Encode("a", true)
	if ids[0] == 1 || ids[len(ids)-1] != 2 {
		t.Errorf("ids %v; the configuration asks for no beginning and an end", ids)
	}
	if sp.Chat.Templates[chat.DefaultTemplate] != "{{ 1 }}" {
		t.Errorf("templates %v", sp.Chat.Templates)
	}

	_, err = online.Find(t.Context(), "org/weights", "")
	if err == nil || !strings.Contains(err.Error(), "looked for tokenizer.json, tekken.json") {
		t.Errorf("got %v", err)
	}
	if _, err := online.Find(t.Context(), "org/none", ""); !errors.Is(err, hub.ErrNoRepo) {
		t.Errorf("got %v", err)
	}
	if _, err := online.Find(t.Context(), "org/new", "v2"); !errors.Is(err, hub.ErrNoRevision) {
		t.Errorf("got %v", err)
	}

	// What is in the cache serves without the hub.
	s.Asked()
	offline := finder("HF_HOME", home)
	for _, name := range []string{"org/new", "org/sp"} {
		if _, err := offline.Find(t.Context(), name, ""); err != nil {
			t.Error(err)
		}
	}
	gone := finder("HF_HOME", home, "HF_HUB_OFFLINE", "", "HF_ENDPOINT", "http://127.0.0.1:1")
	if _, err := gone.Find(t.Context(), "org/new", ""); err != nil {
		t.Error(err)
	}
	if asked := s.Asked(); len(asked) > 0 {
		t.Errorf("the hub was asked for %v", asked)
	}
}

// ranks50k is a rank file with as many ranks as p50k_base and p50k_edit have.
func ranks50k() string {
	var b strings.Builder
	for i := range 50280 {
		text := []byte{byte(i)}
		if i >= 256 {
			text = []byte{byte((i - 256) >> 8), byte(i - 256)}
		}
		id := i
		if i >= 50256 {
			id++ // which is a special token
		}
		fmt.Fprintf(&b, "%s %d\n", base64.StdEncoding.EncodeToString(text), id)
	}
	return b.String()
}

// TestNamesOfRanks: special tokens of a rank file are those of the model's configuration.
func TestNamesOfRanks(t *testing.T) {
	dir := write(t, map[string]string{
		"tiktoken.model":        ranks50k(),
		"tokenizer_config.json": `{"added_tokens_decoder": {"50256": {"content": "<|stop|>", "special": true}, "50290": {"content": "<|new|>"}, "x": {}, "7": {"content": "no"}}}`,
	})
	found, err := finder().Find(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if ids := found.Tokenizer.(*token.Pipeline).Encode("<|stop|><|new|>", false); !slices.Equal(ids, []int32{50256, 50290}) {
		t.Errorf("ids %v", ids)
	}
	if ids := found.Tokenizer.(*token.Pipeline).Encode("<|endoftext|>", false); len(ids) == 1 {
		t.Errorf("the name that the model does not use is one token: %v", ids)
	}
}

// TestEncodingOfRanks has two encodings with the same number of ranks, which differ in
// their special tokens.
func TestEncodingOfRanks(t *testing.T) {
	data := ranks50k()
	dir := write(t, map[string]string{
		"x.tiktoken": data, "p50k_edit.tiktoken": data, "o200k_harmony.tiktoken": data, "odd#name.tiktoken": data,
		"tokenizer.json": unpack(t, train+"gpt2.json.gz"),
	})
	const special = "<|fim_prefix|>"
	for name, edit := range map[string]bool{
		"x.tiktoken":                   false,
		"x.tiktoken#p50k_edit":         true,
		"x.tiktoken#p50k_base":         false,
		"p50k_edit.tiktoken":           true,
		"p50k_edit.tiktoken#p50k_base": false,
		"o200k_harmony.tiktoken":       false, // has another number of ranks
		"odd#name.tiktoken":            false,
		"odd#name.tiktoken#p50k_edit":  true,
	} {
		found, err := finder().Find(t.Context(), filepath.Join(dir, name), "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n := found.Tokenizer.Count(special); (n == 1) != edit {
			t.Errorf("%s: %s has %d tokens", name, special, n)
		}
		if got := found.Tokenizer.Name(); got != filepath.Join(dir, name) {
			t.Errorf("%s is called %s", name, got)
		}
	}
	for name, want := range map[string]string{
		"x.tiktoken#o200k_harmony": "it has 50280 ranks; the encoding o200k_harmony has 199998",
		"x.tiktoken#harmony":       `unknown encoding "harmony"; known: r50k_base`,
		"tokenizer.json#p50k_edit": "is not a rank file",
		"none.tiktoken#p50k_edit":  "no such file",
		"owner/name#p50k_edit":     "no such file",
		"#p50k_edit":               "is not a rank file",
		"x.tiktoken#":              "no such file",
	} {
		if _, err := finder().Find(t.Context(), filepath.Join(dir, name), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", name, err, want)
		}
	}
}
