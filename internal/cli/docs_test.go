package cli

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/tool"
)

// TestCommandsInTheDocs runs every command line that the pages print. Those that
// would measure for a while are only compiled to their plan, on a mock that answers
// at the address that they name.
func TestCommandsInTheDocs(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, "../../README.md", "../../CONTRIBUTING.md")
	pages = slices.DeleteFunc(pages, func(page string) bool { return filepath.Base(page) == "recipes.md" }) // TestRecipes runs those
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(continued.ReplaceAllString(string(text), " "), "\n") {
			for _, args := range documented(line) {
				found++
				t.Run(fmt.Sprintf("%s:%d", filepath.Base(page), n+1), func(t *testing.T) {
					if err := try(t, args); err != "" {
						t.Errorf("%s\n%s", line, err)
					}
				})
			}
		}
	}
	if found < 4 {
		t.Errorf("only %d command lines found in the docs: is the test still looking for the right thing?", found)
	}
}

// TestFilesInTheDocs: the page lists the files that a run leaves, and no others.
func TestFilesInTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/report.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), "## In the directory")
	part, _, _ = strings.Cut(part, "\n\n**Records**")
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(.+?)` \\|").FindAllStringSubmatch(part, -1) {
		listed = append(listed, row[1])
	}
	want := rundir.Files()
	slices.Sort(listed)
	slices.Sort(want)
	if !slices.Equal(listed, want) {
		t.Errorf("the page lists %v, a run leaves %v", listed, want)
	}
}

// documented are the arguments of the commands of this program in a line: it is one and nothing
// else, or it is a row of a table and cells of it are.
func documented(line string) (all [][]string) {
	line = strings.TrimSpace(line)
	cells := []string{line}
	if strings.HasPrefix(line, "|") {
		cells = nil
		for _, m := range tableCommand.FindAllStringSubmatch(line, -1) {
			cells = append(cells, m[1])
		}
	}
	for _, cell := range cells {
		if args, ok := command(cell); ok {
			all = append(all, args)
		}
	}
	return all
}

// continued is where a command goes on in the next line.
var continued = regexp.MustCompile(`\\\n\s*`)

var tableCommand = regexp.MustCompile("\\| `((?:inferometer|genai-perf|perf_analyzer|llm_perf|inference-perf) [^`|]*)` ?\\|")

// dropIns are the names under which the program is other tools.
var dropIns = []string{"genai-perf", "perf_analyzer", "llm_perf", "inference-perf"}

// command is the arguments of a command of this program.
func command(line string) ([]string, bool) {
	for _, prompt := range []string{"$ ", "- ", "run: "} { // of a shell, and of steps of a pipeline
		line = strings.TrimPrefix(line, prompt)
	}
	rest, ok := strings.CutPrefix(line, "inferometer ")
	if name, _, more := strings.Cut(line, " "); more && slices.Contains(dropIns, name) {
		rest, ok = line, true
	}
	if !ok || strings.ContainsAny(rest, "…[|") {
		return nil, false
	}
	args := words(rest)
	return args, len(args) > 0 && args[0] != strings.ToUpper(args[0])
}

// words are the arguments of a command line as a shell reads it, up to a remark and to where the
// output goes.
func words(line string) []string {
	var list []string
	for line = strings.TrimSpace(line); line != "" && line[0] != '#' && line[0] != '>'; line = strings.TrimSpace(line) {
		var word strings.Builder
		var quote rune
		end := strings.IndexFunc(line, func(r rune) bool {
			switch {
			case quote == 0 && (r == '\'' || r == '"'):
				quote = r
			case r == quote:
				quote = 0
			case quote == 0 && r == ' ':
				return true
			default:
				word.WriteRune(r)
			}
			return false
		})
		if end < 0 {
			end = len(line)
		}
		list, line = append(list, word.String()), line[end:]
	}
	return list
}

// try runs a command in a directory that has what the docs assume; it gives what
// went wrong.
func try(t *testing.T, args []string) string {
	dir := t.TempDir()
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if err := os.Symlink(examples, "examples"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("plan.yaml", []byte("stages:\n  - concurrency: 2\n    requests: 4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("prompts.jsonl", []byte(`{"prompt": "hello", "output_tokens": 3}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(examples, "../config.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("config.yml", config, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"prompts.json", "payloads.json"} {
		if err := os.WriteFile(name, []byte(`{"data":[{"payload":[{"messages":[]}]}]}`), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	switch args[0] {
	case "genai-perf", "inference-perf":
		end := slices.Index(append(args, "--"), "--")
		if !slices.Contains(args, "--analyze") {
			args = slices.Insert(slices.Clone(args), end, "--dry-run")
		}
	case "perf_analyzer", "llm_perf", "vllm", "vllm-bench", "benchmark_serving.py", "study", "capacity":
		if code, text := call(append(args, "--dry-run")...); code != tool.ExitOK {
			return text
		}
		return ""
	case "run":
		args = append([]string{"plan", "check"}, args[1:]...)
	case "report", "export":
		url := serve(t)
		if code, text := call("run", url, "--requests", "2", "--concurrency", "1", "--out", args[1], "--quiet"); code == tool.ExitUsage {
			return text
		}
	case "compare":
		keepSides(t, args[1:])
	case "mock", "worker":
		args = append(args, "--help")
	case "selftest":
		args = append(args, "--levels", "1", "--time", "100ms", "--ttft", "2ms", "--itl", "1ms")
	}
	// A verdict on two requests may be anything; bad usage is what matters.
	if code, text := call(args...); code == tool.ExitUsage {
		return text
	}
	return ""
}

// keepSides makes the runs that a comparison names ahead of its flags.
func keepSides(t *testing.T, sides []string) {
	t.Helper()
	for _, side := range sides {
		if strings.HasPrefix(side, "-") {
			return
		}
		_, paths, named := strings.Cut(side, "=")
		if !named {
			paths = side
		}
		for dir := range strings.SplitSeq(paths, ",") {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			new(kept).make(t, dir)
		}
	}
}

// call runs the program in this process.
func call(args ...string) (code int, output string) {
	var out bytes.Buffer
	none := filepath.Join(os.TempDir(), "no-hugging-face-cache")
	getenv := func(name string) string { return map[string]string{"HF_HOME": none}[name] }
	code = Main(tool.Env{Args: args, Stdout: &out, Stderr: &out, Getenv: getenv, Restore: func() {}})
	return code, out.String()
}

// serve starts a mock for the test.
func serve(t *testing.T) (url string) {
	t.Helper()
	s, err := mock.New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return "http://" + l.Addr().String()
}
