package args

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func read(name string) ([]byte, error) {
	switch name {
	case "./prompts.jsonl", "p.jsonl":
		return []byte("{\"input\": \"a\", \"output\": \"b\"}\n\n{\"input\": \"c\"}\n{\"input\": \"d\"}"), nil
	case "empty.jsonl":
		return []byte("\n \n"), nil
	case "there.json":
		return []byte(`{"a": 1}`), nil
	case "results.json":
		return []byte(`{"1": {"concurrency": 1, "metrics": {}}}`), nil
	}
	return nil, os.ErrNotExist
}

func exists(name string) bool { return name == "there.json" || name == "results.json" }

// The command line of the seed, as it stands there.
func TestSeed(t *testing.T) {
	args := strings.Fields("-u localhost:9001 -i grpc -m ensemble --concurrency 1,4,8  --input-data ./prompts.jsonl --tokenizer-path /workspace/models/Qwen2-7B")
	a, err := Parse(args, read, exists)
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Default()
	p.Target.URLs = []string{"grpc://localhost:9001"}
	p.Target.Protocol, p.Target.Transport, p.Target.Endpoint, p.Target.Model = plan.ProtocolTriton, plan.TransportGRPC, plan.EndpointStream, "ensemble"
	p.Data = plan.Data{Source: plan.SourceFile, File: "./prompts.jsonl", Output: plan.Length{Dist: plan.DistFixed, Mean: 300}}
	p.Tokenizer = plan.Tokenizer{Name: "/workspace/models/Qwen2-7B"}
	p.Budgets.ShortOutput = 1
	// differs: llm-frozen
	p.Target.Timeouts.FirstByte, p.Target.Timeouts.Stall = plan.Duration(2*time.Minute), plan.Duration(2*time.Minute)
	p.Stages = []plan.Stage{{Concurrency: 1, Requests: 3}, {Concurrency: 4, Requests: 3}, {Concurrency: 8, Requests: 3}}
	want := &Action{Plan: &p, URI: "localhost:9001", Protocol: "grpc", Model: "ensemble", Results: "profiling_results.json", Prompts: 3}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
}

func TestOptions(t *testing.T) {
	a, err := Parse(strings.Fields("--uri h:1 --protocol http --triton-model m --input-data p.jsonl --measurement-interval 1.5 --concurrency 2,3 --output-len 7 --no-streaming --profile-export-file new.json --out dir --strict --dry-run"), read, exists)
	if err != nil {
		t.Fatal(err)
	}
	p := a.Plan
	if p.Target.URLs[0] != "http://h:1" || p.Target.Transport != plan.TransportHTTP || p.Target.Endpoint != plan.EndpointGenerate || p.Target.Streaming || p.Target.Model != "m" {
		t.Errorf("target %+v", p.Target)
	}
	if p.Stages[0].Gap != 0 || p.Stages[1].Gap != 1_500_000_000 || p.Data.Output.Mean != 7 || p.Output.Dir != "dir" {
		t.Errorf("stages %+v, data %+v, output %+v", p.Stages, p.Data, p.Output)
	}
	// differs: llm-tokenizer
	if !a.Strict || !a.DryRun || a.Results != "new.json" || len(a.Warnings) != 1 {
		t.Errorf("action %+v", a)
	}
	if a, err := Parse([]string{"--input-data", "p.jsonl"}, read, exists); err != nil || a.URI != "localhost:8001" || a.Model != "ensemble" || !a.Plan.Target.Streaming || len(a.Plan.Stages) != 3 || a.Plan.Stages[2].Concurrency != 8 || a.Plan.Data.Output.Mean != 300 {
		t.Errorf("defaults %+v, %v", a, err)
	}
	if a, err := Parse([]string{"-h"}, read, exists); err != nil || !a.Help || !strings.Contains(Help(), "--tokenizer-path") {
		t.Errorf("help %+v, %v", a, err)
	}
}

