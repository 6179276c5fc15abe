// Package md writes a result as Markdown for a comment on a pull request, as GitHub and
// GitLab render it: the verdict first, one table with a row for each stage, what went wrong,
// notes, and folded away the checks, the plan and the host.
//
// It calculates nothing. Text of others (names, models, what servers answered) is inert in
// it, and the whole is never longer than a comment may be.
package md

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/result"
)

// Most is how many bytes a report has at most: GitHub refuses comments beyond it.
const Most = 65_535

// What the parts of a report may take of Most, in bytes.
const (
	mostReasons  = 6_000
	mostTable    = 15_000
	mostFailures = 4_000
	mostNotes    = 6_000
	mostChecks   = 9_000
	mostPlan     = 12_000
)

// The widths that names, sentences, what servers answered and lines of the plan are cut to.
const (
	nameWidth    = 60
	subjectWidth = 200
	textWidth    = 500
	exampleWidth = 160
	planWidth    = 300
)

// Options are what a report says besides the result.
type Options struct {
	Name    string // of the run
	Subject string // what was measured: the URL and the model
	Plan    string // as a plan file has it, secrets out; empty: it is left out
}

// Write writes r to w.
func Write(w io.Writer, r *result.Result, o Options) error {
	var p printer
	p.verdict(r, &o)
	p.gates(r.Gates)
	p.capacity(r)
	p.figures(r)
	p.list("", precision(r.Stages), mostFailures)
	p.list("", objectives(r.Stages), mostFailures)
	p.list("Failures", failures(r.Stages), mostFailures)
	p.list("Notes", r.Notes, mostNotes)
	p.checks(r.Verdict.Ranked())
	p.plan(o.Plan)
	p.host(r)
	if _, err := io.WriteString(w, p.String()); err != nil {
		return fmt.Errorf("write Markdown report: %w", err)
	}
	return nil
}

// Gates writes gates alone, under the name of what they are about and a word on it.
func Gates(w io.Writer, name, word string, gates []result.Gate) error {
	var p printer
	p.line("### %s", prose(strings.TrimSuffix(name+": "+strings.ToUpper(word), ": "), nameWidth))
	p.gates(gates)
	p.line("")
	if _, err := io.WriteString(w, p.String()); err != nil {
		return fmt.Errorf("write Markdown report: %w", err)
	}
	return nil
}

type printer struct{ strings.Builder }

func (p *printer) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// verdict says whether to believe the figures, and of what they are.
func (p *printer) verdict(r *result.Result, o *Options) {
	about := "Inferometer"
	if o.Name != "" {
		about = prose(o.Name, nameWidth)
	}
	v := &r.Verdict
	p.line("### %s: %s\n", about, strings.ToUpper(v.Status))
	if text := r.Headline(); text != "" {
		p.line("**%s**\n", prose(text, textWidth))
	}
	switch {
	case r.Differs():
		p.line("%s", prose(v.Summary, textWidth))
	case v.Valid:
		p.line("All %s passed.", number.Plural(int64(len(v.Checks)), "check"))
	case v.Status == result.Inconclusive:
		p.line("Too little was measured to tell whether to trust this.")
	default:
		p.line("Do not rely on these figures.")
	}
	if r.Interrupted {
		p.line("The run was interrupted: the figures cover what was measured until then.")
	}
	if r.Incomplete {
		p.line("The run did not end properly: the figures cover the requests that were on disk.")
	}
	reasons := slices.Clone(v.Reasons)
	for _, why := range v.Undecided {
		reasons = append(reasons, "Undecided: "+why)
	}
	p.list("", reasons, mostReasons)
	facts := []string{number.Plural(int64(len(r.Stages)), "stage") + " in " + number.Seconds(r.Duration)}
	if !r.Started.IsZero() {
		facts = append(facts, "started "+r.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	facts = append(facts, fmt.Sprintf("seed %d", r.Seed))
	subject := ""
	if o.Subject != "" {
		subject = code(o.Subject, subjectWidth) + ": "
	}
	p.line("\n%s%s", subject, strings.Join(facts, ", "))
}

// list prints texts as a list under a title, as many as there is room for.
func (p *printer) list(title string, texts []string, most int) {
	if len(texts) == 0 {
		return
	}
	p.line("")
	if title != "" {
		p.line("**%s**\n", title)
	}
	end := p.Len() + most
	for i, text := range texts {
		item := "- " + prose(text, textWidth)
		if p.Len()+len(item) > end {
			p.line("- … and %d more", len(texts)-i)
			return
		}
		p.line("%s", item)
	}
}

// precision says in words how well the figure is known that most people read first.
func precision(stages []result.Stage) []string {
	var list []string
	for i := range stages {
		if text := stages[i].Precision(); text != "" {
			list = append(list, stagePrefix(&stages[i], len(stages))+text)
		}
	}
	return list
}

func objectives(stages []result.Stage) []string {
	var list []string
	for i := range stages {
		s := &stages[i]
		for _, g := range s.Goodput {
			text := fmt.Sprintf("%s%s ≤ %s: met by %s of %s", stagePrefix(s, len(stages)), strings.ReplaceAll(g.Metric, "_", " "), number.Value(g.MaxMS, "ms"), number.Count(g.Met), number.Plural(g.Of, "request"))
			if g.Of > 0 {
				text += ", " + number.Share(float64(g.Met)/float64(g.Of))
			}
			list = append(list, text)
		}
	}
	return list
}

// failures says what went wrong, with an example of each kind.
func failures(stages []result.Stage) []string {
	var list []string
	for i := range stages {
		s := &stages[i]
		for _, f := range s.Failures {
			text := stagePrefix(s, len(stages)) + number.Count(f.Count) + " × " + f.Kind().String()
			if f.Example != "" {
				text += ", such as: " + clip(f.Example, exampleWidth)
			}
			list = append(list, text)
		}
	}
	return list
}

// stagePrefix begins a sentence about one of several stages.
func stagePrefix(s *result.Stage, stages int) string {
	if stages < 2 {
		return ""
	}
	return fmt.Sprintf("stage %d: ", s.Index+1)
}
