package inferenceperf

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/report"
)

// sampleMemory is what samples may take of memory before they go to disk.
const sampleMemory = 2 << 20

// reporter writes the reports of a run out of its records.
type reporter struct {
	tool   *job
	stages stages
	opt    dialect.Options
	header record.Header
	marks  map[int]record.StageSummary
	fold   *dialect.Fold
	errs   []error

	result *result.Result
	checks checks
}

type checks struct {
	looked   []string // reports that were looked into
	partials []string // of those the ones that come last
	findings []report.Finding
	whole    *dialect.Summary // nil means it is not reported
	stages   []report.StageSummary
	entries  int64 // of single requests; -1: they are not reported
}

// writeReports makes all reports, and tells what could not be written.
func (t *job) writeReports(s stages, res *result.Result) error {
	o := &t.action.Options
	pool := stat.NewPool("", sampleMemory)
	defer pool.Close()
	r := &reporter{tool: t, stages: stages{}, result: res, checks: checks{entries: -1}, marks: map[int]record.StageSummary{},
		opt: dialect.Options{
			Percentiles: o.Lifecycle.Percentiles, Goodput: o.Goodput, Constraints: o.Constraints, ServerTokens: o.Lifecycle.ServerTokens,
			MaxMessages: o.Lifecycle.MaxErrorMessages, Tokenizer: o.TokenizerGiven, Faithful: o.Faithful, UserSessions: o.UserSessions,
			Anthropic: t.action.Plan.Target.Protocol == plan.ProtocolAnthropic, Media: t.media.media, Pool: pool,
		}}
	for i, stage := range s {
		r.stages[r.number(i)] = stage
	}
	r.opt.Headers = t.headerObjectives()
	r.fold = dialect.NewFold(r.opt)
	if err := r.read(); err != nil {
		return fmt.Errorf("reading the records for the reports: %w", err)
	}
	r.lifecycle()
	r.adapters()
	r.sessions()
	r.servers()
	r.validation()
	return errors.Join(append(r.errs, pool.Err())...)
}

// headerObjectives are the objectives that stand in the headers of every request.
func (t *job) headerObjectives() map[string]float64 {
	target, out := &t.action.Plan.Target, map[string]float64{}
	for name := range target.Headers {
		for header, objective := range map[string]string{target.SLOHeaders.TTFT: dialect.TTFT, target.SLOHeaders.TPOT: dialect.TPOT} {
			if limit, ok := t.action.Options.Goodput[objective]; ok && strings.EqualFold(name, header) {
				out[objective] = limit
			}
		}
	}
	return out
}

// read takes every record, and writes the report of single requests on the way.
func (r *reporter) read() error {
	o := &r.tool.action.Options
	if !o.Lifecycle.PerRequest || o.Dir == "" {
		return r.each(r.fold.Add)
	}
	return r.tool.write(report.PerRequestFile, func(w io.Writer) error {
		single := report.NewRequests(w, report.Fields(o.Lifecycle.Fields), &r.opt)
		err := r.each(func(rec *record.Record) {
			r.fold.Add(rec)
			single.Add(rec)
		})
		r.checks.entries = single.Len()
		r.checks.findings = single.Findings()
		return errors.Join(err, single.Close())
	})
}

// number is that of a stage in the config, which may have ones that send nothing.
func (r *reporter) number(i int) int {
	return r.tool.action.Options.StageNumber(i)
}

// each gives every request of the run.
func (r *reporter) each(f func(*record.Record)) error {
	_, err := r.tool.records.Walk(func(l record.Line) error {
		switch {
		case l.Header != nil:
			r.header = *l.Header
		case l.Request != nil:
			l.Request.Stage = r.number(l.Request.Stage)
			f(l.Request)
		case l.Stage != nil:
			r.marks[r.number(l.Stage.Stage)] = *l.Stage
		case l.Session != nil:
			l.Session.Stage = r.number(l.Session.Stage)
			r.fold.AddSession(l.Session)
		}
		return nil
	})
	return err
}

