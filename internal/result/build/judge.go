package build

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/stat"
	"github.com/inferometer/inferometer/internal/sweep"
)

// wholeRun is the stage of a check that is about the whole run.
const wholeRun = -1

type judge struct {
	plan   *plan.Plan
	facts  *Inputs
	result *result.Result
	checks []result.Check
	notes  []remark
}

// check adds a check that was made. why is used where it is over its budget: what was
// found and the budget; c.Do, which follows it, says what to change.
func (j *judge) check(c result.Check, why string) {
	if !finite([]float64{c.Value, c.Budget}) {
		j.undecided(c, fmt.Sprintf("The check %s could not be made: what it compares has no value.", c.Name))
		return
	}
	c.Reason, c.Undecided = why, false
	if c.OK {
		c.Reason, c.Fix = "", ""
	}
	j.checks = append(j.checks, c)
}

// undecided adds a check that could not be made. why says what was missing; c.Do, how many requests
// or how long a run would do. Such a result is not valid.
func (j *judge) undecided(c result.Check, why string) {
	c.OK, c.Undecided, c.Reason = false, true, why
	for _, v := range []*float64{&c.Value, &c.Budget} {
		if !finite([]float64{*v}) {
			*v = 0
		}
	}
	j.checks = append(j.checks, c)
}

func (j *judge) addNote(stage int, format string, args ...any) {
	if stage != wholeRun && j.plan.Capacity.On() {
		return // of its many levels the search tells what matters
	}
	j.notes = append(j.notes, remark{stage: stage, text: j.words(message.New(format, args...))})
}

// words words a message for the tool that the result is for.
func (j *judge) words(m message.Message) string { return m.In(j.facts.Names) }

func (j *judge) prefix(stage int) string {
	if stage == wholeRun || len(j.plan.Stages) < 2 {
		return ""
	}
	switch name := j.plan.Stages[stage].Name; {
	case j.facts.Names.Stage != nil:
		return j.facts.Names.Stage(stage) + ": "
	case name == "":
		return fmt.Sprintf("Stage %d: ", stage+1)
	default:
		return fmt.Sprintf("Stage %d (%s): ", stage+1, name)
	}
}

// runNotes says what a reader of any figure should know.
func (j *judge) runNotes(fold *metric.Aggregator) {
	if j.facts.Interrupted {
		j.addNote(wholeRun, "The run was interrupted: the figures cover what was done until then.")
	}
	if j.facts.Incomplete {
		j.addNote(wholeRun, "The run did not end properly: the figures cover the records that had been written. Requests in flight at that time count as cut off.")
	}
	switch n, err := fold.Repeats(); {
	case err != nil:
		j.addNote(wholeRun, "How many requests repeated an earlier prompt is not known (%v).", err)
	case n > 0:
		j.addNote(wholeRun, "%s repeated an earlier prompt: a prefix cache may have made them faster. %v avoid that.", number.Plural(n, "request"),
			message.New("%v or more distinct prompts", message.Salt).Or("More distinct prompts"))
	}
	if pages := j.plan.Probes.Scrape; j.plan.Probes.Find && len(pages) > 0 {
		safe := make([]string, len(pages))
		for i := range pages {
			safe[i] = plan.SafeURL(pages[i])
		}
		j.addNote(wholeRun, "The servers' metrics were found and read at %s.", strings.Join(safe, ", "))
	}
	if j.plan.Target.ResetCache != "" {
		j.addNote(wholeRun, "The servers' prefix caches were emptied before the run and between its stages.")
	}
	named := message.New(": pass %v to use the model's", message.Tokenizer).Or("")
	switch j.plan.Tokenizer.Name {
	case plan.TokenizerWords:
		j.addNote(wholeRun, "Lengths that this client makes or counts are in words, not in the model's tokens%v.", named)
	case plan.TokenizerBuiltin:
		j.addNote(wholeRun, "Prompt lengths are in GPT-2 tokens, not the model's%v.", named)
	}
	j.workers()
	if len(j.facts.Health) < 2 {
		j.addNote(wholeRun, "The client's health was not recorded: CPU, garbage collection and clock are not judged.")
	}
	if err := fold.SpillError(); err != nil {
		j.addNote(wholeRun, "Samples could not be spilled to disk (%v): the figures are right, but used more memory. Free some disk space or set TMPDIR.", err)
	}
}

