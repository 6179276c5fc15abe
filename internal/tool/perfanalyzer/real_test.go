package perfanalyzer

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/result/build"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/testkit/triton"
	frontend "github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
)

// The commands of the seeds, and ordinary models, on a real Triton server. Windows are
// shorter than in the seeds.
func TestRealTriton(t *testing.T) {
	s := triton.Start(t, "ensemble", "simple", "vllm_old", "sequence")
	dir := t.TempDir()
	ensemble := write(t, "prompts_perfanalyzer.json", `{"data":[{"text_input":["hello world"],"max_tokens":[4],"stream":[true]},{"text_input":["good day"],"max_tokens":[4],"stream":[true]}]}`)
	old := write(t, "prompts.json", `{"data": [{"PROMPT": ["Hello, my name is"], "STREAM": [true]}]}`)
	export := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		name, model, args string
		want              []string
	}{
		{"the ensemble of the seed", "ensemble", "-u " + s.GRPC + " -i grpc --async --input-data " + ensemble + " --measurement-interval 500 --profile-export-file " + export("ensemble.json") +
			" --service-kind triton -v --endpoint v1/chat/completions --concurrency-range 1:2:1 --stability-percentage 99999 --streaming --shape max_tokens:1 --shape text_input:1 -f " + export("pa.csv"),
			[]string{"  Detected decoupled model", "    Response Throughput: N infer/sec", "  Composing models:\n  postprocessing, version: N\n", "  preprocessing, version: N\n", "  tensorrt_llm, version: N\n", "Concurrency: N, throughput: N infer/sec"}},
		{"prefill of the seed", "vllm_old", "-u " + s.GRPC + " -i grpc --async --streaming --input-data=" + old + " --profile-export-file=" + export("old.json") +
			" --measurement-mode=count_windows --measurement-request-count=10 --stability-percentage=99999",
			[]string{"    Request count: N\n", "    First response latency: avg N usec"}},
		{"an ordinary model over gRPC", "simple", "-u " + s.GRPC + " -i grpc -p 300 -s 99999 -b 2",
			[]string{"  Using synchronous calls for inference", "    Avg gRPC time: N usec ((un)marshal request/response N usec + response wait N usec)\n  Server:\n    Inference count: N\n"}},
		{"and over HTTP, at a rate", "simple", "-u " + s.HTTP + " -p 300 -s 99999 --request-rate-range 50 --input-data zero",
			[]string{"Request Rate: N inference requests per second", "    Avg HTTP time: N usec (send/recv N usec + response wait N usec)"}},
		{"a number of requests", "simple", "-u " + s.GRPC + " -i grpc --async --request-count 40 --concurrency-range 4",
			[]string{"  Sending N benchmark requests", "    Request count: N\n"}},
		{"sequences", "sequence", "-u " + s.GRPC + " -i grpc --streaming -p 300 -s 99999 --concurrency-range 2",
			[]string{"    Sequence count: N (N seq/sec)\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got said
			var kept string
			var before int64
			for line, ok := "-m "+c.model+" "+c.args, true; ok; {
				kept, before = t.TempDir(), successes(t, s.HTTP, c.model)
				got = attempt(t, line+" --out "+kept, nil, io.Discard)
				if line, ok = inLongerWindows(line); !strings.Contains(got.log, emptyWindow) {
					break
				}
			}
			if got.err != nil || got.Code != frontend.ExitOK {
				t.Fatalf("code %d, %v\n%s%s", got.Code, got.err, got.out, got.log)
			}
			text := strings.Join(shape(got.out), "\n") + "\n"
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("the report lacks %q:\n%s", want, got.out)
				}
			}
			sent := int64(0)
			for i := range got.Result.Stages {
				st := &got.Result.Stages[i]
				if st.Counts.Failed > 0 || len(st.Level.Server) == 0 || st.Server == nil || st.Server.Requests == nil {
					t.Fatalf("failures %+v, server %+v and %+v", st.Failures, st.Level.Server, st.Server)
				}
				sent += st.Server.Requests.Sent
				checkServer(t, kept, i, st)
			}
			// Over the whole command the server counts what was sent, no more and no less.
			if got := counted(t, s.HTTP, c.model, before+sent); got != before+sent {
				t.Errorf("%d requests were sent, the server counts %d", sent, got-before)
			}
		})
	}
	t.Run("traces are set on the server", func(t *testing.T) { tracesAreSet(t, s) })
	t.Run("models that are not there", func(t *testing.T) { modelsNotThere(t, s) })
	t.Run("the original prints the same lines", func(t *testing.T) { sameLines(t, s, dir, ensemble) })
	checkExport(t, export("ensemble.json"), []float64{1, 2}, "text_input")
	checkExport(t, export("old.json"), []float64{1}, "PROMPT")
	if text, err := os.ReadFile(export("postprocessing_v1.pa.csv")); err != nil || strings.Count(string(text), "\n") != 3 {
		t.Errorf("CSV of a composing model %q, %v", text, err)
	}
}

