package genaiperf

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/remote/hub/hubtest"
	"github.com/inferometer/inferometer/internal/run"
)

// asked are the bodies that a mock got, in the order in which they came; those of
// sessions come in any order.
func asked(t *testing.T, truth string) []string {
	t.Helper()
	f, err := os.Open(truth)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := truthfile.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(lines, func(a, b truthfile.Request) int { return int(a.Read - b.Read) })
	answers := regexp.MustCompile(`("role":"assistant","content":)"[^"]*"`)
	var bodies []string
	for i := range lines {
		if lines[i].Body == nil {
			continue
		}
		var tensors map[string]any
		if json.Unmarshal(lines[i].Body, &tensors) == nil && tensors["id"] != nil {
			delete(tensors, "id") // of the run
			text, err := json.Marshal(tensors)
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, string(text))
			continue
		}
		// What the mock answers depends on how many it has answered before.
		bodies = append(bodies, answers.ReplaceAllString(string(lines[i].Body), `$1"…"`))
	}
	return bodies
}

// truthful is a mock that writes down what it gets.
func truthful(t *testing.T) (*mockServer, string) {
	truth := filepath.Join(t.TempDir(), "truth")
	return serve(t, func(c *config.Server) { c.Truth, c.TruthBody = truth, true }), truth
}

// kinds are command lines for every kind of input and of endpoint, with files in a
// directory.
func kinds(t *testing.T, dir string) []string {
	t.Helper()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	file := write("p.png", picture.String())
	pictures := write("pictures.jsonl", `{"text": "what is this?", "image": "`+file+`"}`+"\n"+`{"text_input": "and this?", "image": ["http://there/x.png", "`+file+`"]}`+"\n")
	texts := write("texts/a.jsonl", `{"text":"one"}`+"\n"+`{"text_input":"two","max_tokens":3}`+"\n")
	list := write("list.json", `["one", {"text":"two"}]`)
	write("ranks/queries.jsonl", `{"text":"which?"}`+"\n"+`{"text":"and which?"}`)
	write("ranks/passages.jsonl", `{"text":"this"}`+"\n"+`{"text":"that"}`+"\n"+`{"text":"neither"}`)
	body := write("body.jinja", `[{"model": "gpt2", "input": [{{ texts[0]|tojson }}], "top": 3}]`)
	trace := write("trace.jsonl", strings.Join([]string{
		`{"timestamp": 0, "session_id": "a", "input_length": 600, "output_length": 3, "hash_ids": [7, 8], "delay": 2}`,
		`{"timestamp": 5, "session_id": "b", "input_length": 520, "output_length": 5, "hash_ids": [7, 9], "priority": 5}`,
		`{"timestamp": 6, "session_id": "a", "text": "and then?", "temperature": 0.5}`,
		`{"timestamp": 9.5, "text_input": "hello there", "output_length": 2}`,
	}, "\n"))
	orca := filepath.Join(dir, "orca.parquet")
	if err := parquet.WriteFile(orca, []orcaRow{{"1", "", "one"}, {"2", "Be kind.", "two"}, {"3", "", "three"}}); err != nil {
		t.Fatal(err)
	}
	const openAI = " --num-prompts 3 --request-count 7 --isl 12 "
	return []string{
		"profile -m gpt2 --endpoint-type chat --streaming --osl 20 --output-tokens-stddev 9 --synthetic-input-tokens-stddev 3" + openAI,
		"profile -m a b c --endpoint-type chat" + openAI + "--extra-inputs temperature:0.5 --extra-inputs ignore_eos --extra-inputs max_tokens:4",
		"profile -m a b c --model-selection-strategy random --endpoint-type completions --osl 3" + openAI,
		"profile -m gpt2 --endpoint-type chat --num-prefix-prompts 2 --prefix-prompt-length 8" + openAI,
		"profile -m gpt2 --endpoint-type chat --osl 9 --input-file " + filepath.Dir(texts) + openAI,
		"profile -m gpt2 --endpoint-type completions --input-file " + list + openAI,
		"profile -m gpt2 --endpoint-type embeddings --batch-size 4" + openAI,
		"profile -m gpt2 --endpoint-type rankings --batch-size 2 --input-file " + filepath.Join(dir, "ranks") + openAI,
		"profile -m gpt2 --endpoint-type rankings --batch-size 3 --input-file synthetic:queries,passages" + openAI,
		"profile -m gpt2 --endpoint-type rankings --extra-inputs rankings:tei --endpoint rerank" + openAI,
		"profile -m gpt2 --endpoint-type vision --streaming --osl 4 --image-width-mean 20 --image-width-stddev 5 --image-height-mean 10 --image-format jpeg --batch-size-image 2 --audio-length-mean 0.05 --audio-length-stddev 0.01 --audio-depths 8 24 --audio-sample-rates 8 16 --audio-num-channels 2" + openAI,
		"profile -m gpt2 --endpoint-type multimodal --audio-length-mean 0.01 --input-file " + pictures + openAI,
		"profile -m gpt2 --endpoint-type nvclip --image-width-mean 8 --image-height-mean 8 --batch-size 2 --batch-size-image 3" + openAI,
		"profile -m gpt2 --endpoint-type image_retrieval --image-width-mean 8 --image-height-mean 8 --batch-size-image 2" + openAI,
		"profile -m gpt2 --endpoint-type image_retrieval --input-file " + pictures + openAI,
		"profile -m gpt2 --endpoint-type huggingface_generate --streaming --osl 7" + openAI,
		"profile -m gpt2 --endpoint-type generate --osl 7" + openAI,
		"profile -m gpt2 --endpoint-type template --endpoint v1/embeddings --extra-inputs payload_template:" + body + openAI,
		"profile -m gpt2 --endpoint-type chat --streaming --isl 10 --osl 4 --num-sessions 4 --session-concurrency 2 --session-turns-mean 3 --session-turns-stddev 1 --session-turn-delay-mean 2",
		"profile -m gpt2 --endpoint-type chat --input-file payload:" + trace + " --session-concurrency 2 --session-delay-ratio 0.5",
		"profile -m gpt2 --endpoint-type chat --input-file payload:" + trace + " --fixed-schedule",
		"profile -m gpt2 --endpoint-type completions --input-file payload:" + trace + " --request-count 7",
		"-m gpt2 --service-kind openai --endpoint v1/chat/completions --num-of-output-prompts 2 --dataset openorca",
		"-m gpt2 --service-kind openai --endpoint v1/completions --num-of-output-prompts 2 --dataset cnn_dailymail",
		"-m gpt2 --service-kind triton --output-format vllm --num-of-output-prompts 2 --dataset openorca",
		"profile -m gpt2 --endpoint-type chat --input-file " + orca + openAI,
		"profile -m gpt2 --backend vllm --streaming --osl 9 --output-tokens-stddev 3 --output-tokens-mean-deterministic" + openAI,
		"profile -m gpt2 --backend tensorrtllm --extra-inputs beam_width:1" + openAI,
		"-m gpt2 --service-kind openai --endpoint v1/chat/completions --expected-output-tokens 40 --input-tokens-mean 60",
	}
}