// saturation says what the search for the rates of a sweep has found.
func (j *judge) saturation(s *sweep.Saturation) {
	switch {
	case s == nil:
	case s.Rate > 0:
		j.addNote(wholeRun, "%s", s.Why)
	case j.facts.Interrupted:
		for i := range j.facts.Stages {
			if m := &j.facts.Stages[i]; m.Stage < 0 && m.Reason.Breaker() {
				j.addNote(wholeRun, "The search for saturation was stopped by %s.", m.Reason)
			}
		}
	default:
		j.check(result.Check{Stage: wholeRun, Name: "saturation", Value: s.Rate, Unit: metric.RequestRate}, s.Why)
	}
}

// clock judges steps of the wall clock, from which kernel stamps are taken.
func (j *judge) clock() {
	if !j.facts.Header.Kernel {
		return
	}
	budget := time.Duration(j.plan.Budgets.ClockStep)
	c := result.Check{Stage: wholeRun, Name: "clock_step", Budget: result.Millis(budget), Unit: metric.Milliseconds, Fix: "Let the clock settle, or stop what sets it, and run again."}
	if len(j.facts.Health) == 0 {
		c.Fix = "Let the run finish."
		j.undecided(c, "Whether the machine's clock was stepped, which shifts the timestamps of reads, was not recorded.")
		return
	}
	step := j.facts.clockStep()
	c.Value, c.OK = result.Millis(step), step <= budget
	j.check(c, fmt.Sprintf("The machine's clock was stepped by %s during the run (budget %s), which shifts the timestamps of reads.", number.Span(step), number.Span(budget)))
}

