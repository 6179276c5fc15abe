package args

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

var update = flag.Bool("update", false, "write the golden files")

// files are what the tests' command lines find.
var files = Files{
	Kind: func(name string) string {
		switch {
		case name == "data" || name == "there":
			return "dir"
		case strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, "new"), strings.HasSuffix(name, ".pem"), strings.HasSuffix(name, ".txt"):
			return "file"
		}
		return ""
	},
	Read: func(name string) ([]byte, error) {
		switch name {
		case "gaps.txt":
			return []byte("1000\n\n3000\n"), nil
		case "bad.txt":
			return []byte("1000\nx\n"), nil
		case "sessions.json":
			return []byte(`{"data":[{"session_id":["a"],"payload":[{}]},{"session_id":["a"],"payload":[{}]}]}`), nil
		case "nested.json":
			return []byte(`{"data":[[{"payload":[{}]},{"payload":[{}]}],[{"payload":[{}]}]]}`), nil
		case "before.json":
			return []byte(`{"experiments":[{"experiment":`), nil
		case "validated.json":
			return []byte(`{"data":[{},{},{}],"validation_data":[{},{},{}]}`), nil
		case "none.json":
			return []byte(`{"data":[]}`), nil
		case "empty.txt":
			return []byte("\n"), nil
		}
		return nil, os.ErrNotExist
	},
}

// field finds a value in a printed plan: "stages[0].rate".
func field(p *plan.Plan, path string) string {
	var v any = planfile.Echo(p)
	for _, step := range strings.FieldsFunc(path, func(c rune) bool { return strings.ContainsRune(".[]", c) }) {
		switch at := v.(type) {
		case map[string]any:
			v = at[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(at) {
				return "none"
			}
			v = at[i]
		default:
			return "none"
		}
	}
	if v == nil {
		return "none"
	}
	return fmt.Sprint(v)
}

// split cuts a command line at spaces; '…' keeps a piece together.
func split(line string) []string {
	var args []string
	for _, m := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
		args = append(args, strings.Trim(m, "'"))
	}
	return args
}

