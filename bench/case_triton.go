//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/stats"
	"github.com/inferometer/inferometer/bench/table"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/record"
)

// tritonModel answers with the tensors of vLLM's backend.
const tritonModel = "vllm"

// oursTriton is the program under test over Triton's gRPC.
func oursTriton() competitor {
	c := ours()
	c.command = func(b *bench, s *server, w work, dir string) (host.Command, error) {
		argv := []string{b.program, "run", "grpc://" + s.grpc, "--model", tritonModel, "--concurrency", strconv.Itoa(w.inFlight),
			"--duration", w.duration.String()}
		return host.Command{Args: append(argv, commonFlags(w, dir)...), OKCodes: []int{1}}, nil
	}
	return c
}

// perfAnalyzerTriton is the real Perf Analyzer over Triton's gRPC, with the same
// prompts and as many windows as in its OpenAI mode.
func perfAnalyzerTriton() competitor {
	c := perfAnalyzer()
	c.command = func(b *bench, s *server, w work, dir string) (host.Command, error) {
		inputs := filepath.Join(dir, "inputs.json")
		text, err := perfAnalyzerTensors(w)
		if err == nil {
			err = os.WriteFile(inputs, text, 0o644)
		}
		window := w.duration / 4
		argv := []string{perfAnalyzerPath(b), "-m", tritonModel, "-i", "grpc", "--streaming", "--async", "-u", s.grpc,
			"--input-data", inputs, "--stability-percentage", "999", "--concurrency-range", strconv.Itoa(w.inFlight),
			"--measurement-interval", strconv.FormatInt(window.Milliseconds(), 10)}
		return host.Command{Args: argv, Limit: 3 * w.duration}, err
	}
	return c
}

// perfAnalyzerTensors is an input file with one step for each prompt.
func perfAnalyzerTensors(w work) ([]byte, error) {
	type step struct {
		Text     []string `json:"text_input"`
		Stream   []bool   `json:"stream"`
		Sampling []string `json:"sampling_parameters"`
	}
	var file struct {
		Data []step `json:"data"`
	}
	for i := range prompts {
		file.Data = append(file.Data, step{[]string{promptText(i)}, []bool{true}, []string{fmt.Sprintf(`{"max_tokens":%d}`, w.events)}})
	}
	return json.Marshal(file)
}

// tritonRows measure streaming over Triton's gRPC.
func tritonRows() []row {
	c := throughputCase{name: "requests/s over Triton's gRPC, 64 in flight, 16 responses each", unit: "request", needsPA: true,
		server: serverSpec{events: 16, grpc: true}, work: work{inFlight: 64, events: 16, stream: true}}
	c.competitors = []competitor{oursTriton(), perfAnalyzerTriton()}
	c.judge = func(l *table.Line, f field, c throughputCase) { c.faster(l, f, table.NamePA, 1.2) }
	return []row{
		{c.name, withServer(c.server, c.measure)},
		{"error of TTFT over Triton's gRPC, p50 / p99 / p99.9, 256 in flight", tritonTTFT},
	}
}

// tritonTTFT compares our time to first token with the server's log: both count
// from our send, so that the difference is the error of our stamp.
func tritonTTFT(ctx context.Context, b *bench) (l table.Line) {
	var runs [][]time.Duration
	for range b.reps {
		errors, err := b.tritonTTFTRun(ctx)
		if err != nil {
			l.Miss(table.NameOurs, err)
			return l
		}
		runs = append(runs, errors)
	}
	q := func(p float64) float64 {
		return stats.MedianOf(runs, func(e []time.Duration) float64 { return stats.Microseconds(stats.Quantile(e, p)) })
	}
	l.Add(table.NameOurs, table.Three(q, " µs"), "")
	l.AtMost("p99", q(0.99)/1000, 0.5, " ms")
	return l
}

func (b *bench) tritonTTFTRun(ctx context.Context) ([]time.Duration, error) {
	spec := serverSpec{ttft: 50 * time.Millisecond, itl: 10 * time.Millisecond, events: 16, truth: true, grpc: true}
	s, err := b.startServer(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer s.Stop()
	a, err := b.try(ctx, oursTriton(), s, work{inFlight: 256, stream: true, events: spec.events, duration: b.load})
	if err != nil {
		return nil, err
	}
	truth, err := s.log(ctx)
	if err != nil {
		return nil, err
	}
	return firstTokenErrors(a.dir, truth)
}

// firstTokenErrors is how far our stamp of each request's first token lies from the
// moment at which the server wrote it.
func firstTokenErrors(dir string, truth []truthfile.Request) ([]time.Duration, error) {
	wrote := map[int64]int64{}
	for _, t := range truth {
		seq, ok := sequence(t.ID)
		for _, e := range t.Events {
			if ok && e.Tokens > 0 {
				wrote[seq] = e.At
				break
			}
		}
	}
	stamped := map[int64]time.Duration{}
	f, err := readRecords(dir, func(r *record.Record) {
		for _, e := range r.Events {
			if e.Label.IsToken() {
				stamped[r.Seq] = r.Marks[e.Mark].Time()
				break
			}
		}
	})
	if err != nil {
		return nil, err
	}
	var out []time.Duration
	for seq, at := range stamped {
		written, ok := wrote[seq]
		if !ok {
			return nil, fmt.Errorf("the server's log has no first token of request %d", seq)
		}
		out = append(out, time.Duration(f.start.UnixNano()+int64(at)-written).Abs())
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no responses in %s", strings.TrimSpace(dir))
	}
	return out, nil
}
