package genaiperf

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/lib/orderedjson"
	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/dataset"
	"github.com/inferometer/inferometer/internal/remote/hub/hubtest"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/tool"
	frontend "github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/report"
	"github.com/inferometer/inferometer/internal/tool/profileexport"
)

// mockServer is a mock that speaks both protocols.
type mockServer struct {
	*mock.Server
	http, grpc string
}

func serve(t *testing.T, change func(*config.Server)) *mockServer {
	t.Helper()
	cfg := config.Default()
	cfg.Models = []string{"gpt2"}
	cfg.Latency.TTFT, cfg.Latency.ITL = time.Millisecond, 50*time.Microsecond
	if change != nil {
		change(&cfg)
	}
	s, err := mock.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	listen := func(serve func(net.Listener) error) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go serve(l)
		return l.Addr().String()
	}
	out := &mockServer{Server: s}
	out.http, out.grpc = listen(s.Serve), listen(s.ServeGRPC)
	t.Cleanup(func() { s.Close() })
	return out
}

// hub is a stand-in for the hub that has the tokenizer of the early releases.
func hub(t *testing.T) func(string) string {
	t.Helper()
	f, err := os.Open("../../token/testdata/llama2.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	s := hubtest.New(t)
	s.Add("hf-internal-testing/llama-tokenizer", strings.Repeat("1", 40), map[string]hubtest.FakeFile{"tokenizer.json": {Data: string(data)}})
	home := t.TempDir()
	return func(name string) string {
		return map[string]string{"HF_ENDPOINT": s.URL, "HF_HOME": home}[name]
	}
}

// offline is a machine without a hub.
func offline(name string) string {
	return map[string]string{"HF_HUB_OFFLINE": "1", "HF_HOME": os.TempDir() + "/nowhere"}[name]
}

func world(getenv func(string) string, log io.Writer) *tool.Session {
	k := registry.Default(os.Getenv)
	k.Tokenizers = registry.Tokenizers(getenv)
	k.Sources[plan.SourceDataset] = func(d plan.Data, tok prompt.Tokenizer, seed uint64) (prompt.Source, error) {
		return dataset.New(d, tok, seed, getenv)
	}
	return &tool.Session{Kit: k, Version: "test", Log: log}
}

// parse reads a command line, and turns it towards a mock and a directory of the test.
func parse(t *testing.T, s *mockServer, dir string, args ...string) *frontend.Action {
	t.Helper()
	a, err := frontend.Parser{}.Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	a.Settings.Dir = filepath.Join(dir, a.Settings.Dir)
	a.Plan.Output.Dir = frontend.RecordsDir(&a.Settings)
	a.Plan.Target.URLs = []string{"http://" + s.http}
	if a.Settings.ServiceKind == "triton" {
		a.Plan.Target.URLs = []string{"grpc://" + s.grpc}
	}
	if stage := &a.Plan.Stages[0]; stage.Duration > 0 { // in which a busy machine may get no answer at all
		stage.Duration, stage.Requests = 0, 20
		a.Plan.Drain = plan.Duration(time.Minute) // the last of them is not cut off, maybe before the server has read it
	}
	return a
}

func profile(t *testing.T, a *frontend.Action, env *tool.Session) *Outcome {
	t.Helper()
	out, err := Profile(t.Context(), a, env)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// seeds are the command lines of the README of 24.03 and of the tutorial.
func seeds(t *testing.T) [][]string {
	t.Helper()
	text, err := os.ReadFile("args/testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for part := range strings.SplitSeq(string(text), "\n\n") {
		_, line, _ := strings.Cut(part, "genai-perf ")
		all = append(all, strings.Fields(strings.ReplaceAll(line, "\\\n", " ")))
	}
	return all
}

// avg is the average of a metric.
func avg(t *testing.T, s *dialect.Summary, name string) float64 {
	t.Helper()
	st, ok := s.Stat(name)
	if !ok {
		t.Errorf("there is no %s", name)
		return 0
	}
	return st.Avg
}

// Every command line of the seeds runs, asks for what it says, and writes its files.
func TestSeeds(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Strict = true })
	env := world(hub(t), t.Output())
	for i, args := range seeds(t) {
		dir := t.TempDir()
		a := parse(t, s, dir, args...)
		out := profile(t, a, env)
		name := strings.Join(args, " ")
		if a.Plan.Tokenizer.Name != "hf-internal-testing/llama-tokenizer" {
			t.Errorf("%s: counted by %s", name, a.Plan.Tokenizer.Name)
		}
		in, _ := out.Summary.Stat(dialect.InputSequenceLength)
		if in.Min != 200 || in.Max != 200 {
			t.Errorf("%s: prompts of %v to %v tokens, want 200", name, in.Min, in.Max)
		}
		if out.Summary.Failed != 0 || out.Summary.Requests == 0 {
			t.Errorf("%s: %d of %d failed: %v", name, out.Summary.Failed, out.Summary.Requests, out.Summary.Failures)
		}
		checkExport(t, a, out)
		checkInputs(t, a)
		var table bytes.Buffer
		out.Report.Width = 140
		if err := report.Console(&table, out.Summary, out.Report); err != nil {
			t.Fatal(err)
		}
		title := map[bool]string{true: "PA LLM Metrics", false: "LLM Metrics"}[i < 4]
		if first, _, _ := strings.Cut(table.String(), "\n"); strings.TrimSpace(first) != title {
			t.Errorf("%s: the title is %q", name, first)
		}
		if a.Settings.Streaming != strings.Contains(table.String(), "Inter token latency (ns)") {
			t.Errorf("%s: streaming %v, and this table:\n%s", name, a.Settings.Streaming, table.String())
		}
	}
}

