//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/table"
)

// The peers of the full table besides Perf Analyzer. All are Python programs, in
// environments of their own.
func pythonPeers() []competitor {
	return []competitor{
		{name: "GenAI-Perf", command: genaiPerfCommand, ttft: exportedTTFT("profile_export_genai_perf.json"), installed: peerInstalled("genai-perf", "genai-perf")},
		{name: "AIPerf", command: aiperfCommand, ttft: exportedTTFT("profile_export_aiperf.json"), installed: peerInstalled("aiperf", "aiperf")},
		{name: "inference-perf", command: inferencePerfCommand, ttft: inferencePerfTTFT, installed: peerInstalled("inference-perf", "inference-perf")},
		{name: "GuideLLM", command: guidellmCommand, ttft: guidellmTTFT, installed: peerInstalled("guidellm", "guidellm")},
	}
}

// peerPatience is how long a Python peer may take for one run; each has most of a minute's work.
const peerPatience = 4 * time.Minute

var errPeerHangs = fmt.Errorf("it had not ended after %v", peerPatience)

// otherPeers measures the Python peers for a row of the full table. One that is
// not installed leaves the row unmeasured; one that loses its run is told of. They
// are measured once: no bound hangs on them, and each takes most of a minute.
func (b *bench) otherPeers(ctx context.Context, l *table.Line, s *server, w work, report func(*table.Line, field, string)) {
	for _, p := range pythonPeers() {
		patient, cancel := context.WithTimeoutCause(ctx, peerPatience, errPeerHangs)
		f := b.competeTimes(patient, s, w, []competitor{p}, 1)
		if errors.Is(context.Cause(patient), errPeerHangs) {
			delete(f.attempts, p.name)
			f.missing[p.name] = errPeerHangs
		}
		cancel()
		b.peerResult(l, p, f, report)
	}
}

// peerResult reports what a peer did. One that is not installed leaves the row unmeasured.
func (b *bench) peerResult(l *table.Line, p competitor, f field, report func(*table.Line, field, string)) {
	switch err := p.installed(b); {
	case err != nil:
		l.Miss(p.name, err)
	case !f.has(p.name):
		l.Add(p.name, "lost", "it lost the run: %s", brief(f.missing[p.name]))
	default:
		report(l, f, p.name)
	}
}

// brief is an error in the length that a table has room for.
func brief(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if len(text) > 160 {
		text = strings.ToValidUTF8(text[:80], "") + " … " + strings.ToValidUTF8(text[len(text)-80:], "")
	}
	return text
}

func peerPath(b *bench, env, program string) string {
	return filepath.Join(b.peers, env, "bin", program)
}

func peerInstalled(env, program string) func(*bench) error {
	return func(b *bench) error {
		for _, p := range []string{peerPath(b, env, program), filepath.Join(tokenizerDir(b), "tokenizer.json")} {
			if _, err := os.Stat(p); err != nil {
				return fmt.Errorf("not installed (run make peers): %w", err)
			}
		}
		return nil
	}
}

func tokenizerDir(b *bench) string { return filepath.Join(b.peers, "tokenizer") }

// peerRequests is how many requests to ask of a peer that wants a number: what
// the fastest of them does in the time.
func peerRequests(w work) int {
	if w.requests > 0 {
		return w.requests
	}
	perSecond := 400
	if w.events > 100 {
		perSecond = 60
	}
	return max(int(w.duration.Seconds()*float64(perSecond)), 4*w.inFlight)
}

var offline = []string{"HF_HUB_OFFLINE=1", "TOKENIZERS_PARALLELISM=false"}

func genaiPerfCommand(b *bench, s *server, w work, dir string) (host.Command, error) {
	bin := peerPath(b, "genai-perf", "genai-perf")
	argv := []string{bin, "profile", "-m", "mock", "--endpoint-type", "chat", "-u", s.url, "--tokenizer", tokenizerDir(b),
		"--isl", strconv.Itoa(promptWords), "--osl", strconv.Itoa(w.events), "--num-dataset-entries", "100",
		"--request-count", strconv.Itoa(genaiPerfRequests(w)), "--artifact-dir", dir}
	if w.rate > 0 {
		argv = append(argv, "--request-rate", strconv.FormatFloat(w.rate, 'f', -1, 64))
	} else {
		argv = append(argv, "--concurrency", strconv.Itoa(w.inFlight))
	}
	if w.stream {
		argv = append(argv, "--streaming")
	}
	env := append([]string{"PATH=" + filepath.Dir(bin) + string(os.PathListSeparator) + os.Getenv("PATH")}, offline...)
	return host.Command{Args: argv, Env: env, Dir: dir}, nil
}

