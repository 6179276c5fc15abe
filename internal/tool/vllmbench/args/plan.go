package args

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// patience is how long a request may take.
const patience = plan.Duration(6 * time.Hour)

// plan puts the plan together.
func (b *builder) plan() (*plan.Plan, error) {
	d := planfile.NewDraft()
	d.Set("data.source", "--dataset-name")
	p, s := &d.Plan, b.set
	name, err := b.model()
	if err != nil {
		return nil, err
	}
	p.Seed, p.Drain, p.MaxErrors.NotAlike = uint64(b.int("seed")), patience, true
	p.Target = plan.Target{
		URLs: []string{s.Base}, Protocol: plan.ProtocolOpenAI, Endpoint: endpoints[s.Backend], Path: b.text("endpoint"), Form: plan.FormVLLM,
		Client: plan.ClientPlain, Counts: plan.CountsPlain, Model: name, Streaming: true, Headers: b.headers, Body: b.body(),
		TLS: plan.TLS{Insecure: b.bool("insecure")}, Proxy: plan.ProxyEnvironment, Timeouts: plan.Timeouts{Request: patience},
		NoPreflight: true, RetryAfter: plan.RetryIgnore,
	}
	switch {
	case b.headers["Authorization"] != "":
	case b.world.Getenv("OPENAI_API_KEY") != "":
		p.Target.APIKey.Env = "OPENAI_API_KEY"
	case b.release != "" && s.Faithful:
		b.headers["Authorization"] = "Bearer None"
	}
	s.Tokenizer = cmp.Or(b.text("tokenizer"), s.Model)
	p.Tokenizer = plan.Tokenizer{Name: s.Tokenizer}
	p.Budgets.ShortOutput = 1 // prompts of the world end when they end
	p.Output = plan.Output{Dir: b.text("records")}
	p.Data = plan.Data{Source: plan.SourceVLLM, File: b.text("dataset-path"), IgnoreEOS: b.bool("ignore-eos")}
	n, err := b.data(p)
	if err != nil {
		return nil, err
	}
	b.loras(&p.Data)
	b.stages(p, n)
	return d.Finish()
}

// model is the name that is sent; results call it by what it was made of.
func (b *builder) model() (string, error) {
	if b.set.Model = b.text("model"); b.set.Model != "" {
		return cmp.Or(b.text("served-model-name"), b.set.Model), nil
	}
	name, root, err := b.world.FirstModel(b.set.Base, b.headers, b.bool("insecure"))
	if err == nil && name == "" {
		err = errNoModel
	}
	if err != nil {
		return "", fmt.Errorf("asking for the first model, as --model is not given: %w", err)
	}
	b.set.Model = cmp.Or(root, name)
	return name, nil
}

// body are the fields that the flags add to every request.
func (b *builder) body() map[string]any {
	body := map[string]any{}
	for _, name := range []string{"top-p", "top-k", "min-p", "temperature", "frequency-penalty", "presence-penalty", "repetition-penalty"} {
		if v := b.of[name]; v != nil {
			if n, ok := v.(int); ok {
				v = int64(n)
			}
			body[strings.ReplaceAll(name, "-", "_")] = v
		}
	}
	if b.has("logprobs") && endpoints[b.set.Backend] == plan.EndpointCompletions {
		body["logprobs"] = int64(b.int("logprobs"))
	}
	if b.release != "" && body["temperature"] == nil {
		body["temperature"] = 0.0
	}
	if b.release == plan.VLLMFork {
		body["best_of"] = int64(b.int("best-of"))
	}
	if b.set.Backend == "llama.cpp" {
		body["cache_prompt"] = false
	}
	for name, v := range b.json("extra-body") {
		body[name] = v
	}
	return body
}

// data says which requests are drawn, and gives their number.
func (b *builder) data(p *plan.Plan) (int, error) {
	s, d := b.set, &p.Data
	v := &d.VLLM
	*v = plan.VLLM{
		Kind: b.text("dataset-name"), Requests: max(s.Prompts, 0), Ordered: b.bool("disable-shuffle"), Short: b.bool("no-oversample"),
		Rehearsed: s.Warmups > 0, IDPrefix: b.text("request-id-prefix"), Release: b.release,
	}
	if b.release == "" && !b.given["request-id-prefix"] {
		v.IDPrefix = fmt.Sprintf("bench-%08x-", rand.Uint32())
		b.of["request-id-prefix"] = v.IDPrefix
	}
	length := func(flag string) int {
		if strings.HasSuffix(flag, "output-len") && b.has("output-len") {
			return b.int("output-len")
		}
		return b.int(flag)
	}
	n := v.Requests
	switch v.Kind {
	case plan.VLLMRandom:
		v.Input, v.Output, v.Prefix = cmp.Or(b.int("input-len"), b.int("random-input-len")), length("random-output-len"), b.int("random-prefix-len")
		d.Template = b.bool("use-chat-template")
		if b.release == "" {
			d.IgnoreEOS, v.Align = true, s.Model
		}
		var err error
		if v.InputRange, v.OutputRange, err = ranges(b.text("random-range-ratio"), b.release == plan.VLLMFork); err != nil {
			return 0, err
		}
	case plan.VLLMShareGPT:
		v.Output = length("sharegpt-output-len")
	case plan.VLLMCustom:
		v.Output, v.Bare, v.Template = max(length("custom-output-len"), 0), b.bool("skip-chat-template") || b.bool("custom-skip-chat-template"), b.json("chat-template-kwargs")
		if n == 0 || v.Short {
			rows, err := b.rows()
			if err != nil {
				return 0, err
			}
			if n == 0 || rows < n {
				n = rows
			}
		}
	case plan.VLLMPrefixes:
		v.Input, v.Prefix, v.Prefixes, v.Output = b.int("prefix-repetition-suffix-len"), b.int("prefix-repetition-prefix-len"), b.int("prefix-repetition-num-prefixes"), length("prefix-repetition-output-len")
		v.Align = s.Model
		if v.Prefixes > 0 {
			n -= n % v.Prefixes
		}
	case plan.VLLMTimed:
		d.IgnoreEOS = true
		v.Timed = plan.VLLMTimedRows{
			Chunk: b.int("timed-trace-chunk-hash-size"), Second: b.float("timed-trace-sec-multiplier"), HashSeed: b.world.Getenv("PYTHONHASHSEED"),
			Timestamp: b.text("timed-trace-label-timestamp"), Input: b.text("timed-trace-label-input-length"),
			Output: b.text("timed-trace-label-output-length"), Hashes: b.text("timed-trace-label-hash-ids"),
		}
		rows, err := b.rows()
		if err != nil {
			return 0, err
		}
		n = min(n, rows)
	}
	return n, nil
}