// lifecycle writes the summary and the reports of stages, also to the output, between scripts'
// marks.
func (r *reporter) lifecycle() {
	o := &r.tool.action.Options
	numbers := r.fold.Stages()
	if o.Lifecycle.Summary && len(numbers) > 0 {
		r.summary(report.SummaryFile, dialect.All(), nil, "SUMMARY")
	}
	for _, i := range numbers {
		if o.Lifecycle.PerStage {
			r.summary(report.StageFile(i), dialect.Scope{Stage: i}, r.load(i), fmt.Sprintf("STAGE_%d", i))
		}
	}
	for _, i := range numbers {
		r.partial(i)
	}
}

// load is what a stage asked for. The original calls the number of a closed loop's
// requests its rate, and that of sessions, too.
func (r *reporter) load(i int) *report.StageLoad {
	s := r.stages[i]
	l := &report.StageLoad{}
	if s.Concurrency > 0 {
		l.Concurrency = &s.Concurrency
	}
	switch rate := float64(s.Requests); {
	case s.Rate > 0:
		l.Rate = &s.Rate
	case s.Concurrency > 0 && r.opt.Faithful:
		l.Rate = &rate
	case i < len(r.tool.action.Options.TraceRates):
		l.Rate = &r.tool.action.Options.TraceRates[i]
	case s.Arrival == plan.ArrivalSessions:
		l.Concurrency = &s.Sessions.Concurrent
		if r.opt.Faithful {
			l.Rate = &s.Sessions.Rate
		}
	}
	return l
}

func (r *reporter) adapters() {
	o := &r.tool.action.Options
	whole, staged := r.fold.Adapters()
	if o.Lifecycle.PerAdapter {
		for _, s := range whole {
			r.summary(report.AdapterFile(fileName(s.Adapter)), s, nil, "")
		}
	}
	if o.Lifecycle.PerAdapterStage {
		for _, s := range staged {
			load := r.load(s.Stage)
			load.Concurrency = nil
			r.summary(report.AdapterStageFile(fileName(s.Adapter), s.Stage), s, load, "")
		}
	}
}