// The original takes what is enough of a flag to know it, and any case of a protocol.
func TestAbbreviations(t *testing.T) {
	for _, line := range []string{
		"--ur h:1 --proto GRPC --tri m --conc 2,4 --in p.jsonl --meas 3 --prof results.json",
		"-uh:1 -i Grpc -m m --c=2,4 --input-d=p.jsonl --m 3 --profile results.json",
		"-u h:1 -i grpc -m m --concurrency 0 --concurrency 2,4 --input-data p.jsonl --measurement-interval 3 --profile-export-file results.json",
		"-u h:1 -i=GRPC -m m --concurrency 2,4 --i p.jsonl --measurement-interval=3 --profile-export-file results.json",
	} {
		a, err := Parse(strings.Fields(line), read, exists)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if a.URI != "h:1" || a.Protocol != "grpc" || a.Model != "m" || len(a.Plan.Stages) != 2 || a.Plan.Stages[1].Gap != plan.Duration(3*time.Second) || a.Results != "results.json" {
			t.Errorf("%s: %+v", line, a)
		}
	}
	// differs: llm-interval, llm-sampling
	a, err := Parse([]string{"--in", "p.jsonl", "--faithful", "--timeout", "900"}, read, exists)
	if err != nil || a.Plan.Stages[1].Gap != plan.Duration(30*time.Second) || !a.Faithful || a.Plan.Target.Body["top_k"] != int64(1) || a.Plan.Target.Body["random_seed"] != int64(0) || a.Plan.Target.Timeouts.Request != plan.Duration(15*time.Minute) {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestFaults(t *testing.T) {
	const ok = "--input-data p.jsonl "
	for args, want := range map[string]string{
		"":                                       "--input-data: is missing",
		"--input-data nosuch":                    "--input-data: cannot be read",
		"--input-data empty.jsonl":               "empty.jsonl holds no prompts",
		ok + "--concurrency 1,x":                 `--concurrency: "x" is not a concurrency`,
		ok + "--concurrency 0":                   `--concurrency: "0" is not a concurrency`,
		ok + "--concurrency 1.5 --concurrency 2": `--concurrency: "1.5" is not a concurrency`,
		ok + "-i ftp":                            `--protocol: "ftp" is neither grpc nor http`,
		ok + "--output-len 0":                    "--output-len: must be 1 or more, is 0",
		ok + "--measurement-interval -1":         "--measurement-interval: must be from 0 to 86400 seconds, is -1",
		ok + "--measurement-interval NaN":        "--measurement-interval: must be from 0 to 86400 seconds, is NaN",
		// differs: llm-overwrite
		ok + "--profile-export-file there.json": "there.json exists and does not hold llm_perf results",
		ok + "--profile-export-file no/e.json":  "there is no directory no",
		ok + "--timeout 0":                      "--timeout: must be more than 0",
		ok + "--pro grpc":                       "ambiguous option: --pro could match --protocol, --profile-export-file",
		ok + "--st":                             "ambiguous option: --st could match --streaming, --strict",
		ok + "--nosuch":                         "unknown flag: --nosuch",
		ok + "stray":                            `"stray" is not a flag`,
		ok + "--streaming --no-streaming":       "--no-streaming: cannot be combined with --streaming",
	} {
		_, err := Parse(strings.Fields(args), read, exists)
		var faults plan.Faults
		if !errors.As(err, &faults) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", args, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	for want, err := range map[string]error{
		"--input-data: is odd":  plan.Faults{{Path: "data.file", Text: "is odd"}},
		"--concurrency: is odd": plan.Faults{{Path: "stages[0].concurrency", Text: "is odd"}},
		"by nobody; SSL_CERT_FILE in the environment names certificates to trust": message.Errorf("%w%v", errors.New("by nobody"), message.Untrusted()),
	} {
		if got := Names(nil).Error(err); got.Error() != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("-u localhost:9001 -i grpc -m ensemble --concurrency 1,4,8 --input-data p.jsonl")
	f.Add("--input-data p.jsonl --measurement-interval 1e300 --output-len 9")
	mutate.Fuzz(f, func(t *testing.T, line string) {
		a, err := Parse(strings.Fields(line), read, exists)
		if err != nil || a.Plan == nil {
			return
		}
		if err := planfile.Validate(a.Plan); err != nil {
			t.Errorf("a plan that cannot be run: %v", err)
		}
	})
}
