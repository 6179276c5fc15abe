package args

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/inferometer/inferometer/internal/plan"
)

// alias is what other tools call a flag of ours, or one that is easily taken for it.
type alias struct {
	names   string // as typed, without dashes; one letter is a short flag
	flag    string // ours
	tools   string // whose they are
	bare    bool   // they take no value
	seconds bool   // a number alone is one of seconds
	with    string // a flag of ours that is given too
	note    string // what to mind
	differs string // it means something else: how, and what to use instead; it is refused
}

// The names under which the parts of a URL and a bound are kept until it is known what they mean.
const (
	urlAlias      = "url"
	hostAlias     = "host"
	portAlias     = "port"
	mostAlias     = "max-concurrency"
	requestRate   = "request-rate"
	streamedAlias = "streaming"
)

// aliases are those of the commands that measure. docs/command-line.md lists them.
func aliases() []alias {
	return []alias{
		{names: "url u base-url target", flag: urlAlias, tools: "GenAI-Perf, AIPerf, vLLM, SGLang, GuideLLM", note: "with http:// or grpc://"},
		{names: "host", flag: hostAlias, tools: "vLLM, SGLang", note: "needs `--port`"},
		{names: "port", flag: portAlias, tools: "vLLM, SGLang", note: "without `--host`: of this machine"},
		{names: "served-model-name", flag: "model", tools: "vLLM"},
		{names: "endpoint-type", flag: "endpoint", tools: "GenAI-Perf, AIPerf"},
		{names: "streaming stream", flag: streamedAlias, bare: true, tools: "GenAI-Perf, AIPerf", note: "the default here"},
		{names: "disable-stream", flag: "no-stream", bare: true, tools: "SGLang"},
		{names: "isl input-len random-input-len random-input synthetic-input-tokens-mean", flag: "input-tokens", tools: "AIPerf, GenAI-Perf, vLLM, SGLang", note: "SGLang draws lengths up to it"},
		{names: "osl output-len random-output-len random-output output-tokens-mean", flag: "output-tokens", tools: "AIPerf, GenAI-Perf, vLLM, SGLang", note: "vLLM and SGLang add `--ignore-eos` themselves"},
		{names: "num-dataset-entries", flag: "prompts", tools: "GenAI-Perf, AIPerf"},
		{names: "request-rate", flag: "rate", tools: "all", note: "evenly spaced here unless you add `--arrival poisson`"},
		{names: "max-concurrency", flag: mostAlias, tools: "vLLM, SGLang", note: "`--max-in-flight` with a rate, else `--concurrency`"},
		{names: "num-prompts num-requests request-count max-requests", flag: "requests", tools: "vLLM, SGLang, GenAI-Perf, AIPerf, GuideLLM", note: "`--num-prompts` as in vLLM and SGLang"},
		{names: "benchmark-duration max-seconds", flag: "duration", seconds: true, tools: "AIPerf, GuideLLM", note: "a number alone is in seconds"},
		{names: "warmup-request-count num-warmups warmup-requests", flag: "warmup", with: "warmup-drain", tools: "GenAI-Perf, AIPerf, vLLM, SGLang", note: "with `--warmup-drain`"},
		{names: "request-timeout-seconds", flag: "timeout", seconds: true, tools: "AIPerf", note: "a number alone is in seconds"},
		{names: "random-seed", flag: "seed", tools: "GenAI-Perf, AIPerf"},
		{names: "artifact-dir output-dir result-dir", flag: "out", tools: "GenAI-Perf, AIPerf, GuideLLM, vLLM"},

		{names: "qps", flag: "rate", tools: "others"},
		{names: "users vus num-concurrent-requests parallel", flag: "concurrency", tools: "Locust, k6, LLMPerf, EvalScope"},
		{names: "d", flag: "duration", seconds: true, tools: "k6, wrk", note: "a number alone is in seconds"},
		{names: "max-tokens max-output-tokens", flag: "output-tokens", tools: "others"},
		{names: "model-name", flag: "model", tools: "others"},
		{names: "cacert", flag: "ca", tools: "curl"},
		{names: "k", flag: "insecure", bare: true, tools: "curl"},

		{names: "r", tools: "Perf Analyzer and others", differs: "has several meanings: use --rate for requests per second, --requests for their number"},
		{names: "api-key", tools: "AIPerf", differs: "is not taken, since other users can read command lines: put the key into an environment variable and name that with --api-key-env"},
		{names: "burstiness vllm-burstiness arrival-smoothness", tools: "vLLM, AIPerf", differs: "is the shape of the gamma distribution: use --arrival gamma --cv X, where X is 1/√burstiness"},
		{names: "isl-stddev synthetic-input-tokens-stddev", tools: "GenAI-Perf, AIPerf", differs: "is part of the length: use --input-tokens normal:mean=550,stddev=50"},
		{names: "osl-stddev output-tokens-stddev", tools: "GenAI-Perf, AIPerf", differs: "is part of the length: use --output-tokens normal:mean=128,stddev=20"},
		{names: "random-range-ratio", tools: "vLLM, SGLang", differs: "is part of the length: use --input-tokens 100-200"},
		{names: "dataset-name dataset-path public-dataset", tools: "vLLM, SGLang, AIPerf", differs: "names data in that tool's own way: for random prompts leave it out and use --input-tokens N, for a file use --input-file FILE, for others data in a plan file (docs/datasets.md)"},
		{names: "backend", tools: "vLLM, SGLang", differs: "is two settings: leave it out for a server with OpenAI's API, else use --protocol, and --endpoint chat or completions"},
		{names: "metrics metrics-endpoint server-metrics", tools: "others", differs: "has the name of what it reads: use --scrape http://HOST:8000/metrics for the server's metrics page"},
		{names: "speed speedup time-scale", tools: "others", differs: "is no setting, a trace is played at its own times: use --rate R to send its requests at a rate of yours"},
		{names: "lora lora-modules lora-path adapters", tools: "vLLM, SGLang", differs: "is in the plan file: use data.adapters (inferometer help lora)"},
		{names: "num-workers", tools: "inference-perf", differs: "is not needed, one process uses all cores: use --workers N to send from several"},
		{names: "token bearer", tools: "others", differs: "is not taken, since other users can read command lines: put the key into an environment variable and name that with --api-key-env"},
		{names: "percentile-metrics metric-percentiles percentiles", tools: "vLLM, GenAI-Perf", differs: "is not needed: all percentiles are measured, and --all prints them"},
		{names: "save-result save-detailed", bare: true, tools: "vLLM", differs: "is a directory here: use --out DIR"},
		{names: "verbose v", bare: true, tools: "others", differs: "is about the report: use --all for every metric and check"},
		{names: "rate-type profile", tools: "GuideLLM", differs: "is chosen by the flag: --concurrency, --rate or --levels; inferometer capacity finds the highest load"},
		{names: "concurrency-range request-rate-range", tools: "Perf Analyzer", differs: "has another range without an end: use --levels START:END:STEP, with --rate for rates"},
		{names: "measurement-interval", tools: "Perf Analyzer", differs: "is in milliseconds: use --window 5s"},
		{names: "extra-inputs extra-body extra-request-body", tools: "GenAI-Perf, AIPerf, vLLM, SGLang", differs: "has another form: use --extra KEY=JSON, once for each field"},
		{names: "output-file output-path result-filename", tools: "SGLang, GuideLLM, vLLM", differs: "is a file of that tool: use --out DIR for everything, --export FILE for a table, --json for the result"},
		{names: "request-duration", tools: "nobody", differs: "could be two things: use --duration for the length of the run, --timeout to bound each request"},
	}
}

