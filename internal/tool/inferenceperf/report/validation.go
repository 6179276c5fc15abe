package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// ValidationFile is the name of the report on the reports.
const ValidationFile = "validation.json"

// Finding is something about a report that its reader must know.
type Finding struct {
	Check   string
	Error   bool // the report contradicts itself
	Message string
	Report  string // empty: all of them
}

// Validation is what was found, by report, also of those without a finding.
func Validation(reports []string, findings []Finding) []byte {
	of := func(name string) object {
		warnings, errors := list{}, list{}
		for _, f := range findings {
			if f.Report != name {
				continue
			}
			entry := object{{"check", f.Check}, {"severity", "warning"}, {"message", f.Message}, {"report", textOrNull(f.Report)}}
			if f.Error {
				entry[1].value = "error"
				errors = append(errors, entry)
			} else {
				warnings = append(warnings, entry)
			}
		}
		return object{{"warnings", warnings}, {"errors", errors}}
	}
	each := object{}
	for _, name := range reports {
		each.put(name, of(name))
	}
	return appendJSON(nil, object{{"global", of("")}, {"reports", each}}, 0)
}

// Examine looks for contradictions in a summary, and for what its reader must know.
func Examine(name, family string, s *dialect.Summary) []Finding {
	out := ExaminePartial(name, family, s)
	find := func(check string, bad bool, message string) {
		out = append(out, Finding{Check: family + "." + check, Error: bad, Message: message, Report: name})
	}
	if s.Failed > 0 && s.OK == 0 {
		find("successes", false, "no request succeeded")
	}
	if s.Mismatches > 0 {
		find("token_mismatches", false, strconv.FormatInt(s.Mismatches, 10)+" requests with different token counts from server and tokenizer")
	}
	return out
}

// ExaminePartial looks for contradictions in a summary alone.
func ExaminePartial(name, family string, s *dialect.Summary) []Finding {
	var out []Finding
	find := func(check string, bad bool, message string) {
		out = append(out, Finding{Check: family + "." + check, Error: bad, Message: message, Report: name})
	}
	if s.OK+s.Failed != s.Count {
		find("counts", true, "successes and failures do not add up to the requests")
	}
	for _, d := range []struct {
		path string
		dist *dialect.Dist
	}{
		{"load_summary.schedule_delay", s.Delay}, {"successes.latency.request_latency", s.Latency},
		{"successes.latency.normalized_time_per_output_token", s.NTPOT}, {"successes.latency.time_per_output_token", s.TPOT},
		{"successes.latency.time_to_first_token", s.TTFT}, {"successes.latency.inter_token_latency", s.ITL},
		{"successes.request_size_bytes", s.Size}, {"successes.prompt_tokens", s.Prompt.Each},
		{"successes.output_len", s.Client}, {"successes.output_tokens", s.Server}, {"failures.request_latency", s.FailedLatency},
	} {
		if d.dist == nil {
			continue
		}
		if d.dist.Min < 0 {
			find("distributions", d.dist != s.Delay, d.path+": negative minimum "+number.PythonJSON(d.dist.Min))
		}
		if !inOrder(d.dist) {
			find("distributions", true, d.path+": minimum, mean, percentiles and maximum are not in order")
		}
	}
	return out
}

// inOrder reports whether the figures of a distribution can be of one: none is outside its
// bounds, and a higher percentile is not below a lower one. Sums of many are not exact.
func inOrder(d *dialect.Dist) bool {
	least := func(a, b float64) bool { return a <= b+1e-9+1e-6*max(math.Abs(a), math.Abs(b)) }
	ok := least(d.Min, d.Mean) && least(d.Mean, d.Max)
	for i, p := range d.Percentiles {
		ok = ok && least(d.Min, p) && least(p, d.Max)
		for k, q := range d.Percentiles[:i] {
			ok = ok && (d.Ranks[k] > d.Ranks[i] || least(q, p)) && (d.Ranks[k] < d.Ranks[i] || least(p, q))
		}
	}
	return ok
}

// StageSummary is the report of a stage among others.
type StageSummary struct {
	Stage   int
	Summary *dialect.Summary
	Rate    *float64 // that was asked for, or nil
}

// Across looks for contradictions between reports. The whole is nil where it is not
// reported. wanted is how many stages the config has, 0: that is not known; entries is how
// many the report of single requests has, -1: there is none.
func Across(whole *dialect.Summary, stages []StageSummary, wanted int, entries int64) []Finding {
	var out []Finding
	find := func(check string, bad bool, format string, args ...any) {
		out = append(out, Finding{Check: "cross_report." + check, Error: bad, Message: fmt.Sprintf(format, args...)})
	}
	if whole != nil && len(stages) > 0 {
		var sum dialect.Summary
		for _, s := range stages {
			sum.Count, sum.OK, sum.Failed = sum.Count+s.Summary.Count, sum.OK+s.Summary.OK, sum.Failed+s.Summary.Failed
		}
		if sum.Count != whole.Count || sum.OK != whole.OK || sum.Failed != whole.Failed {
			find("stage_totals", true, "stages have %d requests, %d of them answered, and the run has %d and %d", sum.Count, sum.OK, whole.Count, whole.OK)
		}
	}
	if whole != nil && entries >= 0 && entries != whole.Count {
		find("per_request_count", true, "%s has %d requests, and the run has %d", PerRequestFile, entries, whole.Count)
	}
	there := map[int]bool{}
	for i, s := range stages {
		there[s.Stage] = true
		if i > 0 && s.Rate != nil && stages[i-1].Rate != nil && *s.Rate < *stages[i-1].Rate {
			find("stage_rates", false, "stage_%d has a lower rate than stage_%d before it: %v and %v", s.Stage, stages[i-1].Stage, *s.Rate, *stages[i-1].Rate)
		}
	}
	var absent []string
	for i := range wanted {
		if !there[i] {
			absent = append(absent, "stage_"+strconv.Itoa(i))
		}
	}
	if len(stages) > 0 && len(absent) > 0 {
		find("configured_stages", false, "the config has %d stages, and there is no report of %s: nothing was sent in them", wanted, strings.Join(absent, ", "))
	}
	return out
}
