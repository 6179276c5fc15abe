package gate

import (
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
)

// Metric is a figure that gates can name.
type Metric struct {
	ID     string   // its key in result.Stage.Metrics
	Short  string   // what it is called in gates and in tables of figures; the ID where it has no shorter name
	Also   []string // other names of it
	Unit   string
	Spread bool // it has statistics; else it is one number
	Lower  bool // less is better
	Higher bool // more is better
}

// short are the short names of metrics, the first of each is the one that is shown.
func short() map[string][]string {
	return map[string][]string{
		"time_to_first_token":              {"ttft"},
		"time_to_first_output_token":       {"ttfot"},
		"time_to_second_token":             {"ttst"},
		"time_to_first_byte":               {"ttfb"},
		"inter_token_latency":              {"itl"},
		"time_per_output_token":            {"tpot"},
		"normalized_time_per_output_token": {"ntpot"},
		"request_latency":                  {"latency", "e2e"},
		"request_throughput":               {"rps", "req/s", "requests/s", "qps"},
		"output_token_throughput":          {"tps", "tok/s", "tokens/s", "output_tps", "output_tok/s", "output_tokens/s"},
		"input_token_throughput":           {"input_tps", "input_tok/s", "input_tokens/s"},
		"total_token_throughput":           {"total_tps", "total_tok/s", "total_tokens/s"},
		"output_token_throughput_per_user": {"tps_user"},
		"output_sequence_length":           {"osl"},
		"input_sequence_length":            {"isl"},
		"slo_attainment":                   {"goodput"},
		"request_goodput":                  {"good_rps", "good_req/s"},
		"error_rate":                       {"errors", "failures"},
		"cost_per_million_total_tokens":    {"total_cost"},
		"cost_per_million_output_tokens":   {"output_cost"},
		"cost_per_million_input_tokens":    {"input_cost"},
		"gpu_power_avg":                    {"watts"},
	}
}

// higher are the metrics of which more is better.
func higher() []string {
	return []string{
		"request_throughput", "output_token_throughput", "input_token_throughput", "total_token_throughput",
		"output_token_throughput_per_user", "slo_attainment", "request_goodput",
		"input_token_throughput_per_gpu", "output_token_throughput_per_gpu", "total_token_throughput_per_gpu",
		"input_tokens_per_second_per_megawatt", "output_tokens_per_second_per_megawatt", "total_tokens_per_second_per_megawatt",
	}
}

// neither are the metrics of which neither more nor less is better: they say what was asked
// for, how long it took in all, or how this client did.
func neither() []string {
	return []string{
		"output_sequence_length", "input_sequence_length", "cached_prompt_tokens", "cached_prompt_share", "tokens_per_event", "concurrency", "request_count",
		"total_gpu_energy", "gpu_power_avg", "gpu_power_peak",
		"lag", "slot_wait", "dispatch_delay", "write_time", "read_delay", "resolve_time", "connect_time", "tls_time",
	}
}

// estimated are the metrics of one number whose confidence interval can be told.
func estimated() []string {
	return []string{
		"request_throughput", "output_token_throughput", "input_token_throughput", "total_token_throughput",
		"request_goodput", "slo_attainment", "error_rate",
	}
}

// Metrics are all that gates can name, in the order in which a report lists them.
func Metrics() []Metric {
	names, up, flat := short(), higher(), neither()
	var list []Metric
	for _, d := range metric.Defs() {
		m := Metric{ID: d.ID, Short: d.ID, Unit: d.Unit, Spread: d.Rate == nil, Higher: slices.Contains(up, d.ID)}
		m.Lower = !m.Higher && !slices.Contains(flat, d.ID)
		if also := names[d.ID]; len(also) > 0 {
			m.Short, m.Also = also[0], also[1:]
		}
		list = append(list, m)
	}
	return append(list, capacityMetric())
}

// Named finds a metric by its ID or short name, whatever its case, dashes and spaces.
func Named(name string) (Metric, bool) {
	name = strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
	list := Metrics()
	i := slices.IndexFunc(list, func(m Metric) bool {
		return m.ID == name || m.Short == name || slices.Contains(m.Also, name)
	})
	if i < 0 {
		return Metric{}, false
	}
	return list[i], true
}

// unknownMetric says which metric was probably meant.
func unknownMetric(name string) error {
	var shorts, all []string
	for _, m := range Metrics() {
		if m.Short != m.ID || m.ID == Capacity {
			shorts = append(shorts, m.Short)
		}
		all = append(append(all, m.Short, m.ID), m.Also...)
	}
	if n := suggest.Name(name, all); n != "" {
		return faultf("did you mean "+n+"?", "%s is not a metric", quote(name))
	}
	return faultf("one of "+strings.Join(shorts, ", ")+", or a name from docs/metrics.md", "%s is not a metric", quote(name))
}

// Stats are the statistics that a metric with samples has.
func Stats() []string {
	list := []string{"avg", "min", "max", "std"}
	for _, p := range metric.Percentiles() {
		list = append(list, p.Name)
	}
	return list
}

// statOf is the statistic that a name stands for; empty: there is none.
func statOf(name string) string {
	name = strings.ToLower(name)
	other := map[string]string{"mean": "avg", "average": "avg", "median": "p50", "stddev": "std"}
	if full := other[name]; full != "" {
		return full
	}
	if slices.Contains(Stats(), name) {
		return name
	}
	return ""
}

// lacksCost says what a plan must say of its GPUs before a metric of cost is measured: what is not known,
// and what to add; empty: nothing is missing.
func lacksCost(id string, p *plan.Plan) (text, hint string) {
	c := &p.Cost
	read := c.Power != "" && c.Power != plan.PowerNone || c.Power == "" && (len(p.Probes.Scrape) > 0 || p.Probes.Metrics != "")
	money, perGPU := strings.HasPrefix(id, "cost_per_million_"), strings.HasSuffix(id, "_per_gpu")
	energy := strings.HasPrefix(id, "energy_per_") || strings.HasSuffix(id, "_per_megawatt") || strings.HasPrefix(id, "gpu_power_") || id == "total_gpu_energy"
	switch {
	case money && c.Price == 0:
		return "the price of a GPU hour is not given", "add --gpus 8 --gpu-hour-price 2.10"
	case (money || perGPU) && c.GPUs == 0 && !(c.On() && read):
		return "the number of GPUs is not known", "add --gpus"
	case energy && c.Watts == 0 && !(c.On() && read):
		return "the power of the GPUs is neither read nor given", "add --power, such as --power auto, or --gpu-watts with --gpus"
	case id == "gpu_power_peak" && c.Watts > 0:
		return "the power of the GPUs is given", "read it, such as with --power auto"
	}
	return "", ""
}
