//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/stats"
	"github.com/inferometer/inferometer/bench/table"
)

// perfAnalyzer is the real Perf Analyzer in its OpenAI mode, called the way
// GenAI-Perf calls it.
func perfAnalyzer() competitor {
	return competitor{name: table.NamePA, installed: func(b *bench) error {
		if _, err := os.Stat(perfAnalyzerPath(b)); err != nil {
			return fmt.Errorf("not installed (run make peers): %w", err)
		}
		return nil
	}, command: perfAnalyzerCommand}
}

// perfAnalyzerTTFT is Perf Analyzer with its export, from which alone a time to
// first token can be read.
func perfAnalyzerTTFT() competitor {
	c := perfAnalyzer()
	c.command = func(b *bench, s *server, w work, dir string) (host.Command, error) {
		cmd, err := perfAnalyzerCommand(b, s, w, dir)
		cmd.Args = append(cmd.Args, "--profile-export-file", exportFile(dir))
		cmd.Limit = 0 // it writes the export at its end
		return cmd, err
	}
	c.ttft = func(dir string, _ *host.Process) (ttft, error) {
		f, err := os.Open(exportFile(dir))
		if err != nil {
			return ttft{}, fmt.Errorf("reading Perf Analyzer's export: %w", err)
		}
		defer f.Close()
		first, err := readExportTTFT(f)
		return ttft{p50: stats.Milliseconds(stats.Quantile(first, 0.50)), p99: stats.Milliseconds(stats.Quantile(first, 0.99))}, err
	}
	return c
}

func perfAnalyzerPath(b *bench) string {
	return filepath.Join(b.peers, "perf_analyzer", "perf_analyzer")
}

func exportFile(dir string) string { return filepath.Join(dir, "profile_export.json") }

// perfAnalyzerCommand asks for three windows, the fewest it accepts, whose sum is
// the work's duration. A window lasts 1.2 times what is asked for, and on a busy core
// its measuring thread may get no CPU for minutes: what counts has been seen from
// outside long before that, so it is cut short.
func perfAnalyzerCommand(b *bench, s *server, w work, dir string) (host.Command, error) {
	inputs := filepath.Join(dir, "inputs.json")
	text, err := perfAnalyzerInputs(w)
	if err == nil {
		err = os.WriteFile(inputs, text, 0o644)
	}
	window := w.duration / 4
	argv := []string{perfAnalyzerPath(b), "-m", "mock", "--async", "--service-kind", "openai",
		"--endpoint", "v1/chat/completions", "-u", s.url, "--input-data", inputs, "--stability-percentage", "999",
		"--measurement-interval", strconv.FormatInt(window.Milliseconds(), 10)}
	if w.rate > 0 {
		argv = append(argv, "--request-rate-range", strconv.FormatFloat(w.rate, 'f', -1, 64), "--request-distribution", "poisson")
	} else {
		argv = append(argv, "--concurrency-range", strconv.Itoa(w.inFlight))
	}
	return host.Command{Args: argv, Limit: 3 * w.duration}, err
}

// perfAnalyzerInputs is an input file of 100 prompts.
func perfAnalyzerInputs(w work) ([]byte, error) {
	type entry struct {
		Payload []map[string]any `json:"payload"`
	}
	var file struct {
		Data []entry `json:"data"`
	}
	for i := range 100 {
		file.Data = append(file.Data, entry{Payload: []map[string]any{chatBody(i, w)}})
	}
	return json.Marshal(file)
}

// exportRequest is one request of a profile export.
type exportRequest struct {
	Timestamp int64   `json:"timestamp"` // ns since the epoch
	Stamps    []int64 `json:"response_timestamps"`
	Outputs   []struct {
		Response string `json:"response"`
	} `json:"response_outputs"`
}

// readExportTTFT reads a profile export and returns for each request the time to
// its first response with text. Requests are read one at a time: an export can be
// hundreds of megabytes.
func readExportTTFT(r io.Reader) ([]time.Duration, error) {
	dec := json.NewDecoder(r)
	for {
		token, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("looking for the requests of a profile export: %w", err)
		}
		if token == "requests" {
			break
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("reading the requests of a profile export: %w", err)
	}
	var first []time.Duration
	for dec.More() {
		var req exportRequest
		if err := dec.Decode(&req); err != nil {
			return nil, fmt.Errorf("reading request %d of a profile export: %w", len(first), err)
		}
		if at, ok := req.first(); ok {
			first = append(first, time.Duration(at-req.Timestamp))
		}
	}
	return first, nil
}

// first is the stamp of the first response that holds text.
func (r exportRequest) first() (int64, bool) {
	for i, out := range r.Outputs {
		if i < len(r.Stamps) && hasText(out.Response) {
			return r.Stamps[i], true
		}
	}
	return 0, false
}

// hasText reports whether one of the response's SSE events holds content.
func hasText(response string) bool {
	for l := range strings.Lines(response) {
		data, ok := strings.CutPrefix(l, "data:")
		if !ok {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content string `json:"content"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if json.Unmarshal(bytes.TrimSpace([]byte(data)), &chunk) == nil &&
			len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
			return true
		}
	}
	return false
}