// ranges reads a share, or one each for prompts and responses. Most: it can be 1.
func ranges(text string, most bool) (input, output float64, err error) {
	var each struct{ Input, Output *float64 }
	one, bad := strconv.ParseFloat(strings.TrimSpace(text), 64)
	input, output = one, one
	if bad != nil {
		if json.Unmarshal([]byte(text), &each) != nil || each.Input == nil || each.Output == nil {
			return 0, 0, plan.Faults{{Where: "--random-range-ratio", Text: fmt.Sprintf("%q is neither a number nor an object with input and output", text), Hint: `such as 0.2 or {"input": 0.2, "output": 0.5}`}}
		}
		input, output = *each.Input, *each.Output
	}
	for _, r := range []float64{input, output} {
		if !(r >= 0 && r < 1) && !(most && r == 1) {
			return 0, 0, plan.Faults{{Where: "--random-range-ratio", Text: fmt.Sprintf("must be from 0 to below 1, is %v", r)}}
		}
	}
	return input, output, nil
}

// rows is how many lines the data set has.
func (b *builder) rows() (int, error) {
	text, err := b.world.ReadFile(b.text("dataset-path"))
	if err != nil {
		return 0, plan.Faults{{Where: "--dataset-path", Text: "cannot be read: " + err.Error()}}
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	if n == 0 {
		return 0, plan.Faults{{Where: "--dataset-path", Text: b.text("dataset-path") + " has no lines"}}
	}
	return n, nil
}

// loras deals requests out to adapters.
func (b *builder) loras(d *plan.Data) {
	names := b.texts("lora-modules")
	for _, name := range names {
		d.Adapters = append(d.Adapters, plan.Adapter{Name: name, Share: 1 / float64(len(names))})
	}
	if len(names) > 0 && b.text("lora-assignment") == "round-robin" {
		d.ModelOrder = plan.OrderRoundRobin
	}
}

// stages are the warm-up and what is measured.
func (b *builder) stages(p *plan.Plan, n int) {
	s, a := b.set, &p.Data.VLLM.Arrivals
	st := plan.Stage{Name: "main", Requests: int64(n)}
	steady := s.Ramp == "" && math.IsInf(s.Rate, 1)
	switch {
	case s.SelfTimed:
		st.Arrival, st.MaxInFlight = plan.ArrivalTrace, s.MaxConcurrency
	case steady:
		st.Concurrency = cmp.Or(s.MaxConcurrency, n)
	default:
		st.Arrival, st.MaxInFlight = plan.ArrivalTrace, s.MaxConcurrency
		a.Rate = s.Rate
		if s.Ramp != "" {
			a.Rate, a.RampTo, a.Exponential = float64(s.RampFrom), float64(s.RampTo), s.Ramp == "exponential"
		}
		if !math.IsInf(s.Burstiness, 1) {
			a.Burstiness = s.Burstiness
		}
	}
	p.Stages = []plan.Stage{st}
	if w := s.Warmups; w > 0 {
		p.Stages = []plan.Stage{{Name: "warm-up", Concurrency: min(w, cmp.Or(s.MaxConcurrency, w)), Requests: int64(w)}, st}
		s.Main = 1
	}
}

// Names are those of this command line.
func Names(*plan.Plan) message.Names { return message.Names{Of: message.Table(names())} }

// names are what parts of a plan are called; an empty name: there is no such flag.
func names() [][2]string {
	return [][2]string{
		{"target.urls", "--base-url"}, {"target.model", "--model"}, {"target.headers", "--header"}, {"target.body", "--extra-body"},
		{"target.path", "--endpoint"}, {"target.endpoint", "--backend"}, {"target.api_key", "OPENAI_API_KEY in the environment"}, {"target.tls.insecure", "--insecure"}, {"target", ""},
		{"data.vllm_bench.requests", "--num-prompts"}, {"data.vllm_bench.bare", "--skip-chat-template"}, {"data.vllm_bench.input", "--input-len"},
		{"data.vllm_bench.prefixes", "--prefix-repetition-num-prefixes"}, {"data.vllm_bench.output", "--output-len"},
		{"data.vllm_bench", "--dataset-name"}, {"data.file", "--dataset-path"}, {"data.adapters", "--lora-modules"}, {"data", ""},
		{"tokenizer", "--tokenizer"}, {"stages.requests", "--num-prompts"}, {"stages.max_in_flight", "--max-concurrency"}, {"stages.concurrency", "--max-concurrency"}, {"stages", "--request-rate"},
		{"output.dir", "--records"}, {"seed", "--seed"}, {"drain", ""}, {"max_errors", ""}, {"levels", ""}, {"measurement", ""}, {"limits", ""}, {"probes", ""}, {"remedy", ""},
	}
}
