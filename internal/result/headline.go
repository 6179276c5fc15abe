package result

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// What the sentence at the top of a report goes by.
const (
	meetsShare     = 0.99 // of a level's requests: then it meets the objectives, as on the page
	keepsUp        = 0.95 // of a rate that was asked for: with fewer responses the server is saturated
	growsLittle    = 0.1  // where the responses per second grow by less than this share of what the load grows by, too
	headlineClause = 240  // characters of why nothing succeeded
)

// Headline says in a sentence or a few what a reader decides by: which figures can be trusted, how much load is
// met, how many requests failed, and the latency that most people ask for first. Every report begins with it.
// Empty: there is nothing to say.
func (r *Result) Headline() string {
	sent, ok, failed, left := int64(0), int64(0), int64(0), int64(0)
	for i := range r.Stages {
		c := &r.Stages[i].Counts
		sent, ok, failed, left = sent+c.Sent, ok+c.OK, failed+c.Failed, left+c.UserCancelled
	}
	if sent > 0 && ok == 0 {
		return r.allFailed(sent)
	}
	var parts []string
	if r.Capacity != nil {
		answer := strings.TrimSpace(r.Capacity.Sentence)
		if doubt := r.Capacity.Doubt; doubt != "" { // which the verdict gives as what is undecided
			answer = strings.Join(strings.Fields(strings.Replace(answer, doubt, "", 1)), " ")
		}
		parts = append(parts, answer)
	} else {
		parts = append(parts, r.trusted(), r.holds())
	}
	if sent > 0 {
		text := number.Plural(sent, "request")
		if left > 0 {
			text += ", " + number.Count(left) + " cancelled by their users"
		}
		switch {
		case failed == 0:
			text += ", none failed."
		default:
			text += fmt.Sprintf(", %s failed (%s%s).", number.Count(failed), number.Percent(float64(failed)/float64(sent-left)), r.mostOften())
		}
		parts = append(parts, text)
	}
	if r.Capacity == nil {
		parts = append(parts, r.firstFigure())
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, " ")
}

// allFailed says why there are no figures.
func (r *Result) allFailed(sent int64) string {
	var worst record.FailureCount
	for i := range r.Stages {
		for _, f := range r.Stages[i].Failures {
			if f.Count > worst.Count {
				worst = f
			}
		}
	}
	text := fmt.Sprintf("None of %s succeeded", number.Plural(sent, "request"))
	if sent == 1 {
		text = "The one request failed"
	}
	if worst.Count == 0 {
		return text + "."
	}
	why := worst.Kind().String()
	if worst.Example != "" {
		example := []rune(strings.Join(strings.Fields(worst.Example), " "))
		if len(example) > headlineClause {
			example = append(example[:headlineClause], '…')
		}
		why += ", such as: " + strings.TrimSuffix(string(example), ".")
	}
	return text + ": " + why + "."
}

// mostOften names the kind of failure that most requests had.
func (r *Result) mostOften() string {
	counts := map[record.FailureKind]int64{}
	for i := range r.Stages {
		for _, f := range r.Stages[i].Failures {
			counts[f.Kind()] += f.Count
		}
	}
	kinds := slices.SortedFunc(maps.Keys(counts), func(a, b record.FailureKind) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a.String(), b.String()))
	})
	switch len(kinds) {
	case 0:
		return ""
	case 1:
		return ", " + kinds[0].String()
	}
	return ", most often " + kinds[0].String()
}

// trusted says how much of the run is valid; nothing before its end.
func (r *Result) trusted() string {
	valid, judged := 0, 0
	for i := range r.Stages {
		if v := r.Stages[i].Verdict; v != nil {
			judged++
			if v.Status == Valid {
				valid++
			}
		}
	}
	switch {
	case len(r.Stages) > 1 && judged == len(r.Stages) && valid == 0 && r.Verdict.Status == Invalid:
		return fmt.Sprintf("None of %d stages valid: do not use the figures.", len(r.Stages))
	case len(r.Stages) > 1 && judged == len(r.Stages):
		return fmt.Sprintf("%d of %s valid.", valid, number.Plural(int64(len(r.Stages)), "stage"))
	case r.Verdict.Status == Valid:
		return "Valid."
	case r.Verdict.Status == Inconclusive:
		return "Too little was measured to judge."
	case r.Verdict.Status == Invalid:
		return "Not valid: do not use the figures."
	}
	return ""
}