// differing are the names of another meaning that a command line has, with what they mean.
type differing struct {
	text  map[string]string   // by name
	given map[string][]string // their values, which are shown nowhere
}

// addAliases adds the names of other tools to a set of flags.
func addAliases(set *pflag.FlagSet, v values, paths map[string]string, list []alias) differing {
	d := differing{text: map[string]string{}, given: map[string][]string{}}
	for _, a := range list {
		names := strings.Fields(a.names)
		pending := slices.Contains([]string{urlAlias, hostAlias, portAlias, mostAlias, streamedAlias}, a.flag)
		for _, name := range names {
			if len(name) == 1 && len(names) > 1 || set.Lookup(name) != nil {
				continue // a short name comes with the first long one
			}
			short := ""
			if i := slices.IndexFunc(names, func(n string) bool { return len(n) == 1 }); i >= 0 && (name == names[0]) {
				short = names[i]
			}
			own := set.Lookup(a.flag)
			value := collect{to: v.flags, name: a.flag, toggle: a.bare, seconds: a.seconds, as: name, typed: v.typed, with: a.with}
			switch {
			case a.differs != "":
				d.text[name] = a.differs
				value = collect{to: d.given, name: name}
			case own == nil && !pending:
				d.text[name] = "is --" + a.flag + " of inferometer run, which this command does not have"
				value = collect{to: d.given, name: name}
			}
			f := set.VarPF(value, name, short, "")
			if paths[name] = paths[a.flag]; a.bare {
				f.NoOptDefVal = "true"
			}
		}
	}
	return d
}

