package build

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// remark is a sentence about a stage.
type remark struct {
	stage int // wholeRun: of none alone
	text  string
	worse float64 // of those that say the same, the one to show has the most
}

// figuresIn are numbers with their units, which differ from stage to stage where the cause is one.
var figuresIn = regexp.MustCompile(`~?[0-9][0-9.,]*( ?(%|ns|µs|ms|s|min|h|KiB|MiB|GiB|KB|MB|GB)\b| %)?|\brequests?\b|\banswers?\b|\bstreams?\b|\bsessions?\b`)

// cause is what a sentence says apart from its figures.
func (m *remark) cause() string { return figuresIn.ReplaceAllString(m.text, "#") }

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
