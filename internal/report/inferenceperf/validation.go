package inferenceperf

import (
	"io"
	"strconv"

	dialect "inferometer/internal/dialect/inferenceperf"
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

// Validation writes what was found, by report. Reports without a finding are in it too:
// they were looked at.
func Validation(w io.Writer, reports []string, findings []Finding) error {
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
	_, err := w.Write(appendJSON(nil, object{{"global", of("")}, {"reports", each}}, 0))
	return err
}

// Examine looks for contradictions in a summary, and for what its reader must know.
func Examine(name, family string, s *dialect.Summary) []Finding {
	var out []Finding
	find := func(check string, bad bool, message string) {
		out = append(out, Finding{Check: family + "." + check, Error: bad, Message: message, Report: name})
	}
	if s.OK+s.Failed != s.Count {
		find("counts", true, "successes and failures do not add up to the requests")
	}
	if s.Failed > 0 && s.OK == 0 {
		find("successes", false, "no request succeeded")
	}
	if s.Mismatches > 0 {
		find("token_mismatches", false, strconv.FormatInt(s.Mismatches, 10)+" requests whose tokens the server and the tokenizer count differently")
	}
	for _, d := range []struct {
		path string
		dist *dialect.Dist
	}{
		{"load_summary.schedule_delay", s.Delay}, {"successes.latency.request_latency", s.Latency},
		{"successes.latency.normalized_time_per_output_token", s.NTPOT}, {"successes.latency.time_per_output_token", s.TPOT},
		{"successes.latency.time_to_first_token", s.TTFT}, {"successes.latency.inter_token_latency", s.ITL},
	} {
		if d.dist != nil && d.dist.Min < 0 {
			find("distributions", d.dist != s.Delay, d.path+": negative minimum "+number(d.dist.Min))
		}
	}
	return out
}