func (j *judge) stage(i int, mark *record.StageSummary, sum *metric.StageStats) {
	j.ended(i, mark)
	if n := sum.All.Retried; n > 0 {
		j.addNote(i, "%s got no response and were sent again, %d times in total: their latency counts from the first attempt.", number.Plural(n, "request"), sum.All.Retries)
	}
	j.ownFaults(i, sum)
	if mark != nil && mark.RetryAfterWaits > 0 {
		j.addNote(i, "The server sent Retry-After %s, and slots waited %s in total: fewer requests were in flight meanwhile.%v", times(mark.RetryAfterWaits), number.Span(mark.HeededFor),
			message.New(" %v sends at once.", message.RetryAfter).Or(""))
	}
	if !j.requests(i, sum) {
		return
	}
	clients := j.facts.clients()
	j.failures(i, sum)
	j.usersLeft(i, sum)
	j.unfinished(i, sum)
	j.resent(i, sum)
	j.unended(i, sum)
	j.finishes(i, sum)
	j.thinNote(i, sum)
	j.straggled(i, sum)
	j.achieved(i, mark, sum)
	j.pace(i, mark, sum)
	j.together(i, mark, sum)
	j.inFlight(i, mark, sum)
	for _, c := range clients {
		j.standstill(i, c, mark)
	}
	j.lag(i, sum)
	j.bent(i, sum)
	for _, c := range clients {
		j.client(i, c, mark, sum)
	}
	j.reads(i, sum)
	j.cached(i, sum)
	j.usage(i, sum)
	j.tokens(i, sum)
	j.short(i, sum)
	j.steady(i, mark, sum)
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func (j *judge) requests(i int, sum *metric.StageStats) bool {
	t := &sum.Whole.Totals
	reason := ""
	switch {
	case sum.Seen == 0 && j.unheard(i) > 0:
		n := j.unheard(i)
		reason = fmt.Sprintf("It is not known how many requests were sent: of %s that had a share, no record of this stage came here.", number.Plural(int64(n), "worker"))
	case sum.Seen == 0 && j.facts.Interrupted:
		reason = "No request was sent: the run was stopped before."
	case sum.Seen == 0 && j.facts.Incomplete:
		reason = "No request of this stage was on disk when the run was killed."
	case t.Requests == 0 && sum.Seen > 0 && j.facts.Incomplete:
		reason = fmt.Sprintf("No request was measured: the run was killed during the warm-up, after %s.", number.Plural(sum.Seen, "request"))
	case t.OK == 0 && t.CutOff == t.Requests && t.Requests > 0 && j.facts.Incomplete:
		reason = fmt.Sprintf("No request finished before the run was killed: %s had been sent.", number.Plural(t.Requests, "request"))
	case t.Requests == 0 && sum.Seen > 0 && j.facts.Interrupted:
		reason = fmt.Sprintf("No request was measured: the run was stopped during the warm-up, after %s.", j.sent(i, sum.Seen))
	case t.Requests == 0 && sum.Seen > 0:
		reason = fmt.Sprintf("No request was measured: all %d belonged to the warm-up. Make the warm-up shorter or the stage longer.", sum.Seen)
	case t.Requests == 0:
		reason = "No request was sent. Make the stage longer or its rate higher."
	case t.OK == 0:
		reason = j.noneSucceeded(t.Requests, sum.Failures)
	}
	j.check(result.Check{Stage: i, Name: "requests", Value: float64(t.OK), Budget: 1, Unit: metric.Requests, OK: reason == ""}, reason)
	return reason == ""
}

// noneSucceeded says why no request succeeded: what this side has ended says little of the server.
func (j *judge) noneSucceeded(requests int64, failures []record.FailureCount) string {
	if i := slices.IndexFunc(failures, func(f record.FailureCount) bool { return !f.Class.EndedHere() }); i >= 0 {
		return fmt.Sprintf("No request succeeded: %s failed, most often with %s. %s", number.Plural(requests, "request"), failure(&failures[i]), remedy(&failures[i]))
	}
	if len(failures) == 0 {
		return j.words(message.New("No request finished before its user went away: %s. Let fewer of them go, or later.", number.Plural(requests, "request")))
	}
	if failures[0].Class == record.Cancelled {
		return fmt.Sprintf("No request finished before the run was stopped: %s had been sent.", number.Plural(requests, "request"))
	}
	longer := message.New("the stage or %v", message.Drain).Or("the measurement")
	return j.words(message.New("No request finished: %s, and the drain time was over before the first response was complete. Make %v longer, or ask for shorter responses.", number.Plural(requests, "request"), longer))
}

// remedy is what to do about a failure that all requests have.
func remedy(f *record.FailureCount) string {
	switch {
	case f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden:
		return "Check the API key, and that it may use the model."
	case f.Status == http.StatusTooManyRequests:
		return "The server or a gateway limits how much it takes: lower the load, or raise the limit."
	case f.Status >= http.StatusInternalServerError:
		return "The server is up and cannot answer: look at its log, and whether the model is loaded."
	case f.Class == record.ConnectFailed || f.Class == record.ResolveFailed:
		return "Check the host and port, and that the server listens."
	case f.Class == record.TLSFailed:
		return "Check the certificate and the scheme of the URL."
	case f.Class == record.NoFirstByte || f.Class == record.TimedOut || f.Class == record.Stalled:
		return "Ask for shorter responses, lower the load, or give requests more time."
	}
	return "Check the URL, path and model name."
}

func failure(f *record.FailureCount) string {
	text := string(f.Class)
	switch {
	case f.Class == record.HTTPStatus && f.Status != 0:
		text = fmt.Sprintf("HTTP %d", f.Status)
	case f.Status != 0:
		text += fmt.Sprintf(" %d", f.Status)
	}
	if f.Example != "" {
		text += " (" + f.Example + ")"
	}
	return text
}

// thinNote says which percentiles of the request metrics have too few samples.
func (j *judge) thinNote(i int, sum *metric.StageStats) {
	n := sum.Whole.Totals.OK
	var high []string
	for _, p := range metric.Percentiles() {
		if p.Quantile >= 0.5 && n < stat.MinSamples(p.Quantile) {
			high = append(high, fmt.Sprintf("%s (%d)", p.Name, stat.MinSamples(p.Quantile)))
		}
	}
	if len(high) > 0 {
		j.addNote(i, "%s: too few for some percentiles, which are marked. Needed: %s.", number.Plural(n, "successful request"), strings.Join(high, ", "))
	}
}

// straggled says that the rates of the whole stage are over a time in which little was in flight.
func (j *judge) straggled(i int, sum *metric.StageStats) {
	if sum.Steady == nil {
		return
	}
	whole, steady := sum.Whole.Stats["request_throughput"].Avg, sum.Steady.Stats["request_throughput"].Avg
	t, s := &sum.Whole.Totals, &sum.Steady.Totals
	if after := t.End - s.End; whole < straggledShare*steady && after > (s.End-s.Begin)/10 {
		j.addNote(i, "The last responses came %s after the last request could go: the rates of the whole stage include that time. Those of the steady window do not.", number.Span(after))
	}
}

// straggledShare is how far a stage's rates may fall behind its steady window's without a word.
const straggledShare = 0.9

// ended says why a stage ended before its time.
func (j *judge) ended(i int, mark *record.StageSummary) {
	switch {
	case mark == nil:
		j.addNote(i, "The stage did not finish.")
	case mark.Reason == record.StopErrors:
		j.addNote(i, "The stage was ended because more requests failed than %v.", message.New("%v allows", message.MaxErrors).Or("are allowed"))
	case mark.Reason == record.StopAlike:
		j.addNote(i, "The stage was ended because all its requests failed in the same way.%v", message.New(" %v lets it go on.", message.Alike).Or(""))
	case mark.Reason == record.StopPrompts:
		j.addNote(i, "The stage was ended because a prompt could not be made.")
	case mark.Reason == record.StopRecords:
		j.addNote(i, "The stage was ended because records could no longer be written, as configured.")
	case mark.Reason == record.StopLease:
		j.addNote(i, "The stage was ended because a worker had lost its coordinator.")
	case mark.Reason.Breaker():
		j.addNote(i, "The stage was ended by %s.", mark.Reason)
	case mark.Reason == record.StopEarlyAnswer:
		j.addNote(i, "The load stopped growing: a response ended before it had %d responses.", j.plan.Stages[i].Growth.Responses)
	case mark.Reason == record.StopData && j.plan.Stages[i].Arrival != plan.ArrivalSessions: // which has so many and no more
		j.addNote(i, "The stage ended because the prompts ran out.")
	}
}

func (j *judge) achieved(i int, mark *record.StageSummary, sum *metric.StageStats) {
	if mark == nil || mark.Scheduled == 0 {
		return
	}
	share := min(1, float64(sum.Seen)/float64(mark.Scheduled))
	budget := j.plan.Budgets.Achieved
	j.check(result.Check{Stage: i, Name: "achieved_requests", Value: share, Budget: budget, Unit: metric.Share, OK: share >= budget, Fix: j.tooFast(i)},
		fmt.Sprintf("Only %s of the %d scheduled requests were sent (budget %s).", number.Percent(share), mark.Scheduled, number.Percent(budget)))
}

// tooFast says what to do about a rate that is not kept.
func (j *judge) tooFast(i int) string {
	most := j.plan.Stages[i].MaxInFlight
	if most == 0 {
		return "Lower the rate, or give the client more cores."
	}
	return j.words(message.New("Lower the rate, or raise %v (%d).", message.MaxInFlight, most).Or("Lower the rate."))
}

func quantile(s *metric.Stat, name string) float64 {
	at := slices.IndexFunc(metric.Percentiles(), func(p metric.Percentile) bool { return p.Name == name })
	if at < 0 || at >= len(s.Quantiles) {
		return math.NaN()
	}
	return s.Quantiles[at]
}
