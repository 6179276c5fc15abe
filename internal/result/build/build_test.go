package build

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat"
)

const ms = time.Millisecond

// world is a made-up run that tests bend one way or another.
type world struct {
	plan  plan.Plan
	facts Inputs
	recs  []*record.Record
}

// healthy is a closed-loop run of one stage in which nothing is wrong: 10 s of sending
// after 1 s of warm-up, 2000 requests of 20 tokens.
func healthy() *world {
	w := &world{plan: plan.Default()}
	w.plan.Target.URLs = []string{"http://example.test"}
	w.plan.Tokenizer.Name = "test-tokenizer"
	w.plan.Stages = []plan.Stage{{Concurrency: 40, Duration: plan.Duration(10 * time.Second)}}
	w.plan.Goodput = []plan.SLO{{Metric: "time_to_first_token", Max: plan.Duration(60 * ms)}}
	w.facts = Inputs{
		Header: record.Header{Schema: record.Schema, Version: "test", Start: time.Unix(1_800_000_000, 0).UTC(), Seed: 7, Kernel: true,
			Host: record.Host{OS: "linux", Arch: "amd64", Cores: 4, GoVersion: "go", GOMAXPROCS: 4}},
		Stages: []record.StageSummary{{StageTimes: record.StageTimes{Begin: 0, WarmupEnd: time.Second, SendEnd: 11 * time.Second, DrainEnd: 11300 * ms}, Reason: "duration"}},
	}
	for i := range 13 {
		at := time.Duration(i) * time.Second
		w.facts.Health = append(w.facts.Health, record.Health{At: at, CPU: at, Allowed: 4 * at, GCPause: at / 1000})
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 2200 {
		w.recs = append(w.recs, request(r, i))
	}
	return w
}

// request is a good request, 5 ms after the one before.
func request(r *rand.Rand, i int) *record.Record {
	due := time.Duration(i) * 5 * ms
	rec := &record.Record{
		Seq: int64(i), Prompt: uint64(i + 1), Due: due, Ready: due, Sent: due + 50*time.Microsecond, Written: due + 60*time.Microsecond,
		Streamed: true, Status: 200, RequestedTokens: 20, Cached: -1,
		In:  record.Tokens{N: 128, Source: record.FromServer, Local: 128},
		Out: record.Tokens{N: 20, Source: record.FromServer, Local: 20},

		Marks: make([]record.Read, 0, 20), Events: make([]record.Event, 0, 20),
	}
	if due < time.Second {
		rec.Phase = record.Warmup
	}
	at := rec.Sent + 50*ms + time.Duration(r.Int64N(int64(5*ms)))
	for k := range 20 {
		rec.Marks = append(rec.Marks, record.Read{Kernel: at, User: at + 30*time.Microsecond})
		rec.Events = append(rec.Events, record.Event{Mark: k, Tokens: 1})
		at += 9*ms + time.Duration(r.Int64N(int64(2*ms)))
	}
	rec.End = rec.Marks[19].Kernel
	return rec
}

// build makes the result without intervals of sampling, which take longer than all the rest.
func (w *world) build(t *testing.T) *result.Result {
	t.Helper()
	fold := w.fold(t)
	defer fold.Close()
	sums, err := fold.Summarize(stat.Linear)
	if err != nil {
		t.Fatal(err)
	}
	r, err := build(&w.plan, w.facts, fold, sums)
	if err != nil {
		t.Fatal(err)
	}
	if ourNames(r) != "" {
		w.elsewhere(t, fold, sums)
	}
	return r
}

// TestIntervals: a result has intervals of sampling.
func TestIntervals(t *testing.T) {
	w := healthy()
	fold := w.fold(t)
	defer fold.Close()
	r, err := Result(&w.plan, w.facts, fold)
	if err != nil {
		t.Fatal(err)
	}
	published.Fits(t, r)
	s := r.Stages[0].Metrics["time_to_first_token"]
	if at, ok := s.Intervals["avg"]; !ok || at.Lo >= s.Avg || at.Hi <= s.Avg || at.Hi > s.Avg*1.1 {
		t.Errorf("%v lies in %+v", s.Avg, s.Intervals)
	}
}

func (w *world) fold(t *testing.T) *metric.Aggregator {
	t.Helper()
	opts := metric.OptionsFor(&w.plan)
	opts.Times = metric.TimesOf(w.facts.Stages)
	fold, err := metric.NewFold(opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range w.recs {
		fold.Add(rec)
	}
	return fold
}

// elsewhere makes sure that a tool without any of our settings says none of their names.
func (w *world) elsewhere(t *testing.T, fold *metric.Aggregator, sums []metric.StageStats) {
	t.Helper()
	facts := w.facts
	facts.Names = message.Names{
		Of:    func(string) (string, bool) { return "", true },
		Stage: func(i int) string { return "part" },
	}
	r, err := build(&w.plan, facts, fold, sums)
	if err != nil {
		t.Fatal(err)
	}
	if text := ourNames(r); text != "" {
		t.Errorf("a tool that has no such thing says %q", text)
	}
}

// ours are flags, paths of a plan, and stages as we call them.
var ours = regexp.MustCompile(`--[a-z]|\b(target|tokenizer|data|stages|levels|measurement|limits|output|probes)\.[a-z]|max_(errors|in_flight)|^Stage `)

// ourNames is what a result says that names a setting of ours, or a stage as we do.
func ourNames(r *result.Result) string {
	for _, text := range slices.Concat(r.Notes, r.Verdict.Reasons, r.Verdict.Undecided) {
		if ours.MatchString(text) {
			return text
		}
	}
	return ""
}

// each changes every record.
func (w *world) each(f func(i int, r *record.Record)) {
	for i, r := range w.recs {
		f(i, r)
	}
}

func fail(r *record.Record) {
	r.Failure = &record.Failure{Class: record.HTTPStatus, Status: 503, Message: "overloaded", At: r.End}
}

func TestHealthyRunIsValid(t *testing.T) {
	w := healthy()
	r := w.build(t)
	if !r.Verdict.Valid {
		t.Fatalf("INVALID: %v", r.Verdict.Reasons)
	}
	var names []string
	for _, c := range r.Verdict.Checks {
		names = append(names, c.Name)
		if !c.OK {
			t.Errorf("check %+v", c)
		}
	}
	for _, want := range []string{"clock_step", "requests", "dispatch_delay_p99", "client_error", "client_cpu", "gc", "usage_output_plausible", "short_output", "latency_drift", "throughput_drift"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s was not checked: %v", want, names)
		}
	}
	s := r.Stages[0]
	if s.Counts.Sent != 2000 || s.Counts.Warmup != 200 || s.Counts.OK != 2000 || s.Load != "40 in flight" || s.Ended != "duration" {
		t.Errorf("stage %+v", s)
	}
	if s.Window.Begin < 1 || s.Window.Begin > 1.01 || r.Duration != 11.3 {
		t.Errorf("window %+v, duration %v", s.Window, r.Duration)
	}
	if s.Steady == nil || s.Steady.Window != (result.Span{Begin: 1, End: 11}) || s.Steady.Counts.OK < 1950 {
		t.Errorf("steady %+v", s.Steady)
	}
	ttft := s.Metrics["time_to_first_token"]
	if ttft.Unit != "ms" || ttft.Count != 2000 || ttft.P50 < 50 || ttft.P99 > 55 || !slices.Equal(ttft.LowSamples, []string{"p99.9"}) {
		t.Errorf("time to first token %+v %+v", ttft, ttft.Distribution)
	}
	if s.Goodput[0].Met != 2000 || s.Goodput[0].Of != 2000 || s.Goodput[0].MaxMS != 60 {
		t.Errorf("goodput %+v", s.Goodput)
	}
	if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "p99.9 (6636)") }) {
		t.Errorf("notes %q do not mention the thin percentile", r.Notes)
	}
}