// checkExport holds the profile export and the CSV against the summary.
func checkExport(t *testing.T, a *frontend.Action, out *Outcome) {
	t.Helper()
	f, err := os.Open(filepath.Join(a.Settings.Dir, a.Settings.ExportFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := profileexport.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(doc.Experiments[0].Requests); n != int(avg(t, out.Summary, dialect.RequestCount)) {
		t.Errorf("%d requests in the profile export, %v in the summary", n, avg(t, out.Summary, dialect.RequestCount))
	}
	for _, r := range doc.Experiments[0].Requests {
		if text, err := doc.Prompt(&r); err != nil || a.Settings.InWords > 0 && !strings.HasPrefix(text, "Write an answer of about 150 tokens") {
			t.Errorf("prompt %q, %v", text, err)
			break
		}
	}
	stem := strings.TrimSuffix(a.Settings.ExportFile, ".json")
	text, err := os.ReadFile(filepath.Join(a.Settings.Dir, stem+"_genai_perf.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := csv.NewReader(bytes.NewReader(text))
	lines.FieldsPerRecord = -1
	if _, err := lines.ReadAll(); err != nil {
		t.Error(err)
	}
}

// checkInputs looks at the file of all prompts.
func checkInputs(t *testing.T, a *frontend.Action) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.Settings.Dir, a.Settings.InputsFile))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Data []map[string]any }
	if err := json.Unmarshal(text, &doc); err != nil || len(doc.Data) != a.Settings.Prompts {
		t.Errorf("%d prompts in %s, want %d: %v", len(doc.Data), a.Settings.InputsFile, a.Settings.Prompts, err)
	}
}

// The same export gives the same figures when it is read again.
func TestReportOfOurOwnExport(t *testing.T) {
	s := serve(t, nil)
	for _, args := range []string{
		"profile -m gpt2 --endpoint-type chat --streaming",
		"profile -m gpt2 --endpoint-type completions",
		"profile -m gpt2 --endpoint-type embeddings",
		"profile -m gpt2 --backend vllm --streaming",
		"profile -m gpt2 --backend tensorrtllm --streaming --osl 7",
	} {
		a := parse(t, s, t.TempDir(), append(strings.Fields(args), "--tokenizer", "builtin:gpt2", "--isl", "30", "--num-prompts", "5", "--goodput", "request_latency:1000")...)
		env := world(offline, t.Output())
		out := profile(t, a, env)
		if !IsFolder(a.Settings.Dir) {
			t.Errorf("%s is not taken for a directory of genai-perf", a.Settings.Dir)
		}
		again, err := Report(t.Context(), a.Settings.Dir, frontend.Settings{}, env)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(out.Summary, again.Summary); diff != "" {
			t.Errorf("%s (-run +report):\n%s", args, diff)
		}
		if diff := cmp.Diff(out.Report, again.Report); diff != "" {
			t.Errorf("%s (-run +report):\n%s", args, diff)
		}
	}
}

// A folder of the real tool gives the real tool's figures. Its tokenizer is not here:
// answers happen to be one token a word, prompts are not compared.
func TestReportOfTheRealTool(t *testing.T) {
	out, err := Report(t.Context(), "testdata/vllm", frontend.Settings{Tokenizer: "words", TokenizerGiven: true}, world(offline, t.Output()))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.JSON(&b, out.Summary, "{}", nil, nil); err != nil {
		t.Fatal(err)
	}
	var got, want map[string]map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/vllm/profile_export_genai_perf.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for _, m := range []map[string]map[string]any{got, want} {
		delete(m, "input_config")
		delete(m, "input_sequence_length")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-real +ours):\n%s", diff)
	}
}

