package args

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// Inputs stands in for the file of requests on the command lines that a Reader's
// Analyzer gets: it is made later, and counts as there.
const Inputs = "inputs of genai-perf"

// Passed is what a command line of Perf Analyzer says.
type Passed struct {
	Plan     *plan.Plan
	Warnings []string
	Files    []string // options that ask for files of Perf Analyzer's own

	DryRun, Strict, Verbose bool
}

// same reports whether two command lines ask for the same.
func (p *Passed) same(other *Passed) bool {
	one, err := planfile.Encode(p.Plan)
	two, err2 := planfile.Encode(other.Plan)
	return err == nil && err2 == nil && string(one) == string(two) && slices.Equal(p.Warnings, other.Warnings) &&
		slices.Equal(p.Files, other.Files) &&
		p.DryRun == other.DryRun && p.Strict == other.Strict && p.Verbose == other.Verbose
}

// passing is what was said behind "--" and is no setting of genai-perf.
type passing struct {
	arrival string // of a rate
	window  *plan.Measurement
	target  func(*plan.Target)
	probes  plan.Probes
}

// passThrough reads flags of Perf Analyzer that stand behind "--". The original hands them over
// behind its own, where most win; here they change the same. A second load is refused there, and of
// two numbers of requests the first counts.
func (b *builder) passThrough() {
	if len(b.pass) == 0 || len(b.faults) > 0 {
		return
	}
	if b.analyzer == nil {
		b.fault("--", "perf_analyzer flags are not supported here", "")
		return
	}
	if name := secondLoad(b.pass); name != "" {
		b.fault("-- "+name, "genai-perf names the load itself", "give --concurrency, --request-rate, --session-concurrency or --fixed-schedule before --")
		return
	}
	own := b.analyzerArgs()
	before, err := b.analyzer(own)
	if err != nil {
		return // the plan's own check says it better
	}
	after, err := b.analyzer(slices.Concat(own, b.pass))
	if err != nil {
		b.fault("--", err.Error(), "flags after -- are perf_analyzer's")
		return
	}
	for _, w := range after.Warnings {
		if !slices.Contains(before.Warnings, w) {
			b.warn("-- %s", w)
		}
	}
	for _, name := range after.Files {
		b.fault("-- "+name, "asks for one of perf_analyzer's own files, which are not written here", "use inferometer perf_analyzer")
	}
	for _, name := range b.idle(own, before) {
		b.warn("-- %s has no effect here", name)
	}
	typed := b.a.Settings
	b.a.Settings.before = &typed
	b.a.DryRun, b.a.Strict = b.a.DryRun || after.DryRun, b.a.Strict || after.Strict
	b.a.Settings.AnalyzerVerbose = b.a.Settings.AnalyzerVerbose || after.Verbose
	b.passLoad(before.Plan, after.Plan)
	b.passMeasurement(before.Plan, after.Plan)
	b.passTarget(&before.Plan.Target, &after.Plan.Target)
	b.passData(&before.Plan.Data.Tensors, &after.Plan.Data.Tensors)
	b.passed.probes = after.Plan.Probes
}

// secondLoad is the first flag that names a load; empty: there is none.
func secondLoad(line []string) string {
	for _, arg := range line {
		switch name, _, _ := strings.Cut(arg, "="); name {
		case "--concurrency-range", "--request-rate-range", "--request-intervals", "--periodic-concurrency-range", "--session-concurrency", "--fixed-schedule":
			return name
		}
	}
	return ""
}

// idle are the flags behind "--" that make no difference, each by itself. What one says
// may need another, and is then left alone.
func (b *builder) idle(own []string, before *Passed) []string {
	var names []string
	for i := 0; i < len(b.pass); {
		end := i + 1
		for end < len(b.pass) && !isFlag(b.pass[end]) {
			end++
		}
		alone, err := b.analyzer(slices.Concat(own, b.pass[i:end]))
		if name, _, _ := strings.Cut(b.pass[i], "="); err == nil && isFlag(name) && alone.same(before) {
			names = append(names, name)
		}
		i = end
	}
	return names
}