// TestVerdict bends the healthy run one way at a time; each must be found, named with
// its figure, and nothing else.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name  string
		bend  func(*world)
		check string   // that fails; empty: none
		says  []string // in the reason, or in a note where no check fails
	}{
		{"late sends", func(w *world) {
			w.each(func(i int, r *record.Record) {
				if i%50 == 0 {
					r.Due -= 15 * ms
				}
			})
		}, "dispatch_delay_p99", []string{"15 ms", "budget 10 ms", "more cores"}},
		{"late by connecting", func(w *world) {
			w.each(func(i int, r *record.Record) { r.Due -= 5 * ms; r.Conn.Connect = 5 * ms })
		}, "", nil},
		{"late by waiting for a slot", func(w *world) {
			w.each(func(i int, r *record.Record) { r.Due -= 5 * ms; r.Held = 5 * ms })
		}, "", nil},
		{"late, but less than a share of the first token", func(w *world) {
			w.plan.Budgets.LagShare = 0.2
			w.each(func(i int, r *record.Record) { r.Due -= 5 * ms })
		}, "", nil},
		{"unsent arrivals", func(w *world) {
			w.plan.Stages[0] = plan.Stage{Rate: 200, Arrival: "poisson", MaxInFlight: 64, Duration: plan.Duration(10 * time.Second)}
			w.facts.Stages[0].Scheduled, w.facts.Stages[0].Unsent = 2300, 100
		}, "achieved_requests", []string{"95.65 %", "2300", "budget 99 %", "max_in_flight (64)"}},
		{"CPU", func(w *world) {
			for i := range w.facts.Health {
				w.facts.Health[i].CPU = w.facts.Health[i].Allowed * 92 / 100
			}
		}, "", []string{"92 %", "budget 85 %", "error bars"}},
		{"CPU taken by others", func(w *world) {
			for i := range w.facts.Health {
				w.facts.Health[i].CPUWait = w.facts.Health[i].Allowed * 70 / 100
			}
		}, "", []string{"short of CPU", "used 25 %", "another 70 %"}},
		{"CPU mostly taken by others, within the budget", func(w *world) {
			for i := range w.facts.Health {
				w.facts.Health[i].CPUWait = w.facts.Health[i].Allowed * 30 / 100
			}
		}, "", []string{"short of CPU", "used 25 %", "another 30 %, longer than it ran", "using its cores"}},
		{"CPU outside the stage", func(w *world) {
			w.facts.Health[12].CPU += 100 * time.Second
		}, "", nil},
		{"GC", func(w *world) {
			for i := range w.facts.Health {
				w.facts.Health[i].GCPause *= 30
			}
		}, "gc", []string{"3 %", "budget 1 %", "GOMEMLIMIT"}},
		{"clock step", func(w *world) { w.facts.Health[5].ClockStep = -40 * ms }, "clock_step", []string{"40 ms", "budget 5 ms"}},
		{"clock step without kernel stamps", func(w *world) {
			w.facts.Health[5].ClockStep = 40 * ms
			w.facts.Header.Kernel = false
		}, "", nil},
		{"merged reads", func(w *world) {
			w.each(func(i int, r *record.Record) {
				r.Events[5].Mark, r.Events[5].Merged = 6, true
				r.Marks[6].User += 3 * ms
				r.Marks[6].Blur = r.Marks[6].Kernel - r.Marks[4].Kernel
			})
		}, "client_error", []string{"is only known to lie between", "the client read late, and 5 % of its 40,000 reads"}},
		{"sent together", func(w *world) {
			w.each(func(i int, r *record.Record) { r.Events[5].Mark, r.Events[5].Merged = 6, true })
		}, "", nil},
		{"slow reads without stamps", func(w *world) {
			w.each(func(i int, r *record.Record) {
				for k := range r.Marks {
					r.Marks[k].User += 8 * ms
				}
				r.Marks[3].Kernel = record.Never
				r.Marks[3].User = r.Marks[2].Kernel + ms
			})
		}, "client_error", []string{"not timestamped"}},
		{"slow reads with stamps", func(w *world) {
			w.each(func(i int, r *record.Record) {
				for k := range r.Marks {
					r.Marks[k].User += 8 * ms
				}
			})
		}, "", nil},
		{"no stamps at all", func(w *world) {
			w.each(func(i int, r *record.Record) {
				for k := range r.Marks {
					r.Marks[k].Kernel = record.Never
				}
			})
		}, "client_error", []string{"not timestamped"}},
		{"streams that are none", func(w *world) {
			w.each(func(i int, r *record.Record) {
				if i%2 == 0 {
					r.Marks, r.Events = r.Marks[19:], []record.Event{{Label: record.Whole, Tokens: 20}}
				}
			})
		}, "", []string{"1,000 responses came in one piece"}},
		{"one piece, as asked for", func(w *world) {
			w.each(func(i int, r *record.Record) {
				r.Marks, r.Events, r.Streamed = r.Marks[19:], []record.Event{{Label: record.Whole, Tokens: 20}}, false
			})
		}, "", nil},
		{"chat template", func(w *world) {
			w.each(func(i int, r *record.Record) { r.In.Local = 120 })
		}, "", []string{"6.2 %", "chat template"}},
		{"words", func(w *world) {
			w.plan.Tokenizer.Name = plan.TokenizerWords
			w.each(func(i int, r *record.Record) { r.Out.Local = 11 })
		}, "", []string{"in words"}},
		{"short answers", func(w *world) {
			w.each(func(i int, r *record.Record) { r.RequestedTokens = 20 + 5*(i%2) })
		}, "short_output", []string{"50 %", "(1000)", "ignore_eos"}},
		{"short answers although ignore_eos is set", func(w *world) {
			w.plan.Data.IgnoreEOS = true
			w.each(func(i int, r *record.Record) { r.RequestedTokens = 20 + 5*(i%2) })
		}, "short_output", []string{"50 %", "ignore_eos is set, so the server ignores it or ran out of room"}},
		{"short answers although min_tokens is set", func(w *world) {
			w.plan.Data.MinTokens = true
			w.each(func(i int, r *record.Record) { r.RequestedTokens = 20 + 5*(i%2) })
		}, "short_output", []string{"50 %", "min_tokens is set", "maximum context"}},
		{"short answers of Anthropic", func(w *world) {
			w.plan.Target.Protocol = plan.ProtocolAnthropic
			w.each(func(i int, r *record.Record) { r.RequestedTokens = 20 + 5*(i%2) })
		}, "short_output", []string{"Ask for shorter responses."}},
		{"answers that may be short", func(w *world) {
			w.plan.Data.OutputCap = true
			w.each(func(i int, r *record.Record) { r.RequestedTokens = 20 + 5*(i%2) })
		}, "", nil},
		{"embeddings have no output", func(w *world) {
			w.plan.Target.Endpoint = plan.EndpointEmbeddings
			w.each(func(i int, r *record.Record) { r.Out = record.Tokens{Source: record.FromServer, Local: -1} })
		}, "", nil},
		{"growing latency", func(w *world) {
			w.each(func(i int, r *record.Record) { r.End += time.Duration(i/22) * ms })
		}, "latency_drift", []string{"rose", "budget 10 %", "warm-up"}},
		{"growing latency in a ramp", func(w *world) {
			w.plan.Stages[0].RampTo = 80
			w.each(func(i int, r *record.Record) { r.End += time.Duration(i/22) * ms })
		}, "", nil},
		{"all failed", func(w *world) { w.each(func(i int, r *record.Record) { fail(r) }) }, "requests", []string{"No request succeeded", "2,000 requests", "HTTP 503 (overloaded)"}},
		{"all failed or cut off", func(w *world) {
			w.each(func(i int, r *record.Record) {
				if fail(r); i%4 > 0 {
					r.Failure = &record.Failure{Class: record.CutOff, Status: 200, Message: "under way"}
				}
			})
		}, "requests", []string{"No request succeeded", "2,000 requests", "HTTP 503 (overloaded)"}},
		{"all cut off", func(w *world) {
			w.each(func(i int, r *record.Record) { r.Failure = &record.Failure{Class: record.CutOff, Message: "under way"} })
		}, "requests", []string{"2,000 requests", "drain time was over"}},
		{"all cancelled", func(w *world) {
			w.facts.Interrupted = true
			w.each(func(i int, r *record.Record) { r.Failure = &record.Failure{Class: record.Cancelled} })
		}, "requests", []string{"before the run was stopped", "2,000 requests"}},
		{"nothing sent", func(w *world) { w.recs = nil }, "requests", []string{"No request was sent"}},
		{"stopped before anything was sent", func(w *world) { w.recs, w.facts.Interrupted = nil, true }, "requests", []string{"No request was sent: the run was stopped before"}},
		{"all workers lost, with all that they had recorded", func(w *world) {
			w.recs, w.facts.Interrupted = nil, true
			w.facts.Stages[0].Gone = []record.LostWorker{{Worker: 1}, {Worker: 2}, {Worker: 3, Told: true}}
		}, "requests", []string{"It is not known how many requests were sent", "of 2 workers"}},
		{"a worker lost in the warm-up", func(w *world) {
			w.recs, w.facts.Interrupted = w.recs[:200], true
			w.facts.Stages[0].Gone = []record.LostWorker{{Worker: 1}}
		}, "requests", []string{"stopped during the warm-up, after at least 200 requests"}},
		{"warm-up only", func(w *world) { w.recs = w.recs[:200] }, "requests", []string{"all 200", "warm-up"}},
		{"stopped in the warm-up", func(w *world) { w.recs, w.facts.Interrupted = w.recs[:200], true }, "requests", []string{"stopped during the warm-up", "200 requests"}},
		{"no health", func(w *world) { w.facts.Health = nil }, "clock_step", []string{"not recorded"}},
		{"repeated prompts", func(w *world) {
			w.each(func(i int, r *record.Record) { r.Prompt = uint64(i%100 + 1) })
		}, "", []string{"2,100 requests", "data.salt"}},
		{"interrupted", func(w *world) { w.facts.Interrupted = true }, "", []string{"interrupted"}},
		{"out of prompts", func(w *world) { w.facts.Stages[0].Reason = "data" }, "", []string{"prompts ran out"}},
		{"too many errors", func(w *world) { w.facts.Stages[0].Reason = "errors" }, "", []string{"max_errors"}},
		{"all failing alike", func(w *world) { w.facts.Stages[0].Reason = record.StopAlike }, "", []string{"failed in the same way", "max_errors.same_failure"}},
		{"a busy server", func(w *world) { w.facts.Stages[0].RetryAfterWaits, w.facts.Stages[0].HeededFor = 3, 15*time.Second }, "", []string{"Retry-After 3 times", "15.0 s"}},
		{"a prompt that cannot be made", func(w *world) { w.facts.Stages[0].Reason = record.StopPrompts }, "", []string{"prompt could not be made"}},
		{"an answer too short to grow on", func(w *world) { w.facts.Stages[0].Reason = record.StopEarlyAnswer }, "", []string{"stopped growing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := healthy()
			c.bend(w)
			r := w.build(t)
			var bad []string
			for _, k := range r.Verdict.Checks {
				if !k.OK {
					bad = append(bad, k.Name)
				}
			}
			reasons := slices.Concat(r.Verdict.Reasons, r.Verdict.Undecided)
			said := strings.Join(reasons, "\n")
			if c.check == "" {
				said = strings.Join(r.Notes, "\n")
				if !r.Verdict.Valid || len(bad) > 0 {
					t.Fatalf("failed %v: %v", bad, r.Verdict.Reasons)
				}
			} else if r.Verdict.Valid || !slices.Equal(bad, []string{c.check}) || len(reasons) != 1 {
				t.Fatalf("failed %v, want %s: %v", bad, c.check, reasons)
			}
			for _, want := range c.says {
				if !strings.Contains(said, want) {
					t.Errorf("%q does not say %q", said, want)
				}
			}
			published.Fits(t, r)
		})
	}
}

