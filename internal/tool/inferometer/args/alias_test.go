package args

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// dryRun is the plan of a command line, or what is wrong with it.
func dryRun(t *testing.T, line string) (*Action, string) {
	t.Helper()
	a, err := Run(strings.Fields(line), planfile.Known{}, noFile)
	if err != nil {
		return nil, err.Error()
	}
	return a, ""
}

// What other tools call a flag is that flag.
func TestAliases(t *testing.T) {
	t.Parallel()
	for typed, ours := range map[string]string{
		"-m M -c 4 -n 9 http://h":                         "--model M --concurrency 4 --requests 9 http://h",
		"--url http://h -c4":                              "http://h --concurrency 4",
		"-u http://h":                                     "http://h",
		"--base-url=http://h/v1":                          "http://h/v1",
		"--target http://a http://b":                      "http://b http://a",
		"--host gpu --port 8000":                          "http://gpu:8000",
		"--port 30000":                                    "http://127.0.0.1:30000",
		"--host ::1 --port 1":                             "http://[::1]:1",
		"--host https://gpu --port 1":                     "https://gpu:1",
		"http://h --isl 100 --osl 20":                     "http://h --input-tokens 100 --output-tokens 20",
		"http://h --random-input-len 100 --output-len 20": "http://h --input-tokens 100 --output-tokens 20",
		"http://h --request-rate 5 --num-prompts 10 --arrival poisson":      "http://h --rate 5 --requests 10 --arrival poisson",
		"http://h --request-rate 5 --max-concurrency 8 --request-count 10":  "http://h --rate 5 --max-in-flight 8 --requests 10",
		"http://h --request-rate inf --max-concurrency 8 --num-requests 10": "http://h --concurrency 8 --requests 10",
		"http://h --max-concurrency 8":                                      "http://h --concurrency 8",
		"http://h -c 2 --benchmark-duration 30":                             "http://h --concurrency 2 --duration 30s",
		"http://h -c 2 --max-seconds 1.5m":                                  "http://h --concurrency 2 --duration 1.5m",
		"http://h --request-timeout-seconds 60":                             "http://h --timeout 60s",
		"http://h --num-warmups 3 --random-seed 7":                          "http://h --warmup 3 --warmup-drain --seed 7",
		"http://h --streaming --endpoint-type completions --output-dir x":   "http://h --endpoint completions --out x",
		"http://h --disable-stream --served-model-name m --max-requests 3":  "http://h --no-stream --model m --requests 3",
		"http://h --num-dataset-entries 5 --warmup-request-count=3":         "http://h --prompts 5 --warmup 3 --warmup-drain",
		"http://h --streaming=false":                                        "http://h --no-stream",
	} {
		want, fault := dryRun(t, ours)
		if fault != "" {
			t.Errorf("%s: %s", ours, fault)
			continue
		}
		got, fault := dryRun(t, typed)
		if fault != "" {
			t.Errorf("%s: %s", typed, fault)
			continue
		}
		a, errA := planfile.Encode(got.Plan)
		b, errB := planfile.Encode(want.Plan)
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s is not %s:\n%s\n%s", typed, ours, a, b)
		}
	}
}

