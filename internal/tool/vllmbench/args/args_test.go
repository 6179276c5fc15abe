package args

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

var update = flag.Bool("update", false, "write golden files and docs anew")

func world() World {
	return World{
		Getenv: func(name string) string { return map[string]string{"PYTHONHASHSEED": "7"}[name] },
		ReadFile: func(name string) ([]byte, error) {
			if strings.HasPrefix(name, "no") {
				return nil, os.ErrNotExist
			}
			return []byte("{\"prompt\": \"a\"}\n{\"prompt\": \"b\"}\n\n{\"prompt\": \"c\"}"), nil
		},
		FirstModel: func(string, map[string]string, bool) (string, string, error) { return "served", "org/made-of", nil },
	}
}

var drawnID = regexp.MustCompile(`bench-[0-9a-f]{8}-`)

// The lines of testdata/lines.txt, as they stand in public places, and the plans that they come to.
func TestLines(t *testing.T) {
	lines, err := os.ReadFile("testdata/lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for line := range strings.Lines(string(lines)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fmt.Fprintf(&got, "### %s\n", line)
		program, rest := Serve, strings.TrimPrefix(line, "vllm bench serve")
		if after, ok := strings.CutPrefix(line, "benchmark_serving.py"); ok {
			program, rest = Script, after
		}
		words, err := split(rest)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		a, err := Parse(words, program, world())
		if err != nil {
			fmt.Fprintf(&got, "%v\n", Names(nil).Error(err))
			continue
		}
		text, err := planfile.Encode(a.Plan)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got.Write(drawnID.ReplaceAll(text, []byte("bench-01234567-")))
	}
	const golden = "testdata/plans.txt"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(want, got.Bytes()) {
		t.Errorf("the plans are not those of %s (%v): go test -update writes them anew", golden, err)
	}
}

// split takes a line apart as a shell does, but for variables.
func split(line string) ([]string, error) {
	var words []string
	for _, m := range regexp.MustCompile(`(?:[^\s'"]|'[^']*'|"[^"]*")+`).FindAllString(line, -1) {
		if strings.ContainsAny(m, "`\\") {
			return nil, errors.New("it has a quote that is not understood")
		}
		words = append(words, regexp.MustCompile(`['"]`).ReplaceAllString(quotedJSON(m), ""))
	}
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "\x00", `"`)
	}
	return words, nil
}

// quotedJSON keeps the quotes within single ones.
func quotedJSON(word string) string {
	if i := strings.IndexByte(word, '\''); i >= 0 && strings.HasSuffix(word, "'") {
		return word[:i+1] + strings.ReplaceAll(word[i+1:len(word)-1], `"`, "\x00") + "'"
	}
	return word
}

// What the original's parser refuses ends with a usage error, what it refuses later with faults.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		line, want string
		usage      bool
	}{
		{"--num 5", "ambiguous option: --num could match --num-prompts, --num-warmups", true},
		{"--num-prompts x", "argument --num-prompts: invalid int value: 'x'", true},
		{"--num-prompts", "argument --num-prompts: expected one argument", true},
		{"--goodput", "argument --goodput: expected at least one argument", true},
		{"--backend nosuch", "argument --backend: invalid choice: 'nosuch'", true},
		{"--extra-body x", "argument --extra-body: invalid loads value: 'x'", true},
		{"--ignore-eos=1", "ignored explicit argument '1'", true},
		{"--num-promts 3", "did you mean --num-prompts?", true},
		{"stray", "unrecognized arguments: stray", true},
		{"--config f.yaml", "--config is not supported", true},
		{"--temperature 1e", "invalid float value", true},
		{"--extra-body.a", "expected one argument", true},
		{"--burstiness 0", "--burstiness: must be greater than 0", false},
		{"--request-rate 0", "--request-rate: must be greater than 0", false},
		{"--max-concurrency 0", "--max-concurrency: must be greater than 0", false},
		{"--num-prompts 0", "--num-prompts: must be greater than 0", false},
		{"--seed -1", "--seed: must be from 0", false},
		{"--output-len 0", "--output-len: must be greater than 0", false},
		{"--request-rate 5 --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 2", "cannot be combined with --ramp-up-strategy", false},
		{"--ramp-up-strategy linear", "needs --ramp-up-start-rps", false},
		{"--ramp-up-strategy linear --ramp-up-start-rps 3 --ramp-up-end-rps 2", "is more than --ramp-up-end-rps", false},
		{"--ramp-up-strategy exponential --ramp-up-start-rps 0 --ramp-up-end-rps 2", "--ramp-up-start-rps: must be greater than 0", false},
		{"--goodput foo:3", `"foo" is none of ttft, tpot and e2el`, false},
		{"--goodput ttft", `"ttft" has no form of an objective`, false},
		{"--goodput ttft:-1", "ttft:-1 is negative", false},
		{"--metadata x", `--metadata: "x" has no =`, false},
		{"--header x", "--header: one has no =", false},
		{"--endpoint /v1/nosuch", "--endpoint: must end in completions", false},
		{"--backend openai-chat", "--endpoint: must end in chat/completions", false},
		{"--dataset-path x", "--dataset-path: cannot be combined with --dataset-name random", false},
		{"--dataset-name sharegpt", "--dataset-path: is missing", false},
		{"--dataset-name custom --num-prompts 0 --dataset-path no", "--dataset-path: cannot be read", false},
		{"--dataset-name timed_trace --dataset-path x --backend openai-chat --endpoint /v1/chat/completions", "timed_trace sends tokens", false},
		{"--self-timed", "--self-timed: is for --dataset-name timed_trace alone", false},
		{"--random-range-ratio 1", "--random-range-ratio: must be from 0 to below 1, is 1", false},
		{"--random-range-ratio x", "--random-range-ratio", false},
		{"--metric-percentiles 50,x", `"x" is no percentile`, false},
		// What is not supported yet is said by name.
		{"--dataset-name hf --dataset-path x --hf-split train", "--hf-split: is not supported", false},
		{"--dataset-name spec_bench --dataset-path x", "spec_bench is not supported", false},
		{"--backend openai-audio", "openai-audio is not supported", false},
		{"--probe-request-rate 2", "--probe-request-rate: is not supported", false},
	} {
		_, err := Parse(append([]string{"--model", "m"}, strings.Fields(c.line)...), Serve, world())
		var malformed *UsageError
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &malformed) != c.usage {
			t.Errorf("%s: %v, want %s", c.line, err, c.want)
		}
	}
}

