package run

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
)

// TestTokenizerNotes runs with a tokenizer whose file has settings without effect, and
// whose expression takes for ever on what the server answers.
func TestTokenizerNotes(t *testing.T) {
	s := serve(t, nil)
	file := filepath.Join(t.TempDir(), "tokenizer.json")
	err := os.WriteFile(file, []byte(`{"truncation":{"max_length":3},"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(?=(?:[a-z ]|[a-z ]|[a-z ][a-z ]?)*€)a"},"behavior":"Isolated","invert":false},
		"model":{"type":"WordLevel","unk_token":"u","vocab":{"u":0,"a":1}}}`), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	prompts := filepath.Join(t.TempDir(), "prompts.txt")
	if err := os.WriteFile(prompts, []byte(strings.Repeat("a ", 40)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := closedPlan(t, s.url, 1, 2)
	p.Tokenizer.Name = file
	p.Data.Source, p.Data.File = "file", prompts
	var log bytes.Buffer
	if _, err := Run(t.Context(), p, options(&log)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"its truncation setting is not applied", "warning: the tokenizer " + file + " failed on a text", "such texts count as 0 tokens"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not in the log:\n%s", want, log.String())
		}
	}
}

// TestExactLengths asks for prompts of a length and names no tokenizer: the model's own is taken from
// where it is, else the server is asked, else the verdict says how far prompts are off.
func TestExactLengths(t *testing.T) {
	const asked = 200
	lengths := func(t *testing.T, url string, bend func(p *plan.Plan)) (*plan.Plan, []int64, string) {
		p := closedPlan(t, url, 2, 20)
		p.Data.Input.Mean, p.Tokenizer.Find = asked, true
		p.Target.Model = "mock"
		bend(p)
		var log bytes.Buffer
		if _, err := Run(t.Context(), p, options(&log)); err != nil {
			t.Fatal(err)
		}
		var counted []int64
		for _, r := range readKept(t, p.Output.Dir).recs {
			counted = append(counted, int64(r.In.N))
		}
		return p, counted, log.String()
	}
	t.Run("the server's", func(t *testing.T) {
		p, counted, log := lengths(t, serve(t, nil).url, func(*plan.Plan) {})
		for _, n := range counted {
			if n != asked {
				t.Errorf("a prompt has %d tokens by the server's count, want %d", n, asked)
			}
		}
		if p.Tokenizer.Name != plan.TokenizerServer || !strings.Contains(log, "the lengths that the server's /tokenize counts") {
			t.Errorf("tokenizer %q, log:\n%s", p.Tokenizer.Name, log)
		}
	})
	t.Run("the model's, here", func(t *testing.T) {
		dir := t.TempDir()
		file := `{"pre_tokenizer":{"type":"Whitespace"},"model":{"type":"WordLevel","unk_token":"u","vocab":{"u":0}}}`
		if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), []byte(file), 0o644); err != nil {
			t.Fatal(err)
		}
		server := serve(t, func(c *config.Server) { c.Models = []string{dir} })
		p, _, log := lengths(t, server.url, func(p *plan.Plan) { p.Target.Model = dir })
		if p.Tokenizer.Name != dir || !strings.Contains(log, "Prompts are made with the tokenizer of "+dir) {
			t.Errorf("tokenizer %q, log:\n%s", p.Tokenizer.Name, log)
		}
	})
	t.Run("nobody's", func(t *testing.T) {
		real, err := url.Parse(serve(t, nil).url)
		if err != nil {
			t.Fatal(err)
		}
		pass := httputil.NewSingleHostReverseProxy(real)
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/tokenize" {
				http.NotFound(w, r)
				return
			}
			pass.ServeHTTP(w, r)
		}))
		defer front.Close()
		p, counted, log := lengths(t, front.URL, func(*plan.Plan) {})
		if p.Tokenizer.Name != plan.TokenizerBuiltin || !strings.Contains(log, "prompt lengths are in GPT-2 tokens; name the model's with --tokenizer") {
			t.Errorf("tokenizer %q, log:\n%s", p.Tokenizer.Name, log)
		}
		if slices.Max(counted) > asked*95/100 {
			t.Errorf("the server, whose tokens are words, counts %v", counted)
		}
	})
}