// The plan that a run leaves behind says all of it: run by itself, it sends the same
// requests.
func TestThePlanSaysItAll(t *testing.T) {
	dir := t.TempDir()
	lines := kinds(t, dir)
	for _, args := range seeds(t) {
		lines = append(lines, strings.Join(args, " "))
	}
	h := hubtest.New(t)
	orca, err := os.ReadFile(filepath.Join(dir, "orca.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	if err := parquet.WriteFile(filepath.Join(dir, "news.parquet"), []newsRow{{"one", "h"}, {"two", "h"}, {"three", "h"}}); err != nil {
		t.Fatal(err)
	}
	news, err := os.ReadFile(filepath.Join(dir, "news.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	h.Add("datasets/Open-Orca/OpenOrca", strings.Repeat("2", 40), map[string]hubtest.FakeFile{"1M-GPT4-Augmented.parquet": {Data: string(orca)}})
	h.Add("datasets/abisee/cnn_dailymail", strings.Repeat("3", 40), map[string]hubtest.FakeFile{"3.0.0/test-00000-of-00001.parquet": {Data: string(news)}})
	home := t.TempDir()
	env := world(func(name string) string { return map[string]string{"HF_ENDPOINT": h.URL, "HF_HOME": home}[name] }, t.Output())
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			first, truth := truthful(t)
			args := strings.Fields(line)
			if !strings.Contains(line, "--tokenizer ") {
				args = append(args, "--tokenizer", "builtin:gpt2")
			} else {
				args = strings.Fields(strings.ReplaceAll(line, "hf-internal-testing/llama-tokenizer", "builtin:gpt2"))
			}
			a := parse(t, first, t.TempDir(), args...)
			profile(t, a, env)
			first.Close()
			text, err := os.ReadFile(filepath.Join(a.Plan.Output.Dir, "plan.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			p, err := planfile.Read("plan.yaml", text).Finish()
			if err != nil {
				t.Fatal(err)
			}
			second, again := truthful(t)
			p.Output = plan.Output{}
			p.Target.URLs = []string{"http://" + second.http}
			if p.Target.Transport == plan.TransportGRPC {
				p.Target.URLs = []string{"grpc://" + second.grpc}
			}
			if _, err := run.Run(t.Context(), p, run.Options{Kit: env.Kit, Log: t.Output()}); err != nil {
				t.Fatal(err)
			}
			second.Close()
			want, got := asked(t, truth), asked(t, again)
			if p.Stages[0].Duration > 0 { // as many as there was time for
				n := min(len(want), len(got))
				want, got = want[:n], got[:n]
			}
			if p.Stages[0].Arrival != "" {
				slices.Sort(want)
				slices.Sort(got)
			}
			if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
				t.Errorf("%d requests of the tool, %d of the plan (-tool +plan):\n%.3000s\n%s", len(want), len(got), diff, text)
			}
		})
	}
}