func TestEveryOption(t *testing.T) {
	const grpc, rate, openai = "-m m -i grpc ", "-m m --request-rate-range ", "-m m --service-kind openai --async --input-data in.json --endpoint "
	for _, c := range []struct{ args, want string }{
		{"-m simple", "target.model=simple target.protocol=triton target.endpoint=infer target.urls[0]=http://localhost:8000 stages[0].concurrency=1 data.tensors.fill=random"},
		{"-m m", "measurement.mode=time measurement.interval=5s measurement.requests=50 measurement.windows=3 measurement.stability=0.1 measurement.max_trials=10 measurement.percentile=none measurement.throughput_alone=none levels=none"},
		{"-m m -x 3", "target.triton.version=3"},
		{grpc + "--bls-composing-models 'a:1, b'", "target.triton.composing=[a:1 b]"},
		{"-m m --model-signature-name x", "target.model=m"},
		{openai + "v1/chat/completions", "target.protocol=openai target.endpoint=chat target.path=/v1/chat/completions target.streaming=true data.tensors.files=[in.json] measurement.throughput_alone=true"},
		{openai + "/v1/completions", "target.endpoint=completions target.path=/v1/completions"},
		{openai + "v1/embeddings", "target.endpoint=embeddings target.streaming=false"},
		{openai + "v1/chat/completions -u host:9000 -H 'Authorization: Bearer x'", "target.urls[0]=http://host:9000 target.headers.Authorization=(secret)"},
		{"-m m --enable-mpi", "target.model=m"},
		{"-m m -v -v", "target.model=m"},
		{"-m m --measurement-mode count_windows --measurement-request-count 7", "measurement.mode=count measurement.requests=7"},
		{"-m m --measurement-mode time_windows -p 1500", "measurement.mode=time measurement.interval=1.5s"},
		{"-m m --measurement-interval=250", "measurement.interval=250ms"},
		{"-m m -s 999", "measurement.stability=9.99"},
		{"-m m --stability-percentage 0", "measurement.stability=0"},
		{"-m m --percentile 95", "measurement.percentile=95"},
		{"-m m --percentile=-1", "measurement.percentile=none"},
		{"-m m --warmup-request-count 20", "stages[0].warmup.requests=20"},
		{"-m m --request-count 30 --concurrency-range 3", "measurement.mode=stage measurement.windows=1 stages[0].requests=30 stages[0].concurrency=3"},
		{"-m m -r 4", "measurement.max_trials=4"},
		{"-m m --max-trials 5", "measurement.max_trials=5"},
		{"-m m -l 100 --concurrency-range 1:0", "measurement.latency_threshold=100ms levels.start=1 levels.end=16 levels.step=1"},
		{"-m m -l 100 --concurrency-range 1:0 --max-threads 5", "levels.end=5"},
		{"-m m -l 100 --concurrency-range 1:0 --async", "levels.start=1 levels.end=none"},
		{"-m m --latency-threshold 70 --binary-search --concurrency-range 2:16:2", "levels.search=binary levels.start=2 levels.end=16 levels.step=2 measurement.latency_threshold=70ms"},
		{"-m m --max-threads 8", "stages[0].concurrency=1"},
		{"-m m --concurrency-range 4", "stages[0].concurrency=4 levels=none"},
		{"-m m --concurrency-range 4:4", "stages[0].concurrency=4 levels=none"},
		{"-m m --concurrency-range 8:4", "stages[0].concurrency=8 levels=none"},
		{"-m m --concurrency-range 6:8:1", "levels.start=6 levels.end=8 levels.step=1 levels.search=none stages[0].concurrency=6"},
		{rate + "10.5", "stages[0].rate=10.5 stages[0].arrival=constant levels=none stages[0].concurrency=none"},
		{rate + "0.5:2:0.5 --request-distribution poisson", "stages[0].arrival=poisson stages[0].draws=mt19937 levels.start=0.5 levels.end=2 levels.step=0.5"},
		{rate + "5 --request-distribution constant", "stages[0].arrival=constant"},
		{"-m m --request-intervals gaps.txt", "stages[0].arrival=intervals stages[0].intervals=[1ms 3ms]"},
		{"-m m --fixed-schedule --input-data in.json", "stages[0].arrival=trace measurement.mode=stage data.tensors.timestamps=true"},
		{rate + "5 --num-of-sequences 9", "data.tensors.sequences.live=9"},
		{rate + "5", "data.tensors.sequences.live=4"},
		{rate + "5 --serial-sequences --num-of-sequences 2", "data.tensors.sequences.live=2 data.tensors.sequences.serial=true"},
		{rate + "5 --sync", "data.tensors.sequences.serial=true"},
		{rate + "5", "data.tensors.sequences.serial=none stages[0].max_in_flight=4"},
		{rate + "5 --max-threads 9", "stages[0].max_in_flight=9"},
		{rate + "5 --async --max-threads 9", "stages[0].max_in_flight=none"},
		{"-m m --sequence-length 7 --sequence-length-variation 50 --sequence-id-range 5:25", "data.tensors.sequences.length=7 data.tensors.sequences.variation=0.5 data.tensors.sequences.first_id=5 data.tensors.sequences.ids=20"},
		{"-m m --request-count 7 --request-count 9", "stages[0].requests=7"},
		{"-m m --sequence-id-range 9", "data.tensors.sequences.first_id=9 data.tensors.sequences.ids=none"},
		{"-m m --sequence-length 0", "data.tensors.sequences.length=20"},
		{"-m m", "data.tensors.sequences.variation=0.2 data.tensors.sequences.length=none"},
		{"-m m --input-data zero", "data.tensors.fill=zero"},
		{"-m m --input-data random", "data.tensors.fill=random"},
		{"-m m --input-data in.json --input-data more.json", "data.tensors.files=[in.json more.json] data.tensors.fill=none"},
		{"-m m --input-data data", "data.tensors.files=[data]"},
		{"-m m --data-directory data", "data.tensors.files=[data]"},
		{"-m m -z", "data.tensors.fill=zero"},
		{"-m m -b 8", "data.tensors.batch=8"},
		{"-m m --shape a:1,2 --shape b:3 --shape a:5", "data.tensors.shapes=[a:5 b:3]"},
		{"-m m --shape ns:a:1", "data.tensors.shapes=[ns:a:1]"},
		{"-m m --string-length 5 --string-data x", "data.tensors.string_length=5 data.tensors.string_data=x"},
		{"-m m --shared-memory none --output-shared-memory-size 5", "target.model=m"},
		{"-m m --shared-memory system --output-shared-memory-size 5", "target.triton.shared_memory=system target.triton.output_memory=5"},
		{"-m m --input-tensor-format json --output-tensor-format json", "target.triton.input_format=json target.triton.output_format=json"},
		{"-m m --input-tensor-format json", "target.triton.input_format=json target.triton.output_format=json"},
		{"-m m --output-tensor-format json", "target.triton=none"},
		{"-m m --input-tensor-format binary", "target.triton=none"},
		{grpc + "--request-parameter a:true:bool --request-parameter b:7:INT --request-parameter c:x:string", "target.triton.parameters=map[a:true b:7 c:x]"},
		{grpc + "--request-parameter a:TRUE:bool --request-parameter b:7:uint --request-parameter c:1.5:double", "target.triton.parameters=map[a:false]"},
		{grpc, "target.transport=grpc target.endpoint=infer target.urls[0]=grpc://localhost:8001 target.streaming=false"},
		{"-m m -i HTTP", "target.transport=http"},
		{grpc + "--async --streaming", "target.endpoint=stream target.streaming=true measurement.throughput_alone=true"},
		{"-m m -a", "measurement.throughput_alone=true"},
		{"-m m --sync", "measurement.throughput_alone=none"},
		{"-m m -H 'X-A: b:c' -HX-D:e", "target.headers=map[X-A:b:c X-D:e]"},
		{grpc + "--grpc-compression-algorithm gzip", "target.triton.compression=gzip"},
		{grpc + "--grpc-compression-algorithm none", "target.triton.compression=none"},
		{"-m m -u host:1", "target.urls[0]=http://host:1"},
		{"-m m -u https://host:1 --ssl-https-verify-peer 0", "target.urls[0]=https://host:1 target.tls.insecure=true"},
		{"-m m --ssl-https-verify-host 2 --ssl-https-ca-certificates-file ca.pem --ssl-https-client-certificate-file c.pem --ssl-https-private-key-file k.pem --ssl-https-client-certificate-type PEM --ssl-https-private-key-type PEM",
			"target.tls=map[ca:ca.pem cert:c.pem key:k.pem]"},
		{grpc + "--ssl-grpc-use-ssl --ssl-grpc-root-certifications-file ca.pem --ssl-grpc-private-key-file k.pem --ssl-grpc-certificate-chain-file c.pem -u h:2",
			"target.urls[0]=grpcs://h:2 target.tls=map[ca:ca.pem cert:c.pem key:k.pem]"},
		{"-m m --triton-server-directory x --model-repository y", "target.model=m"},
		{"-m m --collect-metrics", "probes.metrics=http://localhost:8002/metrics probes.interval=1s"},
		{"-m m -u h:1 --collect-metrics --metrics-interval 500", "probes.metrics=http://h:8002/metrics probes.interval=500ms"},
		{"-m m --collect-metrics --metrics-url h:9/m", "probes.metrics=http://h:9/m"},
		{"-m m --trace-level TIMESTAMPS --trace-rate 5 --trace-count 9 --log-frequency 3",
			"target.triton.trace.trace_level=TIMESTAMPS target.triton.trace.trace_rate=5 target.triton.trace.trace_count=9 target.triton.trace.log_frequency=3"},
		{"-m m -t 3", "stages[0].concurrency=3 levels=none"},
		{"-m m -d -t 2 -c 6 -l 50", "levels.start=2 levels.end=6"},
		{"-m m -c 3", "levels.start=1 levels.end=3"},
		{"-m m -d", "stages[0].concurrency=1 levels=none"},
		{"-m m --faithful", "measurement.faithful=true"},
		{"-m m --out kept", "output.dir=kept"},
		{"-m m -f x.csv --verbose-csv --profile-export-file new.json --strict --dry-run --endpoint x", "target.path=none"},
	} {
		a, err := Parse(split(c.args), files)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		for _, w := range regexp.MustCompile(`(\S+?)=((?:map)?\[[^\]]*\]|\S+)`).FindAllStringSubmatch(c.want, -1) {
			if got := field(a.Plan, w[1]); got != w[2] {
				t.Errorf("%s: %s is %s, want %s", c.args, w[1], got, w[2])
			}
		}
	}
}

