package args

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

var update = flag.Bool("update", false, "write what the commands give into the golden files")

// TestGolden runs the command line at the top of each file in testdata and
// compares the plan or the faults that it gives with the section "want". Sections
// under other names are files that the command can read.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			command, sections, want := split(string(text))
			args := words(t, command)
			if len(args) < 2 || args[0] != "inferometer" {
				t.Fatalf("no command in %q", command)
			}
			got := outcome(args[1:], func(name string) ([]byte, error) {
				if s, ok := sections[name]; ok {
					return []byte(s), nil
				}
				return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
			})
			if *update {
				head, _, _ := strings.Cut(string(text), "-- want --\n")
				if err := os.WriteFile(name, []byte(head+"-- want --\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// outcome is what a command gives, as text.
func outcome(args []string, readFile func(string) ([]byte, error)) string {
	var b strings.Builder
	var p *plan.Plan
	var warn []string
	var err error
	switch args[0] {
	case "run":
		var a *Action
		if a, err = Run(args[1:], planfile.Known{}, readFile); err == nil {
			p, warn = a.Plan, a.Warnings
			fmt.Fprintf(&b, "# dry-run %t, quiet %t, json %t, help %t\n", a.DryRun, a.Quiet, a.JSON, a.Help != NoHelp)
		}
	case "capacity":
		var a *Action
		if a, err = Capacity(args[1:], planfile.Known{}, readFile); err == nil {
			p, warn = a.Plan, a.Warnings
		}
	case "plan":
		var a *PlanAction
		if a, err = Plan(args[1:], planfile.Known{}, readFile); err == nil {
			p, warn = a.Plan, a.Warnings
			fmt.Fprintf(&b, "# %s, help %t\n", a.Verb, a.Help != NoHelp)
		}
	case "export":
		var a *ExportAction
		if a, err = Export(args[1:]); err == nil {
			fmt.Fprintf(&b, "# %s as %s to %q, events %t, help %t\n", a.Dir, a.Format, a.Out, a.Events, a.Help)
		}
	case "report":
		var a *ReportAction
		if a, err = Report(args[1:]); err == nil {
			fmt.Fprintf(&b, "# %s as %s, help %t\n", a.Dir, strings.Join(a.Formats, " "), a.Help)
		}
	}
	if err != nil {
		return "faults:\n" + err.Error() + "\n"
	}
	for _, w := range warn {
		fmt.Fprintf(&b, "# warning: %s\n", w)
	}
	if p != nil {
		out, err := planfile.Encode(p)
		if err != nil {
			return err.Error()
		}
		b.Write(withoutDefaults(out))
	}
	return b.String()
}

// withoutDefaults leaves out the lines of a printed plan that the default plan
// has too, so that a golden file shows what its command line did.
func withoutDefaults(out []byte) []byte {
	def := plan.Default()
	base, err := planfile.Encode(&def)
	if err != nil {
		return out
	}
	usual := map[string]bool{}
	for line := range strings.Lines(string(base)) {
		usual[line] = true
	}
	var kept []string
	inStages := false
	for line := range strings.Lines(string(out)) {
		if depth(line) == 0 {
			inStages = line == "stages:\n"
		}
		// Headings stay where something below them does.
		for len(kept) > 0 && heading(kept[len(kept)-1]) && depth(line) <= depth(kept[len(kept)-1]) {
			kept = kept[:len(kept)-1]
		}
		if heading(line) || inStages || !usual[line] {
			kept = append(kept, line)
		}
	}
	for len(kept) > 0 && heading(kept[len(kept)-1]) {
		kept = kept[:len(kept)-1]
	}
	return []byte(strings.Join(kept, ""))
}

func heading(line string) bool { return strings.HasSuffix(line, ":\n") }

func depth(line string) int { return len(line) - len(strings.TrimLeft(line, " -")) }

// split takes a golden file apart: the command, the files, and what is wanted.
func split(text string) (command string, files map[string]string, want string) {
	files = map[string]string{}
	name := ""
	parts := map[string]*strings.Builder{"": {}}
	for line := range strings.Lines(text) {
		if n, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(n, " --\n") && name != "want" {
			name = strings.TrimSuffix(n, " --\n")
			parts[name] = &strings.Builder{}
			continue
		}
		parts[name].WriteString(line)
	}
	for n, p := range parts {
		switch n {
		case "":
			command = p.String()
		case "want":
			want = p.String()
		default:
			files[n] = p.String()
		}
	}
	return command, files, want
}

// words splits a command line as a shell does, as far as quotes and a backslash
// at the end of a line go.
func words(t *testing.T, command string) []string {
	t.Helper()
	var list []string
	var word strings.Builder
	quote, open := rune(0), false
	for _, c := range strings.ReplaceAll(command, "\\\n", " ") {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ' || c == '\n':
			if open {
				list = append(list, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(c)
			open = true
		}
	}
	if quote != 0 {
		t.Fatalf("a quote is open in %q", command)
	}
	return list
}