// Every flag that is refused says so when it is given, and why.
func TestRefusedFlags(t *testing.T) {
	for _, f := range slices.Concat(Flags(Serve), Flags(Script)) {
		if f.Is != Same && f.Is != Differs && f.Is != Refused || f.Help == "" || (f.Is != Same) != (f.Why != "") && f.Is != Same {
			t.Errorf("--%s: %+v", f.Name, f)
		}
		if f.Is != Refused {
			continue
		}
		line := []string{"--model", "m", "--" + f.Name}
		switch {
		case f.Kind == kindBool:
		case f.Choices != nil:
			line = append(line, f.Choices[0])
		default:
			line = append(line, "1")
		}
		program := Serve
		if !slices.ContainsFunc(Flags(Serve), func(o Flag) bool { return o.Name == f.Name }) {
			program = Script
		}
		if _, err := Parse(line, program, world()); err == nil || !strings.Contains(err.Error(), "--"+f.Name+": is not supported") {
			t.Errorf("--%s is not refused: %v", f.Name, err)
		}
	}
}

// Dotted flags build JSON, underscores are dashes, and the last of several counts.
func TestForms(t *testing.T) {
	a, err := Parse(strings.Fields(`--model m --seed 1 --seed 2 --random_input 7 --extra_body.a.b x --extra-body.n=1k --extra-body.m 2K --extra-body.l+ u,v --extra-body.l+ w --extra-body.t true --extra-body.f 1.5 --temperature -0 --presence-penalty -1.5 --header A=b=c D=e`), Serve, world())
	if err != nil {
		t.Fatal(err)
	}
	p := a.Plan
	want := `map[a:map[b:x] f:1.5 l:[u v w] m:2048 n:1000 presence_penalty:-1.5 t:true temperature:-0]`
	if got := fmt.Sprint(p.Target.Body); got != want {
		t.Errorf("body %s, want %s", got, want)
	}
	if p.Seed != 2 || p.Data.VLLM.Input != 7 || p.Target.Headers["A"] != "b=c" || p.Target.Headers["D"] != "e" || !slices.Equal(a.Warnings, []string{"Found duplicate keys --seed"}) {
		t.Errorf("%+v %v", p.Data.VLLM, a.Warnings)
	}
}

// The namespace is what the original prints of the same line.
func TestNamespace(t *testing.T) {
	want, err := os.ReadFile("testdata/namespace.txt")
	if err != nil {
		t.Fatal(err)
	}
	a, err := Parse(strings.Fields(`--model mock --tokenizer ../../tokenizer --port 18900 --backend openai-chat --endpoint /v1/chat/completions --random-input-len 24 --random-output-len 6 --num-prompts 12 --request-rate 30 --burstiness 0.5 --max-concurrency 8 --goodput ttft:40 tpot:6 e2el:80 --percentile-metrics ttft,tpot,itl,e2el,client_queue_time,e2el_including_client_queue --metric-percentiles 25,99 --save-result --save-detailed --metadata tp=1 note=a=b --result-dir . --temperature 0 --top-p 0.9 --extra-body {"min_tokens":2} --header X-A=1 --request-id-prefix bench-085e7694-`), Serve, world())
	if err != nil {
		t.Fatal(err)
	}
	if a.Namespace != strings.TrimSpace(string(want)) {
		t.Errorf("got  %s\nwant %s", a.Namespace, want)
	}
}