func TestMerge(t *testing.T) {
	s := serve(t, nil)
	runs := t.TempDir()
	env := world(offline, t.Output())
	var rate, count float64
	for _, name := range []string{"one", "two"} {
		a := parse(t, s, filepath.Join(runs, name), strings.Fields("profile -m gpt2 --endpoint-type chat --streaming --tokenizer builtin:gpt2 --isl 10 --num-prompts 3")...)
		a.Settings.Dir = filepath.Join(runs, name)
		a.Plan.Output.Dir = frontend.RecordsDir(&a.Settings)
		out := profile(t, a, env)
		rate += avg(t, out.Summary, dialect.RequestThroughput)
		count += avg(t, out.Summary, dialect.RequestCount)
	}
	a, err := frontend.Parser{}.Parse([]string{"process-export-files", "-d", runs, "--artifact-dir", filepath.Join(runs, "merged")})
	if err != nil {
		t.Fatal(err)
	}
	out, err := Merge(t.Context(), a, env)
	if err != nil {
		t.Fatal(err)
	}
	if got := avg(t, out.Summary, dialect.RequestThroughput); got != rate {
		t.Errorf("%v requests a second, want the sum %v", got, rate)
	}
	if got := avg(t, out.Summary, dialect.RequestCount); got != count {
		t.Errorf("%v requests, want %v", got, count)
	}
	if len(out.Files) != 3 || !strings.Contains(out.Files[0], "gpt2-openai-chat-concurrency1") {
		t.Errorf("written: %v", out.Files)
	}
	for _, want := range []string{`"subcommand":"process"`, `"artifact_directory":"` + runs + `/merged"`, `"profile_export_file":"profile_export.json"`, `"process":{"input_path":"` + runs + `"}`} {
		if !strings.Contains(string(out.Config), want) {
			t.Errorf("input_config lacks %s: %s", want, out.Config)
		}
	}
	t.Chdir(runs)
	a.Settings.Artifacts, a.InputDir = "", "./"
	out, err = Merge(t.Context(), a, env)
	if want := `"output":{"artifact_directory":".","checkpoint_directory":"checkpoint"`; err != nil || !strings.Contains(string(out.Config), want) || !strings.Contains(string(out.Config), `"process":{"input_path":"."}`) {
		t.Errorf("input_config lacks %s: %s, %v", want, out.Config, err)
	}
	a.InputDir = t.TempDir()
	if _, err := Merge(t.Context(), a, env); err == nil || !strings.Contains(err.Error(), "holds a profile export") {
		t.Errorf("an empty directory: %v", err)
	}
}

// A command line that is run twice writes its files anew.
func TestAgain(t *testing.T) {
	s := serve(t, nil)
	dir := t.TempDir()
	for range 2 {
		profile(t, parse(t, s, dir, strings.Fields("profile -m gpt2 --endpoint-type chat --isl 10 --num-prompts 3 --tokenizer builtin:gpt2")...), world(offline, t.Output()))
	}
}

func TestTokenizers(t *testing.T) {
	s := serve(t, nil)
	line := strings.Fields("profile -m gpt2 --endpoint-type chat --isl 10 --num-prompts 3")
	var log bytes.Buffer
	a := parse(t, s, t.TempDir(), line...)
	profile(t, a, world(offline, &log))
	if !strings.Contains(log.String(), "The tokenizer gpt2 could not be loaded") || a.Plan.Tokenizer.Name != plan.TokenizerBuiltin {
		t.Errorf("counted by %s; the log:\n%s", a.Plan.Tokenizer.Name, log.String())
	}
	for want, line := range map[string][]string{
		"--tokenizer: ":               append(line, "--tokenizer", "no/such"),
		"the tokenizer of model mine": strings.Fields("profile -m mine --endpoint-type chat --isl 10"),
	} {
		_, err := Profile(t.Context(), parse(t, s, t.TempDir(), line...), world(offline, &log))
		var early *run.PrepareError
		if !errors.As(err, &early) || !strings.Contains(err.Error(), want) {
			t.Errorf("a tokenizer that is not there: %v", err)
		}
	}
}

func TestBadInput(t *testing.T) {
	s := serve(t, nil)
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.jsonl")
	if err := os.WriteFile(bad, []byte("{\"text\":\"fine\"}\n{\"text\":}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(list, []byte("[\"fine\",\n\"also\",\n]"), 0o644); err != nil {
		t.Fatal(err)
	}
	const early = "-m gpt2 --service-kind openai --endpoint v1/chat/completions --output-format openai_chat_completions --tokenizer builtin:gpt2 "
	for _, tt := range []struct{ args, want string }{
		{early + "--profile-export-file missing/x.json", "--profile-export-file: there is no directory"},
		{early + "--input-data " + bad, "bad.jsonl:2"},
		{early + "--input-data " + list, "bad.json:3"},
		{early + "--input-data " + filepath.Join(dir, "none.json"), "no such file"},
		{early + "--input-data " + t.TempDir(), "has no file that ends in .jsonl"},
	} {
		_, err := Profile(t.Context(), parse(t, s, dir, strings.Fields(tt.args)...), world(offline, t.Output()))
		var before *run.PrepareError
		if !errors.As(err, &before) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.args, err, tt.want)
		}
	}
}

