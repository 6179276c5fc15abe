package perfanalyzer

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/testkit/triton"
	frontend "github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
	"github.com/inferometer/inferometer/internal/tool/profileexport"
)

// readExport reads a profile export of one experiment, its requests in the order in which
// they went.
func readExport(t *testing.T, name string) profileexport.Experiment {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := profileexport.Read(f)
	if err != nil || len(doc.Experiments) != 1 {
		t.Fatalf("%d experiments, %v", len(doc.Experiments), err)
	}
	e := doc.Experiments[0]
	slices.SortFunc(e.Requests, func(a, b profileexport.Request) int { return int(a.Timestamp) - int(b.Timestamp) })
	return e
}

// checkGrowth looks whether requests went in steps, each when all of the one before had so
// many responses.
func checkGrowth(t *testing.T, e profileexport.Experiment, steps []int, period int) {
	t.Helper()
	if e.Load != (profileexport.Load{Mode: "concurrency", Value: 1}) || !slices.Equal(e.Windows, []uint64{0, math.MaxUint64}) {
		t.Errorf("%+v with windows %v", e.Load, e.Windows)
	}
	var ready uint64 // when the step before had its responses
	rest := e.Requests
	for i, n := range steps {
		if len(rest) < n {
			t.Fatalf("%d requests, too few for steps of %v", len(e.Requests), steps)
		}
		var next uint64
		for _, r := range rest[:n] {
			if r.Timestamp < ready {
				t.Errorf("a request of step %d went %v before the last one had %d responses", i+1, time.Duration(ready-r.Timestamp), period)
			}
			next = max(next, r.Moments[period-1])
		}
		// What follows goes after this step, and not with it.
		if rest = rest[n:]; len(rest) > 0 && rest[0].Timestamp < next {
			t.Errorf("step %d has more than %d requests", i+1, n)
		}
		ready = next
	}
	if len(rest) > 0 {
		t.Errorf("%d requests more than steps of %v", len(rest), steps)
	}
}

const prompts = `{"data":[{"text_input":["hello world"],"stream":[true]},{"text_input":["good day"],"stream":[true]}]}`

// differs: pa-short-answer
func TestPeriodic(t *testing.T) {
	s := serve(t, func(c *config.Server) {
		c.Output.Tokens = 6
		c.Latency.ITL = 5 * time.Millisecond
	})
	export := filepath.Join(t.TempDir(), "export.json")
	line := "-m vllm -i grpc --streaming -u " + s.grpc + " --input-data " + write(t, "in.json", prompts) + " --profile-export-file " + export
	t.Run("steps", func(t *testing.T) {
		got := command(t, line+" --periodic-concurrency-range 1:7:2 --request-period 3", nil)
		if got.err != nil || got.Code != frontend.ExitOK {
			t.Fatalf("code %d, %v\n%s%s", got.Code, got.err, got.out, got.log)
		}
		if strings.Contains(got.out, "Request concurrency") || strings.Contains(got.out, "Inferences/Second") {
			t.Errorf("there are no levels to report:\n%s", got.out)
		}
		checkGrowth(t, readExport(t, export), []int{1, 2, 2, 2}, 3)
	})
	t.Run("an answer ends early", func(t *testing.T) {
		got := command(t, line+" --periodic-concurrency-range 2:4:1 --request-period 50", nil)
		if got.Code != frontend.ExitGeneric || !strings.Contains(got.log, "the load stopped growing after 2 of 4 requests") {
			t.Errorf("code %d\n%s", got.Code, got.log)
		}
		if e := readExport(t, export); len(e.Requests) != 2 {
			t.Errorf("%d requests in the export: what was measured is lost", len(e.Requests))
		}
	})
	t.Run("events of OpenAI", func(t *testing.T) {
		got := command(t, openAI(t, s, "--streaming --periodic-concurrency-range 2:4:2 --request-period 2 --profile-export-file "+export), nil)
		if got.err != nil || got.Code != frontend.ExitOK {
			t.Fatalf("code %d, %v\n%s%s", got.Code, got.err, got.out, got.log)
		}
		// Events of one read are one response of the export, so that its first may be the second.
		checkGrowth(t, readExport(t, export), []int{2, 2}, 1)
	})
}

// The original and ours on one real Triton server: the same report, the same steps.
func TestRealPeriodic(t *testing.T) {
	original := originalTool(t)
	s := triton.Start(t, "vllm_model")
	data := write(t, "in.json", `{"data":[{"text_input":["hello world"],"stream":[true],"sampling_parameters":["{\"max_tokens\": 8, \"ttft_ms\": 20, \"itl_ms\": 5}"]}]}`)
	dir := t.TempDir()
	args := "-m vllm_model -i grpc --async --streaming -u " + s.GRPC + " --input-data " + data + " --periodic-concurrency-range 1:5:2 --request-period 4 --profile-export-file "
	theirs, ours := filepath.Join(dir, "theirs.json"), filepath.Join(dir, "ours.json")
	out, err := exec.Command(original, strings.Fields(args+theirs)...).Output()
	if err != nil {
		t.Fatalf("the original fails: %v\n%s", err, out)
	}
	got := command(t, args+ours, nil)
	if got.err != nil || got.Code != frontend.ExitOK {
		t.Fatalf("code %d, %v\n%s%s", got.Code, got.err, got.out, got.log)
	}
	if diff := cmp.Diff(common(string(out)), common(got.out)); diff != "" {
		t.Errorf("the original (-) and ours (+):\n%s", diff)
	}
	a, b := readExport(t, theirs), readExport(t, ours)
	checkGrowth(t, a, []int{1, 2, 2}, 4)
	checkGrowth(t, b, []int{1, 2, 2}, 4)
	for i := range b.Requests {
		x, y := a.Requests[i], b.Requests[i]
		if len(x.Moments) != len(y.Moments) || len(x.Inputs) != len(y.Inputs) {
			t.Errorf("request %d has %d responses and %d inputs, the original's %d and %d", i, len(y.Moments), len(y.Inputs), len(x.Moments), len(x.Inputs))
		}
	}
}