// The table above, or that of faults, has every option in it.
func TestEveryOptionIsTried(t *testing.T) {
	var source []byte
	for _, name := range []string{"perfanalyzer_test.go", "faults_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, text...)
	}
	for _, o := range defaults(files).options() {
		long := o.long != "" && strings.Contains(string(source), "--"+o.long)
		short := o.short != 0 && regexp.MustCompile(`[" ]-`+string(o.short)).Match(source)
		if !long && !short {
			t.Errorf("%s is in no test", o.name())
		}
		if o.help == "" || o.set == nil {
			t.Errorf("%s has no help or no effect", o.name())
		}
	}
}

func TestAction(t *testing.T) {
	a, err := Parse(split("-m m -i grpc --async --streaming -v -v --concurrency-range 2:8:3 -b 4 -f x.csv --verbose-csv --profile-export-file new.json --percentile 90 -l 7 --strict stray"), files)
	if err != nil {
		t.Fatal(err)
	}
	want := &Action{
		Strict: true, Verbose: 2, Service: Triton, Load: LoadConcurrency, Async: true, Streaming: true, GRPC: true, Batch: 4, ShowBatch: true,
		WindowMS: 5000, WindowRequests: 50, Percentile: 90, Threshold: 7, Concurrency: Range{2, 8, 3}, Rate: Range{1, 1, 1},
		Periodic: Range{1, 1, 1}, Period: 10,
		CSV: "x.csv", VerboseCSV: true, Export: "new.json", MaxTrials: 10, Stability: 0.1, Threads: 16,
		Warnings: []string{`"stray" is not an option and has no effect`},
	}
	want.Plan = a.Plan
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
}