// What is sent is what inputs.json says, byte for byte, and in the original's order.
func TestPayloads(t *testing.T) {
	truth := filepath.Join(t.TempDir(), "truth")
	s := serve(t, func(c *config.Server) { c.Truth, c.TruthBody = truth, true })
	for args, want := range map[string]string{
		"--endpoint-type chat --streaming --osl 5 --extra-inputs temperature:0 --extra-inputs max_tokens:3": `{"model":"gpt2","messages":[{"role":"user","content":"TEXT"}],"stream":true,"max_tokens":3,"temperature":0}`,
		"--endpoint-type completions --osl 5":                                          `{"model":"gpt2","prompt":["TEXT"],"max_tokens":5}`,
		"--endpoint-type embeddings":                                                   `{"model":"gpt2","input":["TEXT"]}`,
		"--backend vllm --streaming --osl 5":                                           `{"model":"gpt2","text_input":"TEXT","exclude_input_in_output":true,"stream":true,"sampling_parameters":"{\"max_tokens\":\"5\"}"}`,
		"--backend tensorrtllm --streaming":                                            `{"model":"gpt2","text_input":"TEXT","max_tokens":256,"exclude_input_in_output":true,"stream":true}`,
		"--backend tensorrtllm --streaming --osl 9 --output-tokens-mean-deterministic": `{"model":"gpt2","text_input":"TEXT","max_tokens":9,"exclude_input_in_output":true,"stream":true,"min_length":9}`,
	} {
		a := parse(t, s, t.TempDir(), append(strings.Fields("profile -m gpt2 --tokenizer builtin:gpt2 --isl 10 --num-prompts 1 "), strings.Fields(args)...)...)
		tt := &job{env: world(offline, t.Output()), set: &a.Settings, plan: a.Plan}
		if err := tt.prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		input := tt.input(&tt.entries[0].prompt)
		var made any = input
		if a.Settings.ServiceKind != "triton" {
			made = input[0].Value
		}
		got, err := orderedjson.Compact(made)
		if err != nil {
			t.Fatal(err)
		}
		text, err := orderedjson.Compact(tt.said(&tt.entries[0].prompt))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.ReplaceAll(want, `"TEXT"`, string(text)), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args, diff)
		}
	}
	a := parse(t, s, t.TempDir(), strings.Fields("profile -m gpt2 --tokenizer builtin:gpt2 --isl 10 --num-prompts 2 --endpoint-type chat --streaming")...)
	profile(t, a, world(offline, t.Output()))
	s.Close()
	received, err := os.ReadFile(truth)
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := os.ReadFile(filepath.Join(a.Settings.Dir, "inputs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Data []struct{ Payload []json.RawMessage }
	}
	if err := json.Unmarshal(inputs, &doc); err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	if err := json.Compact(&body, doc.Data[0].Payload[0]); err != nil {
		t.Fatal(err)
	}
	quoted, err := orderedjson.Compact(body.String())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(received, quoted) && !bytes.Contains(received, body.Bytes()) {
		t.Errorf("the server did not get %s but:\n%.600s", body.String(), received)
	}
}

// Failed requests are counted, and the rest is measured.
func TestFailures(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Faults = []config.Fault{{Kind: config.FaultStatus, Code: 503, Share: 0.5}} })
	a := parse(t, s, t.TempDir(), strings.Fields("profile -m gpt2 --endpoint-type chat --streaming --isl 10 --num-prompts 3 --request-count 60 --tokenizer builtin:gpt2")...)
	out := profile(t, a, world(offline, t.Output()))
	if out.Summary.Failed == 0 || out.Summary.Requests == 0 || out.Summary.Failed+out.Summary.Requests != 60 {
		t.Errorf("%d failed, %d succeeded", out.Summary.Failed, out.Summary.Requests)
	}
	checkExport(t, a, out)
}

func TestHeadersAreNotWritten(t *testing.T) {
	s := serve(t, nil)
	a := parse(t, s, t.TempDir(), append(strings.Fields("profile -m gpt2 --endpoint-type chat --isl 10 --num-prompts 3 --tokenizer builtin:gpt2 -v"), "-H", "Authorization: Bearer very-secret-key")...)
	var log bytes.Buffer
	profile(t, a, world(offline, &log))
	if strings.Contains(log.String(), "very-secret-key") || !strings.Contains(log.String(), "The first of 3 requests") {
		t.Errorf("the log:\n%s", log.String())
	}
	filepath.WalkDir(a.Settings.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("very-secret-key")) {
			t.Errorf("the key is in %s", path)
		}
		return err
	})
}