// genaiPerfRequests differs from the others': Perf Analyzer does the sending.
func genaiPerfRequests(w work) int {
	if w.requests > 0 {
		return w.requests
	}
	if w.rate > 0 {
		return int(w.rate * w.duration.Seconds())
	}
	perSecond := 5000
	if w.events > 100 {
		perSecond = 400
	}
	return max(int(w.duration.Seconds())*perSecond, 4*w.inFlight)
}

func aiperfCommand(b *bench, s *server, w work, dir string) (host.Command, error) {
	argv := []string{peerPath(b, "aiperf", "aiperf"), "profile", "-m", "mock", "-u", s.url, "--endpoint-type", "chat",
		"--tokenizer", tokenizerDir(b), "--isl", strconv.Itoa(promptWords), "--osl", strconv.Itoa(w.events),
		"--num-dataset-entries", "100", "--benchmark-duration", strconv.Itoa(int(w.duration.Seconds())), "--ui", "none",
		"--artifact-dir", dir, "--no-server-metrics", "--no-gpu-telemetry"}
	if w.rate > 0 {
		argv = append(argv, "--request-rate", strconv.FormatFloat(w.rate, 'f', -1, 64), "--arrival-pattern", "poisson")
	} else {
		argv = append(argv, "--concurrency", strconv.Itoa(w.inFlight))
	}
	if w.stream {
		argv = append(argv, "--streaming")
	}
	return host.Command{Args: argv, Dir: dir}, nil
}

func inferencePerfCommand(b *bench, s *server, w work, dir string) (host.Command, error) {
	n := peerRequests(w)
	load := fmt.Sprintf("type: concurrent\n  worker_max_concurrency: %d\n  stages: [{num_requests: %d, concurrency_level: %d}]", w.inFlight, n, w.inFlight)
	if w.rate > 0 {
		load = fmt.Sprintf("type: poisson\n  worker_max_concurrency: 1000\n  stages: [{rate: %g, duration: %d}]", w.rate, int(w.duration.Seconds()))
	}
	file, err := perfConfig(b, s, w, dir, load, n, false)
	return host.Command{Args: []string{peerPath(b, "inference-perf", "inference-perf"), "-c", file}, Env: offline, Dir: dir}, err
}

// perfConfig writes a config file of inference-perf with so many prompts.
func perfConfig(b *bench, s *server, w work, dir, load string, prompts int, perStage bool) (string, error) {
	fixed := func(length int) string {
		return fmt.Sprintf("{type: fixed, mean: %d, min: %d, max: %d, std_dev: 0, total_count: %d}", length, length, length, prompts)
	}
	config := fmt.Sprintf(`api: {type: completion, streaming: %t}
data:
  type: random
  input_distribution: %s
  output_distribution: %s
load:
  num_workers: 1
  %s
server: {type: vllm, model_name: mock, base_url: %q, ignore_eos: true}
tokenizer: {pretrained_model_name_or_path: %q}
storage: {local_storage: {path: %q}}
report: {request_lifecycle: {summary: true, per_stage: %t, per_request: false}}
`, w.stream, fixed(promptWords), fixed(w.events), load, s.url, tokenizerDir(b), outDir(dir), perStage)
	file := filepath.Join(dir, "config.yml")
	return file, os.WriteFile(file, []byte(config), 0o644)
}

