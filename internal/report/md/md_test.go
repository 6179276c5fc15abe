package md_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/md"
	"github.com/inferometer/inferometer/internal/result"
)

var update = flag.Bool("update", false, "write the golden files anew")

func spread(unit string, n int64, mid float64, thin ...string) result.Stat {
	return result.Stat{Unit: unit, Count: n, Avg: mid * 1.02, LowSamples: thin,
		Distribution: &result.Distribution{Min: mid * 0.8, Max: mid * 2.5, P50: mid, P99: mid * 1.8}}
}

func rate(unit string, v float64) result.Stat { return result.Stat{Unit: unit, Avg: v} }

func measured(n int64, slow float64) map[string]result.Stat {
	return map[string]result.Stat{
		"time_to_first_token": spread("ms", n, 51.2*slow, "p99"), "inter_token_latency": spread("ms", n*63, 10.1*slow), "request_latency": spread("ms", n, 690*slow),
		"request_throughput": rate("requests/sec", 46.37/slow), "output_token_throughput": rate("tokens/sec", 2967.8/slow), "slo_attainment": rate("share", 0.9929),
	}
}

func one() *result.Result {
	return &result.Result{
		Version: "0.1.0", Seed: 42, Duration: 35.2, Started: time.Date(2026, 11, 15, 13, 10, 0, 0, time.UTC),
		Host: record.Host{OS: "linux", Arch: "amd64", Kernel: "6.1.0", CPU: "AMD EPYC 7B13", Cores: 16},
		Verdict: result.Verdict{Status: result.Valid, Valid: true, Checks: []result.Check{
			{Stage: 0, Name: "dispatch_delay_p99", Value: 0.12, Budget: 1, Unit: "ms", OK: true},
			{Stage: -1, Name: "client_cpu", Value: 0.34, Budget: 0.85, Unit: "share", OK: true},
		}},
		Notes: []string{"12 prompts were sent more than once: a prefix cache may have answered them."},
		Stages: []result.Stage{{
			Load: "32 in flight", Counts: result.Counts{Sent: 1400, OK: 1390, Failed: 10}, Metrics: measured(1390, 1),
			Failures: []record.FailureCount{{Class: "http_status", Status: 503, Count: 10, Example: `{"error": "overloaded"}`}},
			Goodput:  []result.SLO{{Metric: "time_to_first_token", MaxMS: 200, Met: 1390, Of: 1400}},
		}},
	}
}

func levels() *result.Result {
	r := one()
	first := r.Stages[0]
	first.Failures, first.Goodput, first.Load = nil, nil, "1 in flight"
	second, third := first, first
	second.Index, second.Name, second.Load, second.Metrics = 1, "peak", "50/s poisson, at most 500 in flight", measured(1400, 40)
	third.Index, third.Name, third.Metrics = 2, "embeddings", map[string]result.Stat{"request_latency": spread("ms", 20, 0.05), "request_throughput": rate("requests/sec", 19000)}
	r.Stages = []result.Stage{first, second, third}
	r.Verdict = result.Verdict{Status: result.Invalid, Reasons: []string{"stage 2: requests went out 3.1 ms after they were due (p99), the budget is 1 ms: ask for a lower rate"},
		Undecided: []string{"stage 3: 20 requests are too few"},
		Checks: []result.Check{
			{Stage: 1, Name: "resent", Value: 0, Budget: 0.01, Unit: "share", OK: true}, {Stage: 1, Name: "dispatch_delay_p99", Value: 3.1, Budget: 1, Unit: "ms"},
			{Stage: 2, Name: "steady", Budget: 0.1, Unit: "share", Undecided: true},
		}}
	for i, word := range []string{result.Valid, result.Invalid, result.Inconclusive} {
		r.Stages[i].Verdict = &result.StageVerdict{Status: word, Valid: i == 0}
	}
	r.Verdict.Summary = "1 of 3 stages is valid: its figures can be trusted. Do not rely on those of stage 2 (peak). Too little was measured in stage 3 (embeddings) to tell."
	r.Interrupted, r.Incomplete, r.Notes = true, true, nil
	return r
}

// hostileText is what a model, a stage or a server's error may be called by somebody who
// means harm.
const hostileText = "a|b `c` <img src=x onerror=alert(1)> @octocat fixes #1 GH-2 [x](http://evil.example) www.evil.example ![i](//e) **b** ~~s~~ $x$ !3 &amp; \x1b[31m\r\n| x |\n/close\n- [ ] todo ```"

func hostile() *result.Result {
	r := one()
	s := &r.Stages[0]
	s.Name, s.Load = hostileText, hostileText
	s.Failures[0].Example = hostileText
	r.Notes, r.Verdict.Status, r.Verdict.Valid, r.Verdict.Reasons = []string{hostileText, "1. first", "- list", "/approve"}, result.Invalid, false, []string{hostileText}
	r.Host.CPU = hostileText
	return r
}

