package internal

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	genaiperf "github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	inferenceperf "github.com/inferometer/inferometer/internal/tool/inferenceperf/args"
	native "github.com/inferometer/inferometer/internal/tool/inferometer/args"
	llmperf "github.com/inferometer/inferometer/internal/tool/llmperf/args"
	perfanalyzer "github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
	vllmbench "github.com/inferometer/inferometer/internal/tool/vllmbench/args"
)

var update = flag.Bool("update", false, "write the names anew")

// none stands in the table for a setting that a tool does not have.
const none = "(none)"

// TestNames shows what each setting that messages name is called in each tool. Whoever adds one
// finds out here what it is called elsewhere, or that it is (none), and writes the table anew.
func TestNames(t *testing.T) {
	genai, err := genaiperf.Parser{}.Parse(strings.Fields("profile -m m --endpoint-type chat --isl 7"))
	if err != nil {
		t.Fatal(err)
	}
	const config = "server: {base_url: 'http://h:8000'}\nload: {stages: [{rate: 2, duration: 3}]}\n"
	inference, err := inferenceperf.Parse([]string{"-c", "c.yml"}, inferenceperf.World{ReadFile: func(string) ([]byte, error) { return []byte(config), nil }})
	if err != nil {
		t.Fatal(err)
	}
	run := native.RunManual()
	tools := []struct {
		name, help string
		names      message.Names
		prefix     string // of names in the help
	}{
		{"inferometer", run.Help(80, true), message.Names{}, ""},
		{"genai-perf", genaiperf.HelpText(), genai.Names(), ""},
		{"perf_analyzer", perfanalyzer.Help(), perfanalyzer.Names(new(plan.Plan)), ""},
		{"perf_analyzer, gRPC", perfanalyzer.Help(), perfanalyzer.Names(&plan.Plan{Target: plan.Target{Transport: plan.TransportGRPC}}), ""},
		{"llm_perf", llmperf.Help(), llmperf.Names(nil), ""},
		{"vllm bench serve", vllmbench.Help(vllmbench.Serve), vllmbench.Names(nil), ""},
		{"inference-perf", inferenceperf.HelpText(), inference.Names(), "--"},
	}
	var got strings.Builder
	for _, s := range settings(t) {
		fmt.Fprintf(&got, "%s\n", s.Path())
		for _, tool := range tools {
			name := message.New("%v", s).Or(none).In(tool.names)
			fmt.Fprintf(&got, "    %-20s %s\n", tool.name, name)
			for word := range strings.FieldsSeq(name) {
				word = strings.Trim(word, "(),:`")
				if named := strings.HasPrefix(word, "-") || tool.prefix != "" && strings.Contains(word, "."); named && !strings.Contains(tool.help, tool.prefix+word) && !strings.Contains(name, "`") {
					t.Errorf("%s: %s calls it %s, and has no %s", s.Path(), tool.name, name, word)
				}
			}
		}
	}
	const file = "testdata/names.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got.String() != string(want) {
		t.Errorf("%s is not the table any more (%v): go test ./internal -run TestNames -update writes it anew; look at what has changed", file, err)
	}
}

// settings are all that messages name, each with a path and a name.
func settings(t *testing.T) (all []message.Setting) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "message/settings.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[message.Setting]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			for _, e := range v.Values {
				text, err := strconv.Unquote(e.(*ast.BasicLit).Value)
				s := message.Setting(text)
				if err != nil || s.Path() == "" || s.String() == "" || seen[s] {
					t.Errorf("%q lacks its path or its name, or is there twice (%v)", text, err)
				}
				seen[s], all = true, append(all, s)
			}
		}
		return true
	})
	return all
}

// Every setting that messages name is a field of a plan, or part of one.
func TestMessagesNameFields(t *testing.T) {
	page, err := os.ReadFile("../docs/plan-fields.md")
	if err != nil {
		t.Fatal(err)
	}
	table := strings.NewReplacer("[]", "", "`", "").Replace(string(page))
	for _, s := range settings(t) {
		path := s.Path()
		if strings.HasPrefix(path, "remedy.") || path == message.Signature.Path() {
			continue
		}
		if !strings.Contains(table, "\n| "+path+" |") && !strings.Contains(table, "\n| "+path+".") {
			t.Errorf("%s is not a field of a plan", path)
		}
	}
}