func tracesAreSet(t *testing.T, s *triton.Server) {
	for rate, at := range map[string]string{"7": "-i grpc -u " + s.GRPC, "8": "-u " + s.HTTP} {
		got := command(t, "-m simple --trace-level OFF --trace-rate "+rate+" --trace-count 0 --request-count 2 "+at, nil)
		if got.err != nil || got.Code != frontend.ExitOK {
			t.Fatalf("%s: code %d, %v\n%s", at, got.Code, got.err, got.log)
		}
		resp, err := http.Get("http://" + s.HTTP + "/v2/trace/setting")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(text), `"trace_rate":"`+rate+`"`) || !strings.Contains(string(text), `"trace_count":"0"`) {
			t.Errorf("%s: the server's settings are %s, %v", at, text, err)
		}
	}
}

func modelsNotThere(t *testing.T, s *triton.Server) {
	for line, want := range map[string]string{
		"-m nosuch": `the server has no model "nosuch"`,
		"-m simple --bls-composing-models simple,nosuch": `the composing model nosuch: the server has no model "nosuch"`,
	} {
		got := command(t, line+" -i grpc -u "+s.GRPC, nil)
		if got.Code != frontend.ExitGeneric || got.err == nil || !strings.Contains(got.err.Error(), want) {
			t.Errorf("%s: code %d, %v; want %q", line, got.Code, got.err, want)
		}
	}
}

// sameLines compares reports and CSV files with those of the original.
func sameLines(t *testing.T, s *triton.Server, dir, ensemble string) {
	original := originalTool(t)
	for name, args := range map[string]string{
		"ensemble": "-u " + s.GRPC + " -i grpc -m ensemble --async --streaming --input-data " + ensemble + " -p 400 -v --concurrency-range 1:2:1 -s 99999 --shape max_tokens:1 --shape text_input:1",
		"simple":   "-u " + s.HTTP + " -m simple -p 400 -s 99999 --concurrency-range 2 -b 2 --percentile 95 --verbose-csv",
		"sequence": "-u " + s.GRPC + " -i grpc -m sequence -p 400 -s 99999 --concurrency-range 2",
		"count":    "-u " + s.GRPC + " -i grpc -m simple --async -s 99999 --request-count 40 --concurrency-range 2 -v",
		"rate":     "-u " + s.GRPC + " -i grpc -m simple --async -s 99999 -p 400 --request-rate-range 20:40:20 -l 900",
	} {
		theirs, ours := filepath.Join(dir, name+".theirs.csv"), filepath.Join(dir, name+".ours.csv")
		out := printed(t, original, args+" -f "+theirs)
		got := command(t, args+" -f "+ours, nil)
		if got.Code != frontend.ExitOK {
			t.Fatalf("%s: code %d\n%s%s", name, got.Code, got.out, got.log)
		}
		if diff := cmp.Diff(common(out), common(got.out)); diff != "" {
			t.Errorf("%s: the original (-) and ours (+):\n%s", name, diff)
		}
		if a, b := head(t, theirs), head(t, ours); a != b {
			t.Errorf("%s: CSV of the original\n%s\nand ours\n%s", name, a, b)
		}
	}
}