func write(t *testing.T, r *result.Result, o md.Options) string {
	t.Helper()
	var b strings.Builder
	if err := md.Write(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	usual := md.Options{Subject: "llama chat at http://host:8000", Plan: "version: 1\nstages:\n  - concurrency: 32\n"}
	for name, got := range map[string]string{
		"one.md":     write(t, one(), md.Options{Name: "nightly", Subject: usual.Subject, Plan: usual.Plan}),
		"levels.md":  write(t, levels(), usual),
		"hostile.md": write(t, hostile(), md.Options{Name: hostileText, Subject: hostileText, Plan: "name: |\n  ```\n  @octocat </details>\n"}),
		"empty.md":   write(t, &result.Result{Verdict: result.Verdict{Status: result.Inconclusive}}, md.Options{}),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// Nothing of a hostile text is markup, outside of the block that the plan is in.
func TestHostileTextIsInert(t *testing.T) {
	got := write(t, hostile(), md.Options{Name: hostileText, Subject: hostileText})
	plain := regexp.MustCompile(`<code>[^<]*</code>`).ReplaceAllString(got, "")
	if tags := regexp.MustCompile(`<[^>]*>`).FindAllString(plain, -1); strings.Join(tags, "") != strings.Repeat("<details><summary></summary></details>", 2) {
		t.Errorf("tags are %q", tags)
	}
	for _, bad := range []string{"@o", "#1", "GH-2", "://", "www.e", " `", "x](", "\x1b", "\r", " |b", "$x"} {
		if strings.Contains(plain, bad) {
			t.Errorf("it holds %q", bad)
		}
	}
	columns := 0
	for l := range strings.Lines(got) {
		if strings.HasPrefix(l, "/") || strings.HasPrefix(l, "- [") || strings.HasPrefix(l, "- -") || strings.HasPrefix(l, "- 1.") {
			t.Errorf("a line is %q", l)
		}
		if strings.HasPrefix(l, "|") {
			n := strings.Count(l, "|") - strings.Count(l, `\|`)
			if strings.Contains(l, "Stage | Load") {
				columns = n
			}
			if columns == 14 && strings.Contains(l, "a\\|b") && n != columns {
				t.Errorf("a row has %d bars: %s", n, l)
			}
		}
	}
	if columns != 14 {
		t.Errorf("the table has %d bars", columns)
	}
}

// However much there is to say, a comment takes it.
func TestLength(t *testing.T) {
	for _, piece := range []string{"`", "!a", "&", "\u0301", "😀"} {
		long := strings.Repeat(piece, 600)
		r := hostile()
		s := r.Stages[0]
		s.Name, s.Load = long, long
		s.Failures, s.Goodput = nil, nil
		for range 20 {
			s.Failures = append(s.Failures, record.FailureCount{Class: record.Class(long), Status: 500, Count: 1, Example: long})
			s.Goodput = append(s.Goodput, result.SLO{Metric: long, Of: 1})
			r.Notes, r.Verdict.Reasons, r.Verdict.Undecided = append(r.Notes, long[:5]+"short"), append(r.Verdict.Reasons, long), append(r.Verdict.Undecided, "short")
			r.Verdict.Checks = append(r.Verdict.Checks, result.Check{Name: long, Unit: long})
		}
		r.Stages = nil
		for i := range 40 {
			s.Index = i
			r.Stages = append(r.Stages, s)
		}
		r.Host.CPU = long
		got := write(t, r, md.Options{Name: long, Subject: long, Plan: strings.Repeat(long+"\n", 20) + strings.Repeat("a: b\n", 4_000)})
		if len(got) > md.Most || len(got) < 10_000 {
			t.Errorf("%q: %d bytes", piece, len(got))
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteError(t *testing.T) {
	if err := md.Write(full{}, one(), md.Options{}); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Error(err)
	}
}

// TestLowerBounds: a figure that is known only to be at least something says so.
func TestLowerBounds(t *testing.T) {
	r := one()
	s := spread("ms", 1000, 3000)
	s.Censored, s.AtLeast = 120, []string{"avg", "max", "std", "p99", "p99.9"}
	r.Stages[0].Metrics["time_to_first_token"] = s
	text := write(t, r, md.Options{})
	for _, want := range []string{"| ≥ ", "≥ requests did not end: the figure is at least this much"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\ndoes not say %q", text, want)
		}
	}
	if strings.Contains(write(t, one(), md.Options{}), "≥") {
		t.Error("a figure that is known is called a lower bound")
	}
}
