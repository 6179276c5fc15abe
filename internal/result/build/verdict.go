package build

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/lib/pattern"
	"github.com/inferometer/inferometer/internal/result"
)

// add takes a check into account; says is what it says where it is not within its budget.
func add(v *result.StageVerdict, c *result.Check, says string) {
	switch {
	case c.Undecided && !slices.Contains(v.Undecided, says): // some lack the same
		v.Undecided = append(v.Undecided, says)
	case c.Undecided:
	case !c.OK:
		v.Reasons = append(v.Reasons, says)
	}
	switch {
	case len(v.Reasons) > 0:
		v.Status = result.Invalid
	case len(v.Undecided) > 0:
		v.Status = result.Inconclusive
	}
	v.Valid = v.Status == result.Valid
}

func newVerdict() result.StageVerdict {
	return result.StageVerdict{Status: result.Valid, Valid: true, Reasons: []string{}}
}

// verdict sums the checks up, for the run and for each of its stages. One that is over its
// budget makes the result invalid; one that could not be made keeps it from being valid.
func (j *judge) verdict() result.Verdict {
	all := newVerdict()
	var reasons, undecided []remark
	for i := range j.checks {
		c := &j.checks[i]
		add(&all, c, j.prefix(c.Stage)+says(c))
		r := remark{stage: c.Stage, text: says(c), worse: overBudget(c)}
		switch {
		case c.Undecided:
			undecided = append(undecided, r)
		case !c.OK:
			reasons = append(reasons, r)
		}
	}
	v := result.Verdict{Status: all.Status, Valid: all.Valid, Reasons: j.grouped(reasons), Undecided: j.grouped(undecided),
		Checks: append([]result.Check{}, j.checks...)}
	// In a search for the capacity some levels are meant to be too much, and the search says which.
	if j.result.Capacity == nil {
		for s := range j.result.Stages {
			j.result.Stages[s].Verdict = j.stageVerdict(s)
		}
	}
	v.Summary = summary(j.result, func(s int) string { return strings.TrimSuffix(j.prefix(s), ": ") })
	return v
}

// overBudget is how far a check is beyond its budget, whether that is the most or the least.
func overBudget(c *result.Check) float64 {
	if c.Budget == 0 || c.Value == 0 {
		return math.Abs(c.Value)
	}
	return max(c.Value/c.Budget, c.Budget/c.Value)
}

func says(c *result.Check) string { return strings.TrimSpace(c.Reason + " " + c.Fix) }

// stageVerdict sums the checks up that count for a stage.
func (j *judge) stageVerdict(stage int) *result.StageVerdict {
	v := newVerdict()
	for i := range j.checks {
		if c := &j.checks[i]; c.Stage == stage || c.Stage == wholeRun {
			add(&v, c, says(c))
		}
	}
	return &v
}

// summary says which stages can be trusted, where some cannot; else nothing. name is a stage's.
func summary(r *result.Result, name func(stage int) string) string {
	var bad, unknown []string
	for i := range r.Stages {
		switch v := r.Stages[i].Verdict; {
		case v == nil:
			return ""
		case v.Status == result.Invalid:
			bad = append(bad, name(i))
		case v.Status == result.Inconclusive:
			unknown = append(unknown, name(i))
		}
	}
	n := len(r.Stages) - len(bad) - len(unknown)
	if n == 0 || n == len(r.Stages) {
		return ""
	}
	are := "are valid: their"
	if n == 1 {
		are = "is valid: its"
	}
	text := fmt.Sprintf("%d of %s %s figures can be trusted.", n, number.Plural(int64(len(r.Stages)), "stage"), are)
	if len(bad) > 0 {
		text += fmt.Sprintf(" Do not rely on those of %s.", listed(bad))
	}
	if len(unknown) > 0 {
		text += fmt.Sprintf(" Too little was measured in %s to tell.", listed(unknown))
	}
	return text
}

// mostListed is how many stages a sentence names.
const mostListed = 6

// listed names stages within a sentence.
func listed(names []string) string {
	names = slices.Clone(names)
	for i, s := range names {
		if rest, ok := strings.CutPrefix(s, "Stage "); ok {
			names[i] = "stage " + rest
		}
	}
	if n := len(names); n > mostListed {
		names = append(names[:mostListed-1], fmt.Sprintf("%d more", n-mostListed+1))
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

type remark struct {
	stage int // wholeRun: of none alone
	text  string
	worse float64 // of those that say the same, the one to show has the most
}

// figuresIn are numbers with their units, which differ from stage to stage where the cause is one.
var figuresIn = pattern.New(`~?[0-9][0-9.,]*( ?(%|ns|µs|ms|s|min|h|KiB|MiB|GiB|KB|MB|GB)\b| %)?|\brequests?\b|\banswers?\b|\bstreams?\b|\bsessions?\b`)

// cause is what a sentence says apart from its figures.
func (m *remark) cause() string { return figuresIn().ReplaceAllString(m.text, "#") }

// grouped gives the sentences of all stages, those of one cause as one: the worst, which names all stages.
func (j *judge) grouped(all []remark) []string {
	list := []string{}
	var told []int
	for i := range all {
		if slices.Contains(told, i) {
			continue
		}
		worst, stages := i, []int{all[i].stage}
		for k := i + 1; k < len(all) && all[i].stage != wholeRun; k++ {
			if all[k].stage == wholeRun || all[k].cause() != all[i].cause() {
				continue
			}
			told = append(told, k)
			if !slices.Contains(stages, all[k].stage) {
				stages = append(stages, all[k].stage)
			}
			if all[k].worse > all[worst].worse {
				worst = k
			}
		}
		text := j.prefix(all[i].stage) + all[i].text
		if len(stages) > 1 {
			text = j.several(stages, all[worst].stage) + all[worst].text
		}
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// several names the stages that a sentence is about, and the one whose figures it has.
func (j *judge) several(stages []int, here int) string {
	var names []string
	for _, s := range stages {
		names = append(names, strings.TrimSuffix(j.prefix(s), ": "))
	}
	if len(stages) == len(j.plan.Stages) {
		return fmt.Sprintf("All %d stages, here %s: ", len(stages), listed(names[slices.Index(stages, here):][:1]))
	}
	which := listed(names)
	if j.facts.Names.Stage == nil && len(stages) <= mostListed && !slices.ContainsFunc(stages, func(s int) bool { return j.plan.Stages[s].Name != "" }) {
		numbers := make([]string, len(stages))
		for i, s := range stages {
			numbers[i] = fmt.Sprint(s + 1)
		}
		which = "stages " + listed(numbers)
	}
	return strings.ToUpper(which[:1]) + which[1:] + fmt.Sprintf(", here %s: ", listed(names[slices.Index(stages, here):][:1]))
}
