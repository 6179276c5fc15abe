package analyzerreport

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep"
)

var update = flag.Bool("update", false, "write the golden files")

const usec = time.Microsecond

// sum is so many times an average of microseconds.
func sum(n, us uint64) record.CountTime { return record.CountTime{Count: n, NS: n * us * 1000} }

func spread(avg, std time.Duration, p50, p90, p95, p99 time.Duration) sweep.LatencyStats {
	return sweep.LatencyStats{Avg: avg * usec, Std: std * usec,
		Percentiles: []sweep.Percentile{{P: 50, Value: p50 * usec}, {P: 90, Value: p90 * usec}, {P: 95, Value: p95 * usec},
			{P: 99, Value: p99 * usec}}}
}

// model is one that is made of no others.
func model(name string, n, total, queue, input, infer, output uint64) record.ModelStats {
	return record.ModelStats{
		Name: name, Version: "1", Inferences: n, Executions: n, Success: sum(n, total), Queue: sum(n, queue),
		ComputeInput: sum(n, input), ComputeInfer: sum(n, infer), ComputeOutput: sum(n, output),
	}
}

// ensemble is a level of an ensemble of three that streams.
func ensemble(concurrency float64, throughput float64) LevelReport {
	first := spread(40_000, 900, 39_000, 41_000, 42_000, 60_000)
	whole := record.ModelStats{
		Name: "ensemble", Version: "1", Inferences: 217, Executions: 217, Success: sum(217, 98_822), Queue: sum(217, 2),
		ComputeInput: sum(217, 628), ComputeInfer: sum(217, 6309), ComputeOutput: sum(217, 3269),
		Composing: []record.ModelStats{
			model("postprocessing", 3472, 995, 422, 34, 338, 196),
			model("preprocessing", 219, 813, 128, 39, 525, 117),
			model("tensorrt_llm", 219, 478, 72, 35, 363, 5),
		},
	}
	return LevelReport{
		Load: LevelLoad{Value: concurrency},
		Client: sweep.Window{
			Requests: 217, Throughput: throughput, Streamed: throughput * 16, Overhead: 0.000123,
			Latency: spread(99_193, 6427, 97_647, 99_208, 107_529, 133_275), First: &first,
		},
		Server: &whole,
	}
}

// simple is a level of an ordinary model.
func simple(load LevelLoad, throughput float64) LevelReport {
	m := model("simple", 5999, 925, 619, 28, 178, 98)
	return LevelReport{
		Load: load,
		Client: sweep.Window{
			Requests: 5999, Throughput: throughput, Latency: spread(1151, 412, 1099, 1301, 1413, 2754),
			Request: 1144 * usec, Send: 5 * usec, Receive: 1 * usec,
		},
		Server: &m,
	}
}

// cachedPart is a level of an ensemble of ensembles, of which one model has a cache.
func cachedPart() LevelReport {
	part := model("part", 1, 14_689, 17, 46, 14_601, 41)
	part.Success, part.CacheHit, part.CacheMiss, part.Cache = sum(10, 1500), sum(9, 15), sum(1, 67), true
	inner := model("inner", 10, 9000, 1, 80, 7900, 90)
	inner.Composing = []record.ModelStats{model("first", 10, 6766, 57, 44, 5463, 64), part}
	outer := model("outer", 10, 9500, 2, 85, 8000, 95)
	outer.Composing = []record.ModelStats{inner}
	l := simple(LevelLoad{Value: 1}, 10)
	l.Server = &outer
	return l
}

// report prints everything.
func report(t *testing.T, s Settings, levels []LevelReport, o Options) string {
	t.Helper()
	var b strings.Builder
	must(t, WriteSettings(&b, &s))
	for i := range levels {
		must(t, WriteLoad(&b, levels[i].Load))
		if o.Verbose {
			for n := range 3 {
				must(t, WritePass(&b, n+1, &levels[i].Client, o.Percentile))
			}
		}
		must(t, WriteLevel(&b, &levels[i], o))
	}
	must(t, WriteSummary(&b, levels, o.Percentile))
	return b.String()
}