// A load of sessions ends with the last of them: there is nothing to say about that.
func TestEndOfSessions(t *testing.T) {
	w := healthy()
	w.plan.Stages[0].Arrival = plan.ArrivalSessions
	w.facts.Stages[0].Reason = "data"
	if notes := strings.Join(w.build(t).Notes, "\n"); strings.Contains(notes, "ran out") {
		t.Error(notes)
	}
}

func TestSeveralTargets(t *testing.T) {
	w := healthy()
	w.plan.Target.URLs = []string{"http://user:secret@a.test", "http://b.test"}
	w.each(func(i int, r *record.Record) {
		if r.Target = i % 2; i%10 == 1 {
			fail(r)
		}
	})
	r := w.build(t)
	published.Fits(t, r)
	targets := r.Stages[0].Targets
	if len(targets) != 2 || strings.Contains(targets[0].URL, "secret") || targets[1].URL != "http://b.test" {
		t.Fatalf("%+v", targets)
	}
	if a, b := targets[0].Counts, targets[1].Counts; a != (result.TargetCounts{Sent: 1000, OK: 1000, Failed: 0}) ||
		b != (result.TargetCounts{Sent: 1000, OK: 800, Failed: 200}) {
		t.Errorf("counts %+v and %+v", a, b)
	}
	for _, id := range []string{"request_throughput", "time_to_first_token", "request_latency", "error_rate"} {
		if _, ok := targets[1].Metrics[id]; !ok {
			t.Errorf("no %s", id)
		}
	}
	if one := healthy().build(t); one.Stages[0].Targets != nil {
		t.Error("a single target is reported by itself")
	}
}