// good reports whether the figures of a stage can be used.
func (s *Stage) good() bool {
	return s.Counts.OK > 0 && (s.Verdict == nil || s.Verdict.Status == Valid)
}

func (s *Stage) answered() (perSecond float64, ok bool) {
	m, ok := s.Metrics["request_throughput"]
	return m.Avg, ok && m.Avg > 0
}

// meets reports whether a stage meets the objectives of the run.
func (s *Stage) meets() (met, judged bool) {
	m, ok := s.Metrics["slo_attainment"]
	if !ok && len(s.Goodput) == 1 && s.Goodput[0].Of > 0 {
		return float64(s.Goodput[0].Met) >= meetsShare*float64(s.Goodput[0].Of), true
	}
	return m.Avg >= meetsShare, ok
}

// holds says up to which load the objectives are met, and where the server is saturated.
func (r *Result) holds() string {
	levels := r.byLoad()
	if len(levels) == 0 || len(levels) > 1 && !slices.ContainsFunc(r.Stages,
		func(s Stage) bool { return s.Verdict == nil || s.Verdict.Status == Valid }) {
		return ""
	}
	var clauses []string
	met, missed, judged := -1, -1, false
	for k, i := range levels {
		ok, known := r.Stages[i].meets()
		judged = judged || known
		switch {
		case !known || !r.Stages[i].good():
		case ok && missed < 0:
			met = k
		case !ok && missed < 0:
			missed = k
		}
	}
	switch {
	case !judged:
	case met < 0 && missed >= 0:
		clauses = append(clauses, "misses the objectives at "+r.Stages[levels[missed]].loadWords())
	case met >= 0 && missed < 0 && met == len(levels)-1:
		clauses = append(clauses, "meets the objectives at "+r.Stages[levels[met]].loadWords())
		if len(levels) > 1 {
			clauses[0] = "meets the objectives at every load, to " + r.Stages[levels[met]].loadWords()
		}
	case met >= 0:
		clauses = append(clauses, "meets the objectives to "+r.Stages[levels[met]].loadWords())
	}
	if rate := r.saturation(levels); rate > 0 {
		clauses = append(clauses, fmt.Sprintf("saturates near %s requests/s", short(rate)))
	}
	if len(clauses) == 0 {
		return ""
	}
	text := strings.Join(clauses, ", ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// byLoad are the stages of one kind of load, from the lowest to the highest; nil: there are
// several.
func (r *Result) byLoad() []int {
	var list []int
	for i := range r.Stages {
		s := &r.Stages[i]
		if s.Rate == 0 && s.Concurrency == 0 || (s.Rate > 0) != (r.Stages[0].Rate > 0) {
			return nil
		}
		list = append(list, i)
	}
	slices.SortStableFunc(list, func(a, b int) int {
		return int(math.Copysign(1, r.Stages[a].level()-r.Stages[b].level()))
	})
	return list
}

func (s *Stage) level() float64 { return s.Rate + float64(s.Concurrency) }

// saturation is the rate of responses that the server does not get beyond; 0: it was not reached.
func (r *Result) saturation(levels []int) float64 {
	most := 0.0
	for k, i := range levels {
		s := &r.Stages[i]
		now, ok := s.answered()
		if !ok {
			continue
		}
		most = max(most, now)
		switch {
		case s.Verdict != nil && s.Counts.OK >= 30 && r.tooMuch(s):
			return r.mostFrom(levels[k:], most)
		case k == 0 || s.Concurrency == 0:
		default:
			before := &r.Stages[levels[k-1]]
			was, ok := before.answered()
			load := float64(s.Concurrency) / float64(before.Concurrency)
			if ok && load > 1 && now/was-1 < growsLittle*(load-1) {
				return r.mostFrom(levels[k:], most)
			}
		}
	}
	return 0
}

// mostFrom is the highest rate of responses of levels.
func (r *Result) mostFrom(levels []int, most float64) float64 {
	for _, i := range levels {
		if now, ok := r.Stages[i].answered(); ok {
			most = max(most, now)
		}
	}
	return most
}

// loadWords is a load within a sentence: 40/s, or 8 in flight.
func (s *Stage) loadWords() string {
	if s.Rate > 0 {
		return short(s.Rate) + "/s"
	}
	if s.Concurrency > 0 {
		return number.Count(int64(s.Concurrency)) + " in flight"
	}
	return s.Load
}

// Best is the stage that matters most of those whose figures are good: that of the highest load that meets the
// objectives, and where none does, or there are none, that of the lowest load that gets about as many responses a
// second as any. One that saturates the server comes after all others. -1: no stage has good figures.
func (r *Result) Best() int {
	order := r.byLoad()
	if order == nil {
		for i := range r.Stages {
			order = append(order, i)
		}
	}
	order = slices.DeleteFunc(order, func(i int) bool { return !r.Stages[i].good() })
	if keeping := slices.DeleteFunc(slices.Clone(order), func(i int) bool { return r.tooMuch(&r.Stages[i]) }); len(keeping) > 0 {
		order = keeping
	}
	if len(order) == 0 {
		return -1
	}
	met, most := -1, 0.0
	for _, i := range order {
		if ok, judged := r.Stages[i].meets(); ok && judged {
			met = i
		}
		now, _ := r.Stages[i].answered()
		most = max(most, now)
	}
	if met >= 0 {
		return met
	}
	return order[slices.IndexFunc(order, func(i int) bool {
		now, _ := r.Stages[i].answered()
		return now >= keepsUp*most
	})]
}

// tooMuch reports whether a stage asked for more than the server gives. With a server that keeps up, too, the last
// responses come later than the last requests go, some requests fail, and random arrivals are more or fewer.
func (r *Result) tooMuch(s *Stage) bool {
	now, ok := s.answered()
	n := float64(s.Counts.Sent)
	if !ok || s.Rate == 0 || n == 0 {
		return false
	}
	usual := r.lowest()
	wait := 0.0
	if m, ok := usual.Metrics["request_latency"]; ok && m.Distribution != nil {
		wait = m.P50 / 1000
	}
	expected := n / (n/s.Rate + wait)
	if sent := usual.Counts.Sent; sent > 0 {
		expected *= 1 - float64(usual.Counts.Failed-usual.Counts.CutOff)/float64(sent)
	}
	slack := 1 - keepsUp
	if strings.Contains(s.Load, plan.ArrivalPoisson) || strings.Contains(s.Load, plan.ArrivalGamma) {
		slack += 2 / math.Sqrt(n)
	}
	return now < expected*(1-slack)
}

func (r *Result) lowest() *Stage {
	least := &r.Stages[0]
	for i := range r.Stages {
		if s := &r.Stages[i]; s.level() < least.level() {
			least = s
		}
	}
	return least
}

// firstFigure is the latency that is asked for first, of the best stage.
func (r *Result) firstFigure() string {
	best := r.Best()
	if best < 0 {
		return ""
	}
	s := &r.Stages[best]
	for _, m := range []struct{ id, name string }{{"time_to_first_token", "TTFT"}, {"request_latency", "Latency"}} {
		stat, ok := s.Metrics[m.id]
		if !ok || stat.Distribution == nil {
			continue
		}
		name := "p50"
		for _, p := range []string{"p99", "p95", "p90"} {
			if !slices.Contains(stat.LowSamples, p) {
				name = p
				break
			}
		}
		at := ""
		if len(r.Stages) > 1 || s.Rate > 0 {
			at = " at " + s.loadWords()
		}
		return fmt.Sprintf("%s %s%s: %s.", m.name, name, at, number.Value(stat.Figure(name), stat.Unit))
	}
	return ""
}

// short is a number with as many digits as a sentence needs.
func short(v float64) string {
	if v >= 100 {
		return number.Count(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