func twoGPUs() []record.GPU {
	return []record.GPU{
		{UUID: "GPU-a", Utilization: 0.4567, Power: 71.5, MemoryUsed: 1 << 30, MemoryTotal: 8 << 30},
		{UUID: "GPU-b", Utilization: 1, Power: 300, MemoryUsed: 1, MemoryTotal: 2},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

func ensembleSettings() Settings {
	return Settings{
		Streams: 1, Steps: 1376, Batch: 1, Service: "TRITON", WindowMS: 10000, Async: true, Decoupled: true,
		ConcurrencyStart: 6, ConcurrencyEnd: 8, RateStart: 1, RateEnd: 1,
	}
}

// differs: pa-digits
func TestConsole(t *testing.T) {
	gpus := simple(LevelLoad{Value: 1}, 831.848)
	gpus.GPUs = twoGPUs()
	rate := simple(LevelLoad{Rate: true, Value: 20}, 19.98)
	rate.Client.Delayed, rate.Client.SendRate, rate.Client.Failed = 600, 19.5, 3
	rate.Client.Overhead = 0.6
	rate.Client.FromDue = spread(2000, 0, 1900, 2100, 2200, 9000)
	p95 := simple(LevelLoad{Value: 4}, 1234567.8)
	p95.Client.Sequences, p95.Client.End = 30, 12*time.Second
	cached := simple(LevelLoad{Value: 1}, 10)
	cached.Server.CacheHit, cached.Server.CacheMiss = sum(100, 3), sum(5899, 7)
	behind := cachedPart()
	behind.Server.Cache, behind.Server.CacheHit, behind.Server.CacheMiss = true, sum(9, 8), sum(1, 27)
	idle := simple(LevelLoad{Value: 1}, 10)
	idle.Server = &record.ModelStats{Name: "m", Version: "1"}
	for _, c := range []struct {
		name     string
		settings Settings
		levels   []LevelReport
		options  Options
	}{
		{"ensemble.txt", ensembleSettings(), []LevelReport{ensemble(6, 33.5238), ensemble(7, 33.7738)}, Options{Verbose: true, Decoupled: true, GRPC: true}},
		{"simple.txt", Settings{Batch: 1, Service: "TRITON", WindowMS: 2000, ConcurrencyStart: 1, ConcurrencyEnd: 4, RateEnd: 1},
			[]LevelReport{simple(LevelLoad{Value: 1}, 831.848), simple(LevelLoad{Value: 3}, 1882.11)}, Options{GRPC: true, Library: true}},
		{"gpus.txt", Settings{Batch: 8, Service: "TRITON", CountWindows: true, WindowRequests: 50, ConcurrencyEnd: 1, RateEnd: 1}, []LevelReport{gpus}, Options{Library: true}},
		{"rate.txt", Settings{Service: "OPENAI", Rate: true, Poisson: true, Async: true, WindowMS: 5000, Threshold: 70, Binary: true, ConcurrencyEnd: 1, RateStart: 10, RateEnd: 20},
			[]LevelReport{rate}, Options{Library: true, Verbose: true}},
		{"percentile.txt", Settings{Service: "OPENAI", Requests: 30, Warmup: 1, ConcurrencyEnd: 0, RateEnd: 1, Percentile: 95}, []LevelReport{p95}, Options{Percentile: 95, Library: true, Verbose: true, GRPC: true, Sequence: true}},
		{"cached.txt", Settings{Service: "TRITON", WindowMS: 1, Percentile: 90, ConcurrencyEnd: 1, RateEnd: 1}, []LevelReport{cached, idle}, Options{}},
		{"cachedpart.txt", Settings{Service: "TRITON", WindowMS: 1, ConcurrencyEnd: 1, RateEnd: 1}, []LevelReport{cachedPart(), behind}, Options{}},
	} {
		golden(t, c.name, report(t, c.settings, c.levels, c.options))
	}
}

// shape is a text without its numbers, blanks at the ends of lines, and empty lines.
func shape(text string) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimRight(regexp.MustCompile(`\d+(\.\d+)?`).ReplaceAllString(line, "N"), " "); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// The lines of the seed's report, in its order. It is of an earlier release, which had an empty
// line behind each composing model.
func TestShapeOfTheSeed(t *testing.T) {
	const want = ` Successfully read data for N stream/streams with N step/steps.
*** Measurement Settings ***
  Batch size: N
  Service Kind: TRITON
  Using "time_windows" mode for stabilization
  Stabilizing using average throughput
  Measurement window: N msec
  Latency limit: N msec
  Concurrency limit: N concurrent requests
  Using asynchronous calls for inference
  Detected decoupled model, using the first response for measuring latency

Request concurrency: N
  Pass [N] throughput: N infer/sec. Avg latency: N usec (std N usec).
  Pass [N] throughput: N infer/sec. Avg latency: N usec (std N usec).
  Pass [N] throughput: N infer/sec. Avg latency: N usec (std N usec).
  Client:
    Request count: N
    Throughput: N infer/sec
    Response Throughput: N infer/sec
    Avg client overhead: N%
    Avg latency: N usec (standard deviation N usec)
    pN latency: N usec
    pN latency: N usec
    pN latency: N usec
    pN latency: N usec

  Server:
    Inference count: N
    Execution count: N
    Successful request count: N
    Avg request latency: N usec (overhead N usec + queue N usec + compute N usec)

  Composing models:
  postprocessing, version: N
      Inference count: N
      Execution count: N
      Successful request count: N
      Avg request latency: N usec (overhead N usec + queue N usec + compute input N usec + compute infer N usec + compute output N usec)

  preprocessing, version: N
      Inference count: N
      Execution count: N
      Successful request count: N
      Avg request latency: N usec (overhead N usec + queue N usec + compute input N usec + compute infer N usec + compute output N usec)

  tensorrt_llm, version: N
      Inference count: N
      Execution count: N
      Successful request count: N
      Avg request latency: N usec (overhead N usec + queue N usec + compute input N usec + compute infer N usec + compute output N usec)

Inferences/Second vs. Client Average Batch Latency
Concurrency: N, throughput: N infer/sec, latency N usec
`
	l := ensemble(6, 33.5238)
	l.Client.First = nil // a line of our own
	got := report(t, ensembleSettings(), []LevelReport{l}, Options{Verbose: true, Decoupled: true, GRPC: true})
	if diff := cmp.Diff(shape(want), shape(got)); diff != "" {
		t.Error(diff)
	}
}

func TestCSV(t *testing.T) {
	gpu := simple(LevelLoad{Value: 1}, 831.848)
	gpu.GPUs = twoGPUs()
	cached := simple(LevelLoad{Value: 2}, 10)
	cached.Server.CacheHit, cached.Server.CacheMiss = sum(100, 3), sum(5899, 7)
	bare := simple(LevelLoad{Rate: true, Value: 2.5}, 2.5)
	bare.Server = nil
	for _, c := range []struct {
		name   string
		levels []LevelReport
		o      CSVOptions
	}{
		{"ensemble.csv", []LevelReport{ensemble(2, 20.0827)}, CSVOptions{Decoupled: true}},
		{"simple.csv", []LevelReport{simple(LevelLoad{Value: 3}, 1882.11), simple(LevelLoad{Value: 1}, 831.848)}, CSVOptions{}},
		{"verbose.csv", []LevelReport{gpu}, CSVOptions{Verbose: true, GPUs: true}},
		{"cached.csv", []LevelReport{cached}, CSVOptions{}},
		{"cachedpart.csv", []LevelReport{cachedPart()}, CSVOptions{}},
		{"rate.csv", []LevelReport{bare}, CSVOptions{Verbose: true}},
		{"percentile.csv", []LevelReport{bare}, CSVOptions{Verbose: true, Percentile: true}},
	} {
		var b strings.Builder
		must(t, CSV(&b, c.levels, c.o))
		golden(t, c.name, b.String())
	}
}

func TestComposingCSV(t *testing.T) {
	levels := []LevelReport{ensemble(2, 20.0827)}
	list := Composing(levels)
	if len(list) != 3 {
		t.Fatalf("%d composing models", len(list))
	}
	if name := ComposingName("out/pa.csv", &list[0]); name != filepath.Join("out", "postprocessing_v1.pa.csv") {
		t.Errorf("file %s", name)
	}
	var b strings.Builder
	must(t, ComposingCSV(&b, levels, "postprocessing", "1"))
	want := `Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,Server Compute Infer,Server Compute Output,Client Recv
2,321.323,0,5,422,34,338,196,0
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// Models have a file each, those that they are made of none; and all of them have the columns of a
// cache where one model has it.
func TestComposingCSVOfACache(t *testing.T) {
	l := cachedPart()
	inner := &l.Server.Composing[0]
	if list := Composing([]LevelReport{l}); len(list) != 1 || list[0].Name != "inner" {
		t.Errorf("%d composing models, %+v", len(list), list)
	}
	l.Server = inner
	var b strings.Builder
	must(t, ComposingCSV(&b, []LevelReport{l}, "first", "1"))
	must(t, ComposingCSV(&b, []LevelReport{l}, "part", "1"))
	want := `Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,Server Compute Infer,Server Compute Output,Server Cache Hit,Server Cache Miss,Client Recv
1,10,0,1138,57,44,5463,64,0,0,0
Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,Server Compute Infer,Server Compute Output,Server Cache Hit,Server Cache Miss,Client Recv
1,10,0,0,17,46,14601,41,15,67,0
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	// part, and the level itself: its latency is below what its model accounts for.
	if n := Unaccounted([]LevelReport{l}); n != 2 {
		t.Errorf("%d rows have nothing left, want 2", n)
	}
}

func TestEmptyPass(t *testing.T) {
	var b strings.Builder
	must(t, WritePass(&b, 2, &sweep.Window{}, 0))
	if !strings.Contains(b.String(), "Pass [2] cb::Error: No valid requests recorded within time interval.") {
		t.Error(b.String())
	}
	b.Reset()
	must(t, WriteSummary(&b, nil, 0))
	must(t, CSV(&b, nil, CSVOptions{}))
	if b.String() != "" {
		t.Errorf("nothing was measured, and yet: %q", b.String())
	}
}