func TestModelsThatShareTheTraffic(t *testing.T) {
	w := healthy()
	w.plan.Data.Adapters = []plan.Adapter{{Name: "sql", Share: 0.75}, {Name: "tweets", Share: 0.25}}
	w.each(func(i int, r *record.Record) {
		if r.Model = "sql"; i%4 == 1 {
			r.Model = "tweets"
			fail(r)
		}
	})
	r := w.build(t)
	published.Fits(t, r)
	models := r.Stages[0].Models
	if len(models) != 2 || models[0].Name != "sql" || models[1].Name != "tweets" {
		t.Fatalf("%+v", models)
	}
	if a, b := models[0].Counts, models[1].Counts; a != (result.TargetCounts{Sent: 1500, OK: 1500, Failed: 0}) ||
		b != (result.TargetCounts{Sent: 500, OK: 0, Failed: 500}) {
		t.Errorf("counts %+v and %+v", a, b)
	}
	for _, id := range []string{"request_throughput", "time_to_first_token", "time_per_output_token", "request_latency"} {
		if _, ok := models[0].Metrics[id]; !ok {
			t.Errorf("no %s", id)
		}
	}
	if plain := healthy().build(t); plain.Stages[0].Models != nil {
		t.Error("a single model is reported by itself")
	}
}

func TestSeveralStages(t *testing.T) {
	w := healthy()
	w.plan.Stages = append(w.plan.Stages, plan.Stage{Name: "peak", Rate: 50, Arrival: "gamma", CV: 2, RampTo: 75.5, MaxInFlight: 9, Duration: plan.Duration(time.Second)})
	r := w.build(t)
	if len(r.Stages) != 2 || r.Stages[1].Name != "peak" || r.Stages[0].Name != "stage 1" {
		t.Fatalf("stages %+v", r.Stages)
	}
	if got, want := r.Stages[1].Load, "50 to 75.5/s gamma (cv 2), at most 9 in flight"; got != want {
		t.Errorf("load %q, want %q", got, want)
	}
	if len(r.Verdict.Reasons) != 1 || !strings.HasPrefix(r.Verdict.Reasons[0], "Stage 2 (peak): No request was sent") {
		t.Errorf("reasons %q", r.Verdict.Reasons)
	}
	published.Fits(t, r)
}