// fileName is a name as a part of a file's: an adapter may be called after a path.
func fileName(name string) string {
	return strings.NewReplacer("/", "_", `\`, "_", "\x00", "_").Replace(name)
}

// summary writes one report; mark is what it stands between on the output.
func (r *reporter) summary(name string, scope dialect.Scope, load *report.StageLoad, mark string) {
	s, err := r.fold.Summary(scope)
	if err != nil {
		r.addError(fmt.Errorf("writing %s: %w", name, err))
		return
	}
	content := report.Lifecycle(s, load)
	r.file(name, content)
	if mark == "" {
		return
	}
	family := "summary"
	if load == nil {
		r.checks.whole = s
	} else {
		family = "per_stage"
		r.checks.stages = append(r.checks.stages, report.StageSummary{Stage: scope.Stage, Summary: s, Rate: load.Rate})
	}
	r.checks.looked = append(r.checks.looked, name)
	r.checks.findings = append(r.checks.findings, report.Examine(name, family, s)...)
	r.print(mark, content)
}

// print puts a report on the output, between marks.
func (r *reporter) print(mark string, content []byte) {
	fmt.Fprintf(r.tool.env.Out, "=== START_%s ===\n%s\n=== END_%s ===\n", mark, content, mark)
}

// partial writes a stage's part of a benchmark report.
func (r *reporter) partial(i int) {
	name := report.PartialFile(i)
	s, err := r.fold.SummaryAt(dialect.Scope{Stage: i}, report.PartialPercentiles())
	if err != nil {
		r.addError(fmt.Errorf("writing %s: %w", name, err))
		return
	}
	start, m := r.header.Start, r.marks[i]
	content := report.Partial(s, i, start, start.Add(m.Begin), start.Add(m.DrainEnd))
	r.file(name, content)
	r.checks.partials = append(r.checks.partials, name)
	r.checks.findings = append(r.checks.findings, report.ExaminePartial(name, "br_partial", s)...)
	r.print(fmt.Sprintf("PARTIAL_BR_V0_2_STAGE_%d", i), content)
}

// validation writes what a reader of the reports must know: what they contradict
// themselves in, and why the run is not to be relied on.
func (r *reporter) validation() {
	c := &r.checks
	wanted := r.tool.action.Options.Configured
	if r.tool.action.Plan.Saturation.On() {
		wanted = 0 // they follow from what was found
	}
	c.findings = append(c.findings, report.Across(c.whole, c.stages, wanted, c.entries)...)
	if text := r.result.Verdict.Summary; text != "" {
		c.findings = append(c.findings, report.Finding{Check: "verdict", Message: text})
	}
	for _, reason := range r.result.Verdict.Reasons {
		c.findings = append(c.findings, report.Finding{Check: "verdict", Message: reason})
	}
	for _, why := range r.result.Verdict.Undecided {
		c.findings = append(c.findings, report.Finding{Check: "verdict", Message: "Undecided: " + why})
	}
	if c.entries >= 0 {
		c.looked = append(c.looked, report.PerRequestFile)
	}
	r.file(report.ValidationFile, report.Validation(append(c.looked, c.partials...), c.findings))
}

func (r *reporter) addError(err error) { r.errs = append(r.errs, err) }

func (r *reporter) file(name string, content []byte) {
	r.addError(r.tool.write(name, func(w io.Writer) error { _, err := w.Write(content); return err }))
}

func (r *reporter) sessions() {
	o := &r.tool.action.Options
	all := r.fold.Sessions()
	if len(all) == 0 {
		return
	}
	if o.Sessions.Summary {
		r.sessionFile(report.SessionSummaryFile, all, nil)
	}
	if o.Sessions.PerStage {
		for from, to := 0, 0; from < len(all); from = to {
			stage := all[from].Stage
			for to < len(all) && all[to].Stage == stage {
				to++
			}
			r.sessionFile(report.SessionStageFile(stage), all[from:to], r.sessionStage(stage, all[from:to]))
		}
	}
	if o.Sessions.PerSession {
		r.addError(r.tool.write(report.PerSessionFile, func(w io.Writer) error {
			return report.EachSession(w, all, r.header.Start)
		}))
	}
}

func (r *reporter) sessionFile(name string, list []*dialect.Session, stage *report.SessionStage) {
	s, err := r.fold.SummarizeSessions(list)
	if err != nil {
		r.addError(fmt.Errorf("writing %s: %w", name, err))
		return
	}
	content := report.Sessions(s, stage)
	r.file(name, content)
	// The original takes one of recorded sessions for the report of the stage, and prints it, too.
	if stage != nil && r.stages[stage.Stage].Arrival == plan.ArrivalSessions {
		r.print(fmt.Sprintf("STAGE_%d", stage.Stage), content)
	}
}

// stageEnd is when a stage's last session had ended, or no more was sent of one cut short.
func stageEnd(m record.StageSummary, list []*dialect.Session) time.Duration {
	if m.Early() || m.Reason == record.StopDuration || len(list) == 0 {
		return m.SendEnd
	}
	end := m.Begin
	for _, s := range list {
		end = max(end, s.End)
	}
	return end
}

func (r *reporter) sessionStage(i int, list []*dialect.Session) *report.SessionStage {
	s, m := r.stages[i], r.marks[i]
	end := stageEnd(m, list)
	out := &report.SessionStage{
		Stage: i, Status: "COMPLETED", Duration: (end - m.Begin).Seconds(), Teardown: new(max(m.DrainEnd-end, 0).Seconds()), Dropped: m.Unsent,
	}
	switch {
	case s.Arrival == plan.ArrivalSessions:
		out.Concurrent = &s.Sessions.Concurrent
	case s.Concurrency > 0:
		out.Concurrent = &s.Concurrency
	}
	if rate := s.Sessions.Rate; rate > 0 {
		out.Rate = &rate
	}
	if limit := time.Duration(s.Sessions.Timeout).Seconds(); limit > 0 {
		out.Timeout = &limit
	}
	switch {
	case out.Timeout != nil && m.Reason == record.StopDuration:
		out.Status = "TIMED_OUT"
	case m.Early():
		out.Status = "FAILED"
	}
	for _, one := range list {
		if one.Mark != nil && one.Mark.Cause == record.SessionHalted {
			out.Dropped += int64(one.Mark.Unsent)
		}
	}
	return out
}

// write makes one of the run's files, where there is a directory for them.
func (t *job) write(name string, content func(io.Writer) error) error {
	o := &t.action.Options
	if o.Dir == "" {
		return nil
	}
	path := filepath.Join(o.Dir, o.Prefix+name)
	if err := atomicfile.Write(path, content); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	t.files = append(t.files, path)
	return nil
}
