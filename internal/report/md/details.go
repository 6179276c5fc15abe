package md

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/result"
)

// fold prints what is shown when its title is clicked on.
func (p *printer) fold(title string, content func()) {
	p.line("\n<details><summary>%s</summary>\n", title)
	content()
	p.line("\n</details>")
}

// checks prints the verdict's table, what is over budget first and what is undecided next.
func (p *printer) checks(sorted []result.Check) {
	if len(sorted) == 0 {
		return
	}
	columns := []column{{title: "Check", left: true}, {title: "Stage"}, {title: "Measured"}, {title: "Budget"}, {title: "Verdict", left: true}}
	for i := range sorted {
		c := &sorted[i]
		stage := ""
		if c.Stage >= 0 {
			stage = strconv.Itoa(c.Stage + 1)
		}
		measured, verdict := number.Value(c.Value, c.Unit), "ok"
		switch {
		case c.Undecided:
			measured, verdict = "", "undecided"
		case !c.OK:
			verdict = "**missed**"
		}
		row := []string{prose(strings.ReplaceAll(c.Name, "_", " "), nameWidth), stage, prose(measured, nameWidth), prose(number.Value(c.Budget, c.Unit), nameWidth), verdict}
		for k := range columns {
			columns[k].cells = append(columns[k].cells, row[k])
		}
	}
	p.fold(number.Plural(int64(len(sorted)), "check"), func() { p.table(columns, mostChecks) })
}

// gates prints the user's conditions and what was found.
func (p *printer) gates(gates []result.Gate) {
	if len(gates) == 0 {
		return
	}
	title, conditions := result.Conditions(gates)
	columns := []column{{title: title, left: true}, {title: "Measured"}, {title: "Gate", left: true}, {title: "Level", left: true}}
	if !result.SeveralLevels(gates) {
		columns = columns[:3]
	}
	var notes []string
	for i := range gates {
		g := &gates[i]
		word := g.Word()
		if g.Failed {
			word = "**missed**"
		}
		row := []string{prose(conditions[i], nameWidth), prose(g.Found(), nameWidth), word, prose(g.Where, nameWidth)}
		for k := range columns {
			columns[k].cells = append(columns[k].cells, row[k])
		}
		if about := g.Notes(); len(about) > 0 {
			notes = append(notes, g.Condition()+": "+strings.Join(about, "; "))
		}
	}
	p.line("")
	p.table(columns, mostChecks)
	p.list("", notes, mostNotes)
}

func (p *printer) plan(text string) {
	if text == "" {
		return
	}
	p.fold("Plan", func() { p.block("yaml", text, mostPlan) })
}

// block prints text as it stands, as many of its lines as there is room for, within a fence
// that is longer than any in the text.
func (p *printer) block(language, text string, most int) {
	text = strings.TrimRight(plainLines(text), "\n")
	if len(text) > most {
		text = text[:strings.LastIndexByte(text[:most], '\n')+1] + "# … the rest is in plan.yaml"
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	p.line("%s%s\n%s\n%s", fence, language, text, fence)
}

// plainLines is text of several lines without what could do more than be read.
func plainLines(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		rest := strings.TrimLeft(l, " ")
		b.WriteString(l[:min(len(l)-len(rest), planWidth)] + clip(rest, planWidth) + "\n")
	}
	return b.String()
}

func (p *printer) host(r *result.Result) {
	h := &r.Host
	cores := ""
	if h.Cores > 0 {
		cores = number.Plural(int64(h.Cores), "core")
	}
	text := screen.Join(", ", screen.Join("/", h.OS, h.Arch), h.Kernel, h.CPU, cores)
	if text == "" && r.Version == "" {
		return
	}
	p.fold("Host", func() {
		p.line("%s", prose(screen.Join(": ", fmt.Sprintf("Inferometer %s", r.Version), text), subjectWidth))
	})
}