// analyzerArgs is the original's command line for Perf Analyzer, as far as the user said it.
func (b *builder) analyzerArgs() []string {
	s := &b.a.Settings
	args := []string{"-m", "model", "--async", "--input-data", Inputs, "--stability-percentage", number64(s.Stability)}
	if s.ServiceKind == "triton" {
		args = append(args, "-i", "grpc", "--streaming")
	} else {
		args = append(args, "--service-kind", "openai", "--endpoint", s.Endpoint)
	}
	if s.URL != "" {
		args = append(args, "-u", s.URL)
	}
	if s.Concurrency > 0 {
		args = append(args, "--concurrency-range", strconv.Itoa(s.Concurrency))
	}
	if s.Rate > 0 {
		args = append(args, "--request-rate-range", number64(s.Rate))
	}
	if s.Interval > 0 {
		args = append(args, "--measurement-interval", strconv.FormatInt(s.Interval.Milliseconds(), 10))
	}
	if s.Requests > 0 {
		args = append(args, "--request-count", strconv.Itoa(s.Requests))
	}
	if s.Warmup > 0 {
		args = append(args, "--warmup-request-count", strconv.Itoa(s.Warmup))
	}
	return args
}

func number64(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// passLoad takes over how requests arrive, and their default number.
func (b *builder) passLoad(before, after *plan.Plan) {
	s := &b.a.Settings
	was, is := before.Stages[0], after.Stages[0]
	b.passed.arrival = is.Arrival
	if is.Warmup.Requests != was.Warmup.Requests {
		s.Warmup = int(is.Warmup.Requests)
	}
	if is.Requests != was.Requests { // of two numbers the first counts, which is there already
		s.Requests, s.Interval = int(is.Requests), 0
	}
}

// passMeasurement takes over other windows.
func (b *builder) passMeasurement(before, after *plan.Plan) {
	s := &b.a.Settings
	was, is := before.Measurement, after.Measurement
	switch {
	case is.Interval == was.Interval:
	case s.Requests > 0:
		b.warn("-- --measurement-interval has no effect: %d requests are the end", s.Requests)
	default:
		s.Interval = time.Duration(is.Interval)
	}
	if is.Stability != was.Stability {
		s.Stability = is.Stability * 100
	}
	was.Interval, was.Stability, was.ThroughputAlone = is.Interval, is.Stability, is.ThroughputAlone
	if was == is || is.Mode == plan.WindowStage {
		return
	}
	b.passed.window = &is
	if is.Mode == plan.WindowCount {
		s.Requests, s.Interval = 0, time.Duration(is.Interval)
	}
	if s.Interval == 0 {
		b.warn("-- window options have no effect: all %d requests are measured at once; use --measurement-interval for windows", s.Requests)
	}
}

// passTarget takes over what is said of the server and of each request.
func (b *builder) passTarget(was, is *plan.Target) {
	s := &b.a.Settings
	b.faultIf(is.Model != was.Model, "-- -m", "must go before --", "give -m there")
	if is.URLs[0] != was.URLs[0] {
		s.URL = is.URLs[0]
	}
	s.Headers = slices.Clip(s.Headers)
	for _, name := range slices.Sorted(maps.Keys(is.Headers)) {
		s.Headers = append(s.Headers, name+": "+is.Headers[name])
	}
	b.faultIf(is.Transport != was.Transport || is.Protocol != was.Protocol || is.Path != was.Path, "--", "service, protocol and endpoint must go before --", "give --endpoint-type and --endpoint there")
	b.faultIf(is.Triton.SharedMemory != "", "-- --shared-memory", "only for tensors from files, not for prompts", "leave it out, or use inferometer perf_analyzer")
	b.passed.target = func(t *plan.Target) {
		t.TLS = is.TLS
		t.Triton.Version, t.Triton.Composing = is.Triton.Version, is.Triton.Composing
		t.Triton.Parameters, t.Triton.Compression = is.Triton.Parameters, is.Triton.Compression
	}
}

// passData says what of the data's flags has no effect.
func (b *builder) passData(was, is *plan.Tensors) {
	if !slices.Equal(was.Files, is.Files) || was.Fill != is.Fill {
		b.fault("-- --input-data", "genai-perf makes the requests", "give --input-file before --")
		return
	}
	if was.StringLength != is.StringLength || was.StringData != is.StringData || was.Batch != is.Batch ||
		!slices.Equal(was.Shapes, is.Shapes) {
		var names []string
		for _, arg := range b.pass {
			if strings.HasPrefix(arg, "-") {
				names = append(names, arg)
			}
		}
		b.warn("-- %s: tensor options have no effect, because genai-perf makes the requests", strings.Join(names, " "))
	}
}