func guidellmCommand(b *bench, s *server, w work, dir string) (host.Command, error) {
	var prompts strings.Builder
	for i := range 1000 {
		body := chatBody(i, w)
		text, err := json.Marshal(map[string]any{"prompt": body["messages"].([]map[string]string)[0]["content"], "output_tokens_count": w.events})
		if err != nil {
			return host.Command{}, err
		}
		prompts.Write(append(text, '\n'))
	}
	file := filepath.Join(dir, "prompts.jsonl")
	if err := os.WriteFile(file, []byte(prompts.String()), 0o644); err != nil {
		return host.Command{}, err
	}
	profile := fmt.Sprintf("kind=concurrent,streams=%d", w.inFlight)
	if w.rate > 0 {
		profile = fmt.Sprintf("kind=poisson,rate=%g", w.rate)
	}
	argv := []string{peerPath(b, "guidellm", "guidellm"), "run",
		"--backend", fmt.Sprintf("kind=openai_http,target=%s,model=mock,http2=false,stream=%t", s.url, w.stream),
		"--profile", profile,
		"--constraint", fmt.Sprintf("kind=max_duration,seconds=%d", int(w.duration.Seconds())),
		"--tokenizer", "kind=huggingface_auto,model=" + tokenizerDir(b),
		"--data", "kind=json_file,path=" + file,
		"--output", "kind=json,path=" + filepath.Join(dir, "out.json"), "--disable-progress"}
	return host.Command{Args: argv, Env: append([]string{"GUIDELLM__MAX_WORKER_PROCESSES=1"}, offline...), Dir: dir}, nil
}

// vllmBench is the Rust client that comes with vLLM. It streams whatever is asked of it.
func vllmBench() competitor {
	installed := func(b *bench) error {
		if _, err := os.Stat(vllmBenchPath(b)); err != nil {
			return fmt.Errorf("not installed (run make peers): %w", err)
		}
		return nil
	}
	return competitor{name: table.NameVLLM, command: vllmBenchCommand, installed: installed}
}

func vllmBenchPath(b *bench) string { return filepath.Join(b.peers, "vllm-bench", "vllm-rs") }

func vllmBenchCommand(b *bench, s *server, w work, dir string) (host.Command, error) {
	perSecond := 10_000
	if w.events > 100 {
		perSecond = 500
	}
	n := max(int(w.duration.Seconds()*float64(perSecond)), 4*w.inFlight)
	return host.Command{Args: []string{
		vllmBenchPath(b), "bench", "serve", "--backend", "openai-chat", "--base-url", s.url, "--endpoint", "/v1/chat/completions",
		"--model", "mock", "--tokenizer", tokenizerDir(b), "--ignore-eos", "--disable-tqdm", "--ready-check-timeout-sec", "0",
		"--dataset-name", "random", "--random-input-len", strconv.Itoa(promptWords), "--random-output-len", strconv.Itoa(w.events),
		"--num-prompts", strconv.Itoa(n), "--max-concurrency", strconv.Itoa(w.inFlight),
	}, Env: offline, Dir: dir}, nil
}

// exportedTTFT reads the JSON that GenAI-Perf and AIPerf write.
func exportedTTFT(name string) func(dir string, _ *host.Process) (ttft, error) {
	return func(dir string, _ *host.Process) (ttft, error) {
		var doc struct {
			TTFT struct{ P50, P99 float64 } `json:"time_to_first_token"`
		}
		err := readJSONBelow(dir, name, &doc)
		return ttft{p50: doc.TTFT.P50, p99: doc.TTFT.P99}, err
	}
}

func inferencePerfTTFT(dir string, _ *host.Process) (ttft, error) {
	var doc struct {
		Successes struct {
			Latency struct {
				TTFT struct{ Median, P99 float64 } `json:"time_to_first_token"`
			}
		}
	}
	err := readJSONBelow(dir, "summary_lifecycle_metrics.json", &doc)
	t := doc.Successes.Latency.TTFT
	return ttft{p50: t.Median * 1000, p99: t.P99 * 1000}, err
}

func guidellmTTFT(dir string, _ *host.Process) (ttft, error) {
	var doc struct {
		Benchmarks []struct {
			Metrics struct {
				TTFT struct {
					Successful struct {
						Percentiles struct{ P50, P99 float64 }
					}
				} `json:"time_to_first_token_ms"`
			}
		}
	}
	err := readJSONBelow(dir, "out.json", &doc)
	if err == nil && len(doc.Benchmarks) == 0 {
		err = fmt.Errorf("guidellm reported no benchmark")
	}
	if err != nil {
		return ttft{}, err
	}
	p := doc.Benchmarks[0].Metrics.TTFT.Successful.Percentiles
	return ttft{p50: p.P50, p99: p.P99}, nil
}

// readJSONBelow reads the first file of that name anywhere below dir: peers put
// their results into folders named after the run.
func readJSONBelow(dir, name string, into any) error {
	found := ""
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && found == "" && d.Name() == name {
			found = path
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("looking for %s: %w", name, err)
	}
	if found == "" {
		return fmt.Errorf("the peer wrote no %s", name)
	}
	text, err := os.ReadFile(found)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}