// What means something else is refused with our flag, and a value is never repeated.
func TestAliasesRefused(t *testing.T) {
	for line, want := range map[string]string{
		"http://h --burstiness 0.5":                       "--arrival gamma --cv",
		"http://h --api-key sk-secret":                    "--api-key-env",
		"http://h --api-key=sk-secret":                    "--api-key-env",
		"http://h -r 5":                                   "-r: has several meanings",
		"http://h --isl-stddev 5 --dataset-name sharegpt": "--input-tokens normal:",
		"http://h --host x":                               "--host: needs --port",
		"http://h --request-rate inf -n 5":                "--concurrency N",
		"http://h --request-rate x -n 5":                  "--request-rate: must be a number",
		"http://h --rate 5 --request-rate 6 -n 5":         "--rate: is given twice",
		"http://h -c 5 --max-concurrency 6":               "--max-concurrency: is --concurrency",
		"http://h --streaming --no-stream":                "contradicts --no-stream",
		"http://h --num-prompt 5":                         "did you mean --num-prompts?",
		"http://h --burstines 5":                          "unknown flag",
		"http://h --concurrenc 5":                         "did you mean --concurrency?",
		"http://h --isl":                                  "needs a value",
		"http://h -c 1-8":                                 "write 1..8 for levels",
		"http://h --benchmark-duration x":                 "--benchmark-duration",
	} {
		_, fault := dryRun(t, line)
		if !strings.Contains(fault, want) || strings.Contains(fault, "secret") {
			t.Errorf("%s: %s, want %s", line, fault, want)
		}
	}
	if _, err := Capacity(strings.Fields("http://h --slo ttft.p99<1s --request-rate 5 -m M --isl 9"), planfile.Known{}, noFile); err == nil || !strings.Contains(err.Error(), "--request-rate: is --rate of inferometer run") || strings.Contains(err.Error(), "isl") {
		t.Errorf("capacity: %v", err)
	}
	if a, _ := dryRun(t, "http://h --request-rate 5 -n 5"); a == nil || !strings.Contains(strings.Join(a.Warnings, " "), "--arrival poisson") {
		t.Errorf("no warning: %+v", a)
	}
}

// The flags that aliases stand for exist, and no alias hides a flag of ours.
func TestAliasesExist(t *testing.T) {
	own := map[string]bool{urlAlias: true, hostAlias: true, portAlias: true, mostAlias: true, streamedAlias: true, "": true}
	for _, g := range runGroups() {
		for _, o := range g.options {
			own[o.name] = true
		}
	}
	seen := map[string]bool{}
	for _, a := range aliases() {
		if !own[a.Flag] || (a.Flag == "") == (a.Differs == "") {
			t.Errorf("%s stands for --%s", a.Names, a.Flag)
		}
		for name := range strings.FieldsSeq(a.Names) {
			if seen[name] || own[name] && a.Flag != name {
				t.Errorf("--%s is there twice", name)
			}
			seen[name] = true
		}
	}
}

// The page of the command line lists them.
func TestAliasTable(t *testing.T) {
	const file = "../../../../docs/command-line.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), "-update -->\n")
	_, after, ended := strings.Cut(rest, "<!-- end aliases -->")
	if !ok || !ended {
		t.Fatal("the page has no place for the table")
	}
	want := before + "-update -->\n" + aliasesText() + "<!-- end aliases -->" + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(page) != want {
		t.Error("docs/command-line.md is out of date: go test ./internal/tool/inferometer/args -run TestAliasTable -update")
	}
}

// aliasesText is the list of names of other tools, in Markdown.
func aliasesText() string {
	var same, other strings.Builder
	same.WriteString("| typed | means | of | |\n|---|---|---|---|\n")
	other.WriteString("| typed | of | |\n|---|---|---|\n")
	for _, a := range aliases() {
		var names []string
		for _, n := range strings.Fields(a.Names) {
			dash := "--"
			if len(n) == 1 {
				dash = "-"
			}
			names = append(names, "`"+dash+n+"`")
		}
		if a.Differs != "" {
			fmt.Fprintf(&other, "| %s | %s | %s |\n", strings.Join(names, ", "), a.Tools, a.Differs)
			continue
		}
		ours := "`--" + a.Flag + "`"
		switch a.Flag {
		case urlAlias, hostAlias, portAlias:
			ours = "the URL"
		case mostAlias:
			ours = "`--concurrency`"
		case streamedAlias:
			ours = "`--no-stream=false`"
		}
		fmt.Fprintf(&same, "| %s | %s | %s | %s |\n", strings.Join(names, ", "), ours, a.Tools, a.Note)
	}
	return same.String() + "\nThese mean something else, and are refused with that explanation:\n\n" + other.String()
}