// differs: pa-help
func TestHelpAndVersion(t *testing.T) {
	for _, arg := range []string{"--help", "-h"} {
		if a, err := Parse([]string{arg}, files); err != nil || !a.Help {
			t.Errorf("%s: %+v, %v", arg, a, err)
		}
	}
	for _, line := range []string{"--version", "-m m --version", "--version --nosuch", "--version -m", "--version -b 0"} {
		if a, err := Parse(split(line), files); err != nil || !a.Version {
			t.Errorf("%s: %+v, %v", line, a, err)
		}
	}
	for _, o := range defaults(files).options() {
		if !strings.Contains(Help(), o.name()) {
			t.Errorf("the help lacks %s", o.name())
		}
	}
}

// The command lines of the two seeds, as they stand there.
func TestSeeds(t *testing.T) {
	for name, args := range map[string]string{
		"prefill":  "-m vllm -i grpc --async --streaming --input-data=prompts.json --profile-export-file=new_export.json --measurement-mode=count_windows --measurement-request-count=10 --stability-percentage=999",
		"ensemble": "-u localhost:9001 -i grpc     -m ensemble --async --input-data prompts_perfanalyzer.json     --measurement-interval 10000      --profile-export-file new-qwen2-7b-1024_1.json      --service-kind triton      -v --endpoint v1/chat/completions      --concurrency-range 6:8:1      --stability-percentage 999      --streaming --shape max_tokens:1 --shape text_input:1",
	} {
		a, err := Parse(split(args), files)
		if err != nil {
			t.Fatal(err)
		}
		got, err := planfile.Encode(a.Plan)
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name+".yaml")
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestPeriodic(t *testing.T) {
	a, err := Parse(split("-m m -i grpc --streaming --periodic-concurrency-range 2:10:4 --profile-export-file new.json"), files)
	if err != nil {
		t.Fatal(err)
	}
	want := plan.Stage{Concurrency: 2, Growth: plan.Growth{To: 10, Step: 4, Responses: 10}}
	if diff := cmp.Diff([]plan.Stage{want}, a.Plan.Stages); diff != "" || a.Load != LoadPeriodic || a.Plan.Measurement.On() || a.Plan.Levels.On() {
		t.Errorf("%s: %s", a.Load, diff)
	}
	a, err = Parse(split("-m m -i grpc --streaming --periodic-concurrency-range 1:2 --request-period 3 --profile-export-file new.json --warmup-request-count 4"), files)
	if err != nil || a.Plan.Stages[0].Growth != (plan.Growth{To: 2, Step: 1, Responses: 3}) || a.Plan.Stages[0].Warmup != (plan.Warmup{}) ||
		len(a.Warnings) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}

// The guides export to the same name again and again.
// differs: pa-export-replaced
func TestAnExportOfBeforeIsReplaced(t *testing.T) {
	a, err := Parse(strings.Fields("-m m --profile-export-file before.json"), files)
	if err != nil || a.Export != "before.json" || len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], "before.json") {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestSessionsAreGoneThroughOnce(t *testing.T) {
	for name, want := range map[string]int64{"sessions.json": 2, "nested.json": 3, "other.json": 1} {
		a, err := Parse(strings.Fields("-m m --service-kind openai --endpoint x --async --session-concurrency 1 --input-data "+name), files)
		if err != nil {
			t.Fatal(err)
		}
		if s := a.Plan.Stages[0]; a.Load != LoadSessions || s.Concurrency != 1 || s.Requests != want ||
			a.Plan.Measurement.Mode != plan.WindowStage {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