// faults are those of the names that mean something else.
func (d differing) faults(set *pflag.FlagSet) plan.Faults {
	var list plan.Faults
	set.VisitAll(func(f *pflag.Flag) {
		if len(d.given[f.Name]) == 0 {
			return
		}
		where := "--" + f.Name
		if len(f.Name) == 1 {
			where = "-" + f.Name
		}
		text, hint, _ := strings.Cut(d.text[f.Name], ": ")
		list = append(list, plan.Fault{Where: where, Text: text, Hint: hint})
	})
	return list
}

// resolveAliases decides what the names of other tools mean whose meaning depends on other flags.
func (v *values) resolveAliases() plan.Faults {
	var faults plan.Faults
	v.args = append(v.args, v.flags[urlAlias]...)
	host, port := v.last(hostAlias), v.last(portAlias)
	switch {
	case host == "" && port == "":
	case port == "":
		faults = append(faults, plan.Fault{Where: "--host", Text: "needs --port", Hint: "or give the URL: http://" + shorten(host) + ":8000"})
	default:
		scheme, name, ok := strings.Cut(host, "://")
		if !ok {
			scheme, name = "http", host
		}
		if name == "" {
			name = "127.0.0.1"
		}
		v.args = append(v.args, scheme+"://"+net.JoinHostPort(strings.Trim(name, "[]"), port))
	}
	if v.given(streamedAlias) && v.given("no-stream") && v.is(streamedAlias) == v.is("no-stream") {
		faults = append(faults, plan.Fault{Where: "--streaming", Text: "contradicts --no-stream", Hint: "keep one of them"})
	} else if v.given(streamedAlias) {
		v.flags["no-stream"] = []string{strconv.FormatBool(!v.is(streamedAlias))}
	}
	most := v.flags[mostAlias]
	if v.typed["rate"] == requestRate && v.last("rate") == "inf" {
		delete(v.flags, "rate")
		if len(most) == 0 && !v.given("concurrency") {
			faults = append(faults, plan.Fault{Where: "--request-rate", Text: "inf sends all requests at once", Hint: "set how many are in flight with --concurrency N"})
		}
	}
	bounds := "concurrency"
	if v.given("rate") {
		bounds = "max-in-flight"
	}
	if len(most) > 0 {
		v.flags[bounds] = append(v.flags[bounds], most...)
		v.typed[bounds] = mostAlias
		if len(v.flags[bounds]) > 1 {
			faults = append(faults, plan.Fault{Where: "--max-concurrency", Text: fmt.Sprintf("is --%s, which is given %s", bounds, times(len(v.flags[bounds]))), Hint: "keep one of them"})
		}
	}
	return faults
}

// shown is a flag as it was typed.
func (v values) shown(name string) string {
	if as := v.typed[name]; as != "" {
		return "--" + as
	}
	return "--" + name
}