// successes is how many requests a model has answered since the server started.
func successes(t *testing.T, address, model string) int64 {
	t.Helper()
	resp, err := http.Get("http://" + address + "/v2/models/" + model + "/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var stats struct {
		Models []struct {
			Inference struct{ Success struct{ Count int64 } } `json:"inference_stats"`
		} `json:"model_stats"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&stats); err != nil || len(stats.Models) != 1 {
		t.Fatalf("the statistics of %s: %+v, %v", model, stats, err)
	}
	return stats.Models[0].Inference.Success.Count
}

// counted is what a model has answered once that is as much as is waited for: a server may
// count a request after it has answered it.
func counted(t *testing.T, address, model string, want int64) int64 {
	t.Helper()
	for range 1000 {
		if n := successes(t, address, model); n >= want {
			return n
		}
		time.Sleep(10 * time.Millisecond)
	}
	return successes(t, address, model)
}

// uncounted is how many requests a model may have answered and not counted yet: the answers
// of a batch, of which these models take up to eight, go out before the batch is counted.
const uncounted = 8

// checkServer holds the server's account of the reported windows against the records. A
// request is counted after it was sent, and before the next batch once it was answered; what
// the server says at an edge was true at a moment between the edge and the arrival of its
// words. That bounds the count from both sides, however slow the machine is.
func checkServer(t *testing.T, dir string, stage int, st *result.Stage) {
	t.Helper()
	account, requests := int64(st.Level.Server[0].Success.Count), st.Level.Merged.Requests
	if st.Level.Ended == record.StopWhole {
		if account != requests {
			t.Errorf("the server counts %d requests, and %d were measured", account, requests)
		}
		return
	}
	var edges []record.Edge
	var sent, ended []time.Duration
	_, err := record.File{Path: filepath.Join(dir, rundir.RecordsFile)}.Walk(func(line record.Line) error {
		switch {
		case line.Edge != nil:
			edges = append(edges, *line.Edge)
		case line.Request != nil && line.Request.Stage == stage:
			sent, ended = append(sent, line.Request.Sent), append(ended, line.Request.End)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	by := func(list []time.Duration, at time.Duration) (n int64) {
		for _, d := range list {
			if d <= at {
				n++
			}
		}
		return n
	}
	edges = build.EdgesOf(edges, stage)
	first, last := edges[len(edges)-4], edges[len(edges)-1]
	least := by(ended, last.At) - by(sent, first.Server.At) - uncounted
	most := by(sent, last.Server.At) - by(ended, first.At) + uncounted
	if account == 0 || account < least || account > most {
		t.Errorf("the server counts %d requests over windows with %d; it can have counted %d to %d", account, requests, least, most)
	}
}

// originalTool is the real Perf Analyzer, where it is installed.
func originalTool(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir != filepath.Dir(dir) {
		name := filepath.Join(dir, ".peers", "perf_analyzer", "perf_analyzer")
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			return name
		}
		dir = filepath.Dir(dir)
	}
	t.Skip("needs the real perf_analyzer in .peers")
	return ""
}

// printed is what the original prints, in windows in which the machine gets requests done.
func printed(t *testing.T, original, line string) string {
	t.Helper()
	for {
		var errs strings.Builder
		c := exec.Command(original, strings.Fields(line)...)
		c.Stderr = &errs
		out, err := c.Output()
		if err == nil {
			return string(out)
		}
		longer, ok := inLongerWindows(line)
		if !ok || !strings.Contains(string(out)+errs.String(), "No valid requests recorded") {
			t.Fatalf("the original fails: %v\n%s\n%s%s", err, line, out, errs.String())
		}
		line = longer
	}
}

// common are the lines of a report that both tools have: no blank ones, none of ours
// alone, none about delays, which come and go.
func common(text string) []string {
	return slices.DeleteFunc(shape(text), func(line string) bool {
		return strings.TrimSpace(line) == "" || strings.Contains(line, "First response latency") || strings.Contains(line, "Latency from the scheduled send") ||
			strings.Contains(line, "Avg send request rate") || strings.Contains(line, "[WARNING]")
	})
}

// head is the first line of a file.
func head(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}
