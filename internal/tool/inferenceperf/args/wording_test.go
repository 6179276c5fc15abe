package args

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"inferometer/internal/plan"
)

func TestWording(t *testing.T) {
	for message, want := range map[string]string{
		"http://h lists no model: name one with --model":                     "http://h lists no model: name one with server.model_name",
		"401; say where its API key is with --api-key-env or --api-key-file": "401; give its API key in server.api_key",
		"--tokenizer names its tokenizer.":                                   "tokenizer.pretrained_model_name_or_path names its tokenizer.",
		"faster. data.salt or more distinct prompts keep it out.":            "faster. More distinct prompts keep it out.",
		"lower it, or make the warm-up or the stage longer.":                 "lower it, or make the stage longer.",
		"http://h is a Triton server: add --protocol triton":                 "http://h is a Triton server: this config has no words for it, `inferometer run --protocol triton` has",
		"nothing of it": "nothing of it",
		"get it elsewhere, and name the file (data.dataset.path, or --input-file)":             "get it elsewhere, and name the file (data.path)",
		"x509: unknown authority; --ca names certificates to trust, --insecure trusts any":     "x509: unknown authority; server.ca_path names certificates to trust, server.insecure trusts any",
		"tls: certificate required; --cert and --key name a client certificate":                "tls: certificate required; server.cert_path and server.key_path name a client certificate",
		"Only 50 % of the 20 requests were sent. Lower the rate, or raise max_in_flight (10).": "Only 50 % of the 20 requests were sent. Lower the rate, or raise load.num_workers or load.worker_max_concurrency (10).",
	} {
		if got := Wording(message); got != want {
			t.Errorf("%s:\n%s, want\n%s", message, got, want)
		}
		var log strings.Builder
		if n, err := fmt.Fprint(Worded(&log), message); n != len(message) || err != nil || log.String() != want {
			t.Errorf("%s: %d of it was written as %q, %v", message, n, &log, err)
		}
	}
}

// Errors speak of the config, and are what they were.
func TestLocatedIsWorded(t *testing.T) {
	a, err := parse(small)
	if err != nil {
		t.Fatal(err)
	}
	made := errors.New("name one with --model")
	fault := plan.Faults{{Path: "tokenizer.name", Text: "wrong", Hint: "see --tokenizer"}}
	got := a.Located(errors.Join(fmt.Errorf("asking: %w", made), fault))
	want := "asking: name one with server.model_name\nc.yml:1:1: tokenizer.pretrained_model_name_or_path: wrong (see tokenizer.pretrained_model_name_or_path)"
	if got.Error() != want || !errors.Is(got, made) {
		t.Errorf("%v, want\n%s", got, want)
	}
}

// TestNoNativeName: what a config of this tool can come to says none of the names that only
// the native command has.
func TestNoNativeName(t *testing.T) {
	name := regexp.MustCompile(`--[a-z][a-z-]+|\b(data|target|probes|output|tokenizer)\.[a-z_.]+[a-z]`)
	own := map[string]bool{"--protocol": true} // of a command that is shown as a whole
	for _, f := range flagsOf(root(), nil) {
		own[strings.TrimPrefix(f.name, "--")] = true
	}
	native := func(message string) bool {
		return slices.ContainsFunc(name.FindAllString(message, -1), func(found string) bool { return !own[found] })
	}
	// Packages that no config of this tool leads to, and messages of the others that none does.
	elsewhere := regexp.MustCompile(`^(endpoint/(triton|predict|jsonhttp)|remote/proxy|prompt/(shaped|tensor|tensordata|sessions|pooled|promptfile))/|^run/preflight`)
	unreachable := regexp.MustCompile(`--endpoint-type|leave out --http2|name a tokenizer.json|gen_ai|--retry-after|input_tokens_count|--extra-inputs`)
	found := 0
	for _, family := range []string{"run", "result", "sweep", "engine", "endpoint", "prompt", "token/source", "probe", "remote"} {
		root := filepath.Join("..", "..", "..")
		err := filepath.WalkDir(filepath.Join(root, family), func(path string, d fs.DirEntry, err error) error {
			file, _ := filepath.Rel(root, path)
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || elsewhere.MatchString(filepath.ToSlash(file)) {
				return err
			}
			for _, message := range literals(t, path) {
				if !strings.Contains(message, " ") || !native(message) || unreachable.MatchString(message) {
					continue // a path alone is mapped by its place in the config
				}
				found++
				if worded := Wording(message); native(worded) {
					t.Errorf("%s: %q: Wording has no names of the config for it", file, worded)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if found < 8 {
		t.Errorf("%d messages with native names were found: are they looked for in the right place?", found)
	}
}

// literals are the texts of a source file.
func literals(t *testing.T, path string) []string {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			out = append(out, text)
		}
		return true
	})
	return out
}
