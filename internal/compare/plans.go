package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/report/screen"
)

// leftOut stands for a field that a plan does not have.
const leftOut = "(left out)"

// ignored are the fields of a plan in which sides may differ: where the server is and how to
// get there, what is written and judged, and what is matched in another way.
var ignored = []string{
	"version", "name", "seed", "stages", "levels", "saturation", "capacity", "grace", "max_errors", "breakers", "budgets", "limits", "probes", "output", "cost", "fail_if", "fail_unless",
	"target.urls", "target.api_key", "target.tls", "target.source_addresses", "target.preflight",
}

// matter are the fields that say what is measured: with another value the server has other
// work to do, or figures are of something else.
var matter = []string{"data", "target.body", "target.streaming", "target.triton"}

// stageMatter are those of a stage.
var stageMatter = []string{"arrival", "cv", "intervals", "max_in_flight", "growth"}

// stageIgnored are fields of a stage that its load is matched by, or that change nothing.
var stageIgnored = []string{"name", "concurrency", "rate", "ramp_to", "draws", "gap"}

// clashes are the fields in which the plans of sides differ from the first.
func clashes(sides []Side, loads []matched) []Clash {
	var all []Clash
	first := &sides[0].Runs[0]
	ours := planfile.Echo(first.Plan)
	for i := range sides {
		seen := map[string]bool{}
		add := func(d Clash) {
			if !seen[d.Field] {
				seen[d.Field] = true
				all = append(all, d)
			}
		}
		for k := range sides[i].Runs {
			r := &sides[i].Runs[k]
			if r == first {
				continue
			}
			theirs := planfile.Echo(r.Plan)
			for _, d := range planClashes(first, r, ours, theirs) {
				d.Side = i
				add(d)
			}
			for _, m := range loads {
				if m.stages[0] == nil || m.stages[0][0] < 0 || m.stages[i] == nil || m.stages[i][k] < 0 {
					continue
				}
				if first.By != "" || r.By != "" {
					continue
				}
				for _, d := range stageClashes(ours, theirs, m.stages[0][0], m.stages[i][k]) {
					d.Side, d.Matters = i, d.Matters && m.same
					add(d)
				}
			}
		}
	}
	rank := func(c Clash) int {
		if c.Matters {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b Clash) int { return rank(a) - rank(b) })
	return all
}

// planClashes are the fields of two runs' plans that differ, but for stages.
func planClashes(a, b *Run, ours, theirs any) []Clash {
	imported := a.By != "" || b.By != ""
	var list []Clash
	compareMaps("", ours, theirs, func(d Clash) {
		if under(d.Field, ignored) {
			return
		}
		d.Matters = under(d.Field, matter) || d.Field == "target.endpoint" && generates(a.Plan) != generates(b.Plan)
		if imported {
			// What another tool sent is known in part: its plan is what its load comes to.
			if !slices.Contains([]string{"target.model", "target.endpoint", "target.streaming"}, d.Field) {
				return
			}
			d.Matters = d.Matters && d.Field != "target.streaming"
		}
		list = append(list, d)
	})
	return list
}

// generates reports whether the requests of a plan ask for text.
func generates(p *plan.Plan) bool {
	return p.Target.Generates()
}

// stageClashes are the fields of a stage of each of two plans that differ.
func stageClashes(ours, theirs any, stageA, stageB int) []Clash {
	var list []Clash
	compareMaps("", stageOf(ours, stageA), stageOf(theirs, stageB), func(d Clash) {
		if under(d.Field, stageIgnored) {
			return
		}
		d.Matters = under(d.Field, stageMatter)
		d.Field = fmt.Sprintf("stages[%d].%s", stageA, d.Field)
		list = append(list, d)
	})
	return list
}

// stageOf is a stage of a plan as a file has it.
func stageOf(p any, i int) any {
	if m, ok := p.(map[string]any); ok {
		if stages, ok := m["stages"].([]any); ok && i < len(stages) {
			return stages[i]
		}
	}
	return nil
}

// under reports whether a field is one of a list, or a part of one.
func under(field string, list []string) bool {
	return slices.ContainsFunc(list, func(of string) bool { return field == of || strings.HasPrefix(field, of+".") })
}

// compareMaps tells of each field that differs, by its path.
func compareMaps(path string, a, b any, tell func(Clash)) {
	ma, okA := a.(map[string]any)
	mb, okB := b.(map[string]any)
	if okA && (okB || b == nil) || okB && a == nil {
		names := slices.Collect(maps.Keys(ma))
		for name := range mb {
			if _, ok := ma[name]; !ok {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			compareMaps(strings.TrimPrefix(path+"."+name, "."), ma[name], mb[name], tell)
		}
		return
	}
	if x, y := shown(a), shown(b); x != y {
		tell(Clash{Field: path, First: brief(x), Other: brief(y)})
	}
}

// shown is a value of a plan as text.
func shown(v any) string {
	if v == nil {
		return leftOut
	}
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// brief is text that fits a line with others.
func brief(s string) string { return screen.Clip(screen.Clean(s), 80) }