// What only the fork has makes it the fork, whose defaults are others.
func TestFork(t *testing.T) {
	for text, want := range map[string]Settings{
		"":                {Release: plan.VLLMScript, Test: true, Percentiles: []float64{99}, Metrics: []string{"ttft", "tpot", "itl"}},
		"--num-warmups 0": {Release: plan.VLLMFork, Percentiles: []float64{90, 99, 99.9}, Metrics: []string{"ttft", "tpot", "itl", "e2el"}},
	} {
		a, err := Parse(append(strings.Fields(text), "--model", "m", "--dataset-name", "random"), Script, world())
		if err != nil {
			t.Fatal(err)
		}
		s := a.Settings
		if s.Release != want.Release || s.Test != want.Test ||
			!slices.Equal(s.Percentiles, want.Percentiles) || !slices.Equal(s.Metrics, want.Metrics) ||
			a.Plan.Data.VLLM.IDPrefix != "" || a.Plan.Target.Body["temperature"] != 0.0 || a.Plan.Target.Headers["Authorization"] != "" {
			t.Errorf("%s: %+v", text, s)
		}
	}
	// differs: vllm-bearer-none
	a, err := Parse([]string{"--model", "m", "--dataset-name", "random", "--faithful"}, Script, world())
	if err != nil || a.Plan.Target.Headers["Authorization"] != "Bearer None" {
		t.Errorf("%+v, %v", a, err)
	}
}

// Without a model the server's first is asked for: its name is sent, and what it was made of has the tokenizer.
func TestFirstModel(t *testing.T) {
	a, err := Parse(nil, Serve, world())
	if err != nil || a.Plan.Target.Model != "served" || a.Settings.Model != "org/made-of" || a.Plan.Tokenizer.Name != "org/made-of" {
		t.Errorf("%+v, %v", a, err)
	}
	w := world()
	w.FirstModel = func(string, map[string]string, bool) (string, string, error) { return "", "", nil }
	if _, err := Parse(nil, Serve, w); !errors.Is(err, errNoModel) {
		t.Errorf("%v", err)
	}
	w.Getenv = func(name string) string { return map[string]string{"OPENAI_API_KEY": "k"}[name] }
	if a, err := Parse([]string{"--model", "m"}, Serve, w); err != nil || a.Plan.Target.APIKey.Env != "OPENAI_API_KEY" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestHelp(t *testing.T) {
	a, err := Parse([]string{"-h"}, Serve, world())
	if err != nil || !a.Help {
		t.Errorf("%+v, %v", a, err)
	}
	m := ServeManual()
	for _, f := range Flags(Serve) {
		if !strings.Contains(Help(Serve), "--"+f.Name+"\n") || !slices.ContainsFunc(m.Groups[0].Flags, func(o clidoc.Flag) bool { return o.Name == f.Name }) {
			t.Errorf("--%s is in no help", f.Name)
		}
	}
}

// Tables of the page docs/vllm-bench.md.
func TestDocs(t *testing.T) {
	const file, begin, end = "../../../../docs/vllm-bench.md", "<!-- flags: `go test ./internal/tool/vllmbench/args -update` writes them -->\n", "<!-- end of flags -->"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for flags", file)
	}
	var b strings.Builder
	for _, program := range []Program{Serve, Script} {
		count := map[string]int{}
		fmt.Fprintf(&b, "\n`%s`\n\n| flag | | |\n|---|---|---|\n", line(program))
		for _, f := range Flags(program) {
			if !f.Added {
				count[f.Is]++
				fmt.Fprintf(&b, "| `--%s` | %s | %s |\n", f.Name, f.Is, f.Why)
			}
		}
		fmt.Fprintf(&b, "\nIn all: %d same, %d differ, %d refused.\n", count[Same], count[Differs], count[Refused])
	}
	want := before + begin + b.String() + end + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Errorf("%s does not have the flags as they are: go test -update writes them anew", file)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("--model m --random-input 8 --num-prompts 3 --request-rate 3 --burstiness 0.5")
	f.Add("--model m --extra-body.a.b 1k --goodput ttft:5 --header a=b --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 5")
	f.Add("--model m --dataset-name timed_trace --dataset-path x --lora-modules a b --num-warmups 4")
	f.Add("--model m --dataset-name random --num-warmups 2 --random-range-ratio 0.8 --use-chat-template --max-concurrency 3")
	mutate.Fuzz(f, func(t *testing.T, line string) {
		a, err := Parse(strings.Fields(line), Program(len(line)%2), world())
		if err != nil || a.Plan == nil {
			return
		}
		if err := planfile.Validate(a.Plan); err != nil {
			t.Errorf("a plan that cannot be run: %v", err)
		}
		if a.Settings.Main >= len(a.Plan.Stages) || a.Plan.Target.Form != plan.FormVLLM {
			t.Errorf("%+v", a.Settings)
		}
	})
}
