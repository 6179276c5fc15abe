package args

import (
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// The kinds of load of a search for the capacity.
const (
	byRate        = "rate"
	byConcurrency = "concurrency"
)

// capacityGroups are the flags of `inferometer capacity`: its own, and those of run that say
// nothing of how much is sent for how long.
func capacityGroups() []group {
	groups := groupsOf("Search", "Load", "Server", "Prompts", "Workload", "Server metrics", "Cost and energy", "Triton", "Goals and validity",
		"Workers", "Telemetry", "Output")
	for i := range groups {
		g := &groups[i]
		g.options = slices.DeleteFunc(g.options, func(o option) bool {
			return g.title == "Load" && !slices.Contains([]string{"arrival", "cv", "max-in-flight", "drain", "seed"}, o.name) || o.name == "calibrate" || o.name == "sessions"
		})
		if g.title == "Load" {
			g.options[0].help = "arrival process of a rate: poisson (default), constant or gamma"
		}
	}
	return groups
}

// Capacity reads the arguments of `inferometer capacity`. The error is a plan.Faults.
func Capacity(args []string, known planfile.Known, readFile func(name string) ([]byte, error)) (*Action, error) {
	a, err := read(capacityGroups(), args, known, readFile, (*builder).capacity)
	if err == nil {
		a.Command = "capacity"
	}
	return a, err
}

// capacity puts what the search is about, and the stage that it begins with.
func (b *builder) capacity() {
	p := &b.draft.Plan
	if len(b.flags["slo"]) > 0 {
		b.draft.Forget("capacity.objectives")
		p.Capacity.Objectives = nil
	}
	for i, text := range b.flags["slo"] {
		b.draft.Put(fmt.Sprintf("capacity.objectives[%d]", i), "--slo", text)
	}
	if !p.Capacity.On() {
		b.draft.Faults = append(b.draft.Faults, plan.Fault{Where: "--slo", Path: "capacity.objectives", Text: "no objective is given", Hint: "add one, such as --slo 'ttft.p99 < 200ms'"})
		return
	}
	by := b.last("by")
	switch {
	case by == "" && b.fromFile && len(p.Stages) == 1 && p.Stages[0].Concurrency > 0 && b.draft.Given("stages"):
		by = byConcurrency
	case by == "":
		by = byRate
	case by != byRate && by != byConcurrency:
		b.draft.Faults = append(b.draft.Faults, unknownWord("--by", "kind of load", by, []string{byRate, byConcurrency}))
		by = byRate
	}
	stage := plan.Stage{}
	if b.fromFile && b.draft.Given("stages") && len(p.Stages) > 0 {
		stage = p.Stages[0]
	}
	begin := stage.Level()
	if (by == byRate) != (stage.Rate > 0) || begin == 0 {
		begin = 1
	}
	stage.Rate, stage.Concurrency = begin, 0
	if by == byConcurrency {
		stage.Rate, stage.Concurrency = 0, int(begin)
	}
	if len(p.Stages) < 2 || !b.draft.Given("stages") {
		p.Stages = []plan.Stage{stage}
		b.draft.Set("stages[0]", "--by")
	}
	if b.given("start") {
		b.draft.Put("stages[0]."+by, "--start", b.last("start"))
	}
}
