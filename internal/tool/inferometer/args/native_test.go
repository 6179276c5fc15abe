package args

import (
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func noFile(string) ([]byte, error) { return nil, os.ErrNotExist }

// manuals describe the commands of this package.
func manuals() []clidoc.Command {
	return []clidoc.Command{RunManual(), CapacityManual(), StudyManual(), ReportManual(), CompareManual(), ExportManual(), PlanManual()}
}

// The help fits a terminal; the full one has every flag, and the short one those that are named.
func TestHelpFits(t *testing.T) {
	for _, c := range manuals() {
		for _, width := range []int{80, 50} {
			for line := range strings.Lines(c.Help(width, true)) {
				line = strings.TrimRight(line, "\n")
				// A word that is wider than the column is not broken.
				if n := utf8.RuneCountInString(line); n > width && (width == 80 || len(strings.Fields(line)) > 3) {
					t.Errorf("%s: %d columns: %s", c.Name, n, line)
				}
			}
		}
		short, all := c.Help(80, false), c.Help(80, true)
		exist := map[string]bool{"live": true} // of every command that measures
		for _, g := range c.Groups {
			for _, f := range g.Flags {
				exist[f.Name] = true
				if !strings.Contains(all, "--"+f.Name) || f.Help == "" {
					t.Errorf("%s --help-all lacks --%s", c.Name, f.Name)
				}
			}
		}
		for _, name := range c.Common {
			if !exist[name] {
				t.Errorf("%s --help wants to show --%s, which does not exist", c.Name, name)
			}
		}
		if len(c.Common) > 0 && (len(c.Common) > 25 || !strings.Contains(short, "--help-all") || len(short) > len(all)/2) {
			t.Errorf("%s --help is too long, or does not name --help-all:\n%s", c.Name, short)
		}
	}
}

// TestHelpExamples: every command in the help is one that works.
func TestHelpExamples(t *testing.T) {
	readFile := func(string) ([]byte, error) { return []byte("target: {urls: [http://h]}"), nil }
	seen := 0
	for _, c := range []clidoc.Command{RunManual(), ReportManual(), PlanManual()} {
		for _, line := range c.Examples {
			line, _, _ = strings.Cut(line, ">")
			if args := strings.Fields(line); len(args) > 1 && args[0] == "inferometer" {
				seen++
				if got := outcome(args[1:], readFile); strings.HasPrefix(got, "faults:") {
					t.Errorf("%s\n%s", line, got)
				}
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d examples found", seen)
	}
}

// TestFlagsSetWhatExists: the field that a flag sets is one that a plan has.
func TestFlagsSetWhatExists(t *testing.T) {
	for _, g := range runGroups() {
		for _, o := range g.options {
			if o.path == "" {
				continue
			}
			d := planfile.NewDraft()
			d.Put(o.path, "--"+o.name, "1")
			for _, f := range d.Faults {
				if strings.Contains(f.Text, "unknown field") || strings.Contains(f.Text, "has no") && !strings.Contains(f.Text, "unit") {
					t.Errorf("--%s: %s", o.name, f.Text)
				}
			}
		}
	}
}

func TestErrorsAreFaults(t *testing.T) {
	_, err := Run([]string{"--concurency", "5"}, planfile.Known{}, noFile)
	var faults plan.Faults
	if !errors.As(err, &faults) || len(faults) != 1 {
		t.Errorf("got %v", err)
	}
}

// TestSecretsStayOutOfFaults: what is said about a bad command line repeats no key.
func TestSecretsStayOutOfFaults(t *testing.T) {
	for _, args := range [][]string{
		{"http://h", "--api-key", "hunter2"}, {"http://h", "--api-key=hunter2"}, {"http://h", "--header", "hunter2"},
		{"http://h", "-H", "Bad Name: hunter2"}, {"http://u:hunter2@h:1:2"}, {"http://h", "-H", "A: hunter2\nb"},
		{"ftp://u:hunter2@h"},
	} {
		_, err := Run(args, planfile.Known{}, noFile)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// FuzzRun: no command line and no plan file makes a panic, and what is accepted is
// a plan that validates.
func FuzzRun(f *testing.F) {
	f.Add("http://h:1\x00--concurrency\x005\x00--duration\x005s", "")
	f.Add("p.yaml\x00--rate=5\x00-qH\x00a: b\x00--stage\x00rate=5,requests=3", "stages: [{rate: 5, duration: 5s}]")
	f.Add("-\x00--\x00---\x00-=\x00-h=\x00--=x\x00-\xff\x00--extra\x00a={}\x00--budget\x00cpu=1", "a: &a [*a]")
	f.Add("--stage\x00name=[0].x=5,stages[0]=1\x00--extra\x00a.b=1\x00--header\x00:", "stages: []")
	mutate.Fuzz(f, func(t *testing.T, line, file string) {
		args := strings.Split(line, "\x00")
		readFile := func(name string) ([]byte, error) {
			if strings.HasSuffix(name, ".yaml") {
				return []byte(file), nil
			}
			return nil, os.ErrNotExist
		}
		_, _ = Report(args)
		_, _ = Plan(args, planfile.Known{}, readFile)
		a, err := Run(args, planfile.Known{}, readFile)
		switch {
		case err != nil && err.Error() == "":
			t.Error("an error that says nothing")
		case err != nil || a.Help != NoHelp:
			return
		}
		if err := planfile.Validate(a.Plan); err != nil {
			t.Errorf("accepted a plan that is not valid: %v", err)
		}
		if _, err := planfile.Encode(a.Plan); err != nil {
			t.Error(err)
		}
	})
}

// A flag that sets one field is given once; those that add something, as often as one likes.
func TestFlagsGivenTwice(t *testing.T) {
	for line, want := range map[string]string{
		"http://h:1 --model a --model b":                               "--model: is given twice, and only one value can be used",
		"http://h:1 --model a --model a":                               "--model: is given twice",
		"http://h:1 --concurrency 1 --concurrency 2 --concurrency 3":   "--concurrency: is given 3 times",
		"http://h:1 --input-file a.txt --input-file b.txt":             "--input-file: is given twice",
		"http://h:1 -H A:1 -H B:2 --extra a=1 --extra b=2 -q -q":       "",
		"http://h:1 --budget cpu=90% --budget gc=2% --http2 --http2=1": "",
	} {
		_, err := Run(strings.Fields(line), planfile.Known{}, noFile)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
