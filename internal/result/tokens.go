package result

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
)

// usage judges whether the server's counts of tokens can be: an answer has no more tokens
// than bytes, but for those that were asked for and may be hidden, and not far fewer than
// it shows. A count that is too large is not used, and a server that gives such counts is not
// believed the others either.
func (j *judge) usage(i int, sum *metric.Stage) {
	c, n := &sum.Counts, sum.Whole.Totals.OK
	budget := j.plan.Budgets.TokenDrift
	for k, what := range [...]string{"input", "output"} {
		if c.Sources[k][record.FromServer]+c.Claimed[k] == 0 {
			continue
		}
		if k == 1 && j.plan.Target.Generates() && c.Under > c.Claimed[k] && c.UnderShown >= leastShown {
			j.tooFew(i, sum)
			continue
		}
		name := "usage"
		if k == 0 {
			name = "usage_input"
		}
		share := float64(c.Claimed[k]) / float64(n)
		j.check(Check{Stage: i, Name: name, Value: share, Budget: budget, Unit: metric.Share, OK: share <= budget,
			Do: "Fix the usage that the server reports; the figures here use other counts."},
			fmt.Sprintf("In %s of the %d answers the server counts more %s tokens than there can be, up to %d (budget %s).", number.Percent(share), n, what, c.MostClaim[k], number.Percent(budget)))
		if c.Claimed[k] > 0 && share <= budget {
			j.note(i, "In %s the server counts more %s tokens than there can be, up to %d: those counts were not used.", number.Things(c.Claimed[k], "answer"), what, c.MostClaim[k])
		}
	}
}

// leastShown is how many tokens there must be for a server's count to be called too small.
const leastShown = 10

// tooFew judges counts of output tokens that are far below what the answers show. Every
// figure of tokens is made of them.
func (j *judge) tooFew(i int, sum *metric.Stage) {
	c, n := &sum.Counts, sum.Whole.Totals.OK
	share, budget := float64(c.Under+c.Claimed[1])/float64(n), j.plan.Budgets.TokenDrift
	shown := fmt.Sprintf("%d events of text came", c.UnderShown)
	if !j.plan.Tokenizer.StandIn() {
		shown = fmt.Sprintf("their events or the tokenizer %s show %d", j.plan.Tokenizer.Name, c.UnderShown)
	}
	j.check(Check{Stage: i, Name: "usage", Value: share, Budget: budget, Unit: metric.Share, OK: share <= budget,
		Do: "Fix the usage that the server reports: token figures depend on it. If it is right, use the served model's tokenizer, and have the server send whole tokens."},
		fmt.Sprintf("In %s of the %d answers the server counts less than half of the output tokens that came: %d, where %s (budget %s).", number.Percent(share), n, c.UnderSaid, shown, number.Percent(budget)))
	if share <= budget {
		j.note(i, "In %s the server counts less than half of the output tokens that came: %d, where %s.", number.Things(c.Under, "answer"), c.UnderSaid, shown)
	}
}

// tokens compares the counts of the server with those of the run's tokenizer. Where every
// figure is made of the server's, that they differ is worth knowing and no fault: images
// have tokens that no tokenizer counts, and a model of random weights writes text that
// reads back as other tokens. Where some figures are made of the tokenizer's, those are off
// by as much.
func (j *judge) tokens(i int, sum *metric.Stage) {
	c := &sum.Counts
	if n := c.Sources[1][record.FromEvents] - c.Claimed[1]; n > 0 {
		j.note(i, "The output tokens of %s are counted as one per event: the server reported no count.", number.Things(n, "request"))
	}
	if j.plan.Tokenizer.StandIn() {
		return
	}
	budget := j.plan.Budgets.TokenDrift
	for k, what := range [...]string{"input", "output"} {
		if c.Both[k] == 0 || c.Server[k] == 0 {
			continue
		}
		share := float64(c.Disagree[k]) / float64(c.Server[k])
		own := c.Sources[k][record.FromTokenizer]
		switch {
		case k == 0 && j.plan.Target.Chats() && !j.facts.Header.Template:
			if share > budget {
				j.note(i, "The server counts %s of the input tokens differently from %s: its chat template is in its count.", number.Percent(share), j.plan.Tokenizer.Name)
			}
		case k == 1 && j.plan.Tokenizer.Output:
			if share > budget {
				j.note(i, "The server and the tokenizer %s disagree on %s of the output tokens. Figures use the tokenizer's counts, as set by %v.", j.plan.Tokenizer.Name, number.Percent(share), message.New("%v", message.CountOutput).Or("this tool"))
			}
		case own == 0:
			if share > budget {
				j.note(i, "The server and the tokenizer %s disagree on %s of the %s tokens. All figures use the server's counts. Prompt lengths are exact only with the served model's tokenizer.", j.plan.Tokenizer.Name, number.Percent(share), what)
			}
		default:
			name := "token_drift"
			if k == 0 {
				name = "token_drift_input"
			}
			j.check(Check{Stage: i, Name: name, Value: share, Budget: budget, Unit: metric.Share, OK: share <= budget,
				Do: "Use the served model's tokenizer."},
				fmt.Sprintf("The server and the tokenizer %s disagree on %s of the %s tokens (budget %s), and the figures of %s use the tokenizer's counts.",
					j.plan.Tokenizer.Name, number.Percent(share), what, number.Percent(budget), number.Things(own, "request")))
		}
	}
}
