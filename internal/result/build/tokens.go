package build

import (
	"fmt"
	"math"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe/servermetrics"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// usage judges whether the server's counts of tokens can be: a response has no more tokens
// than bytes, but for those that the server says are hidden, and no fewer than events with
// text; a prompt has no more than bytes, but for what a template adds, and not far fewer than
// this side counts. A count that cannot be is not used, and a server that gives such counts
// is not believed the others either.
func (j *judge) usage(i int, sum *metric.StageStats) {
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
		name := "usage_output_plausible"
		if k == 0 {
			name = "usage_input_plausible"
		}
		found := fmt.Sprintf("the server counts more %s tokens than there can be, up to %d", what, c.MostClaim[k])
		if c.ClaimSum[k] < c.ClaimUsed[k] {
			found = fmt.Sprintf("the server counts fewer %s tokens than there can be: %d, where the client counts %d", what, c.ClaimSum[k], c.ClaimUsed[k])
		}
		share := float64(c.Claimed[k]) / float64(n)
		j.check(result.Check{Stage: i, Name: name, Value: share, Budget: budget, Unit: metric.Share, OK: share <= budget,
			Fix: "Fix the usage that the server reports; figures in tokens use the client's counts here. Latencies are not affected."},
			fmt.Sprintf("In %s of the %d responses %s (budget %s).", number.Percent(share), n, found, number.Percent(budget)))
		if c.Claimed[k] > 0 && share <= budget {
			j.addNote(i, "In %s %s: those counts were not used.", number.Plural(c.Claimed[k], "response"), found)
		}
	}
}

// leastShown is how many tokens there must be for a server's count to be called too small.
const leastShown = 10

// tooFew judges counts of output tokens, which all their figures are made of, far below what
// responses show.
func (j *judge) tooFew(i int, sum *metric.StageStats) {
	c, n := &sum.Counts, sum.Whole.Totals.OK
	share, budget := float64(c.Under+c.Claimed[1])/float64(n), j.plan.Budgets.TokenDrift
	shown := fmt.Sprintf("%d events of text came", c.UnderShown)
	if !j.plan.Tokenizer.StandIn() {
		shown = fmt.Sprintf("their events or the tokenizer %s show %d", j.plan.Tokenizer.Name, c.UnderShown)
	}
	j.check(result.Check{Stage: i, Name: "usage_output_plausible", Value: share, Budget: budget, Unit: metric.Share, OK: share <= budget,
		Fix: "Fix the usage that the server reports: token figures depend on it. If it is right, use the served model's tokenizer, and have the server send whole tokens."},
		fmt.Sprintf("In %s of the %d responses the server counts less than half of the output tokens that came: %d, where %s (budget %s).", number.Percent(share), n, c.UnderSaid, shown, number.Percent(budget)))
	if share <= budget {
		j.addNote(i, "In %s the server counts less than half of the output tokens that came: %d, where %s.", number.Plural(c.Under, "response"), c.UnderSaid, shown)
	}
}

// farApart is how much the counts of the server and of the model's own tokenizer may differ
// before figures in tokens are not to be trusted, whoever is wrong.
const farApart = 0.2

// tokens compares the counts of the server with those of the run's tokenizer. Where every
// figure is made of the server's, that they differ a little is worth knowing and no fault: a
// model of random weights writes text that reads back as other tokens. Where some figures
// are made of the tokenizer's, those are off by as much.
func (j *judge) tokens(i int, sum *metric.StageStats) {
	c := &sum.Counts
	if n := c.Sources[1][record.FromEvents] - c.Claimed[1]; n > 0 {
		j.addNote(i, "The output tokens of %s are counted as one per event: the server reported no count.", number.Plural(n, "request"))
	}
	if j.grows(i, &c.Around) {
		return
	}
	j.lengths(i, c)
	if j.plan.Tokenizer.StandIn() {
		j.standIn(i, sum)
		return
	}
	budget := j.plan.Budgets.TokenDrift
	for k, what := range [...]string{"input", "output"} {
		if c.Both[k] == 0 || c.Server[k] == 0 {
			continue
		}
		share := float64(c.Disagree[k]) / float64(c.Server[k])
		own := c.Sources[k][record.FromTokenizer]
		template := k == 0 && j.plan.Target.Chats() && !j.facts.Header.Template
		added := template || k == 0 && !j.plan.Target.Generates() // around each text of a batch, too
		name := "token_drift"
		if k == 0 {
			name = "token_drift_input"
		}
		switch {
		case k == 1 && c.Under > c.Claimed[k] && c.UnderShown >= leastShown: // tooFew has told
		case k == 1 && j.plan.Tokenizer.Output:
			if share > budget {
				j.addNote(i, "The server and the tokenizer %s disagree on %s of the output tokens. Figures use the tokenizer's counts, as set by %v.", j.plan.Tokenizer.Name, number.Percent(share), message.New("%v", message.CountOutput).Or("this tool"))
			}
		case far(&c.Compared[k], added):
			t := &c.Compared[k]
			apart := float64(t.Far) / float64(max(t.Server, t.Local))
			j.check(result.Check{Stage: i, Name: name, Value: apart, Budget: farApart, Unit: metric.Share,
				Fix: "Check that it is the served model's tokenizer, and what the server reports as usage. Latencies are not affected."},
				fmt.Sprintf("Figures in %s tokens cannot be trusted: the server counts %d where the tokenizer %s finds %d in the same texts, %s apart (at most %s).",
					what, t.Server, j.plan.Tokenizer.Name, t.Local, number.Percent(apart), number.Percent(farApart)))
		case template:
			if share > budget {
				j.addNote(i, "The server counts %s of the input tokens differently from %s: its chat template is in its count.", number.Percent(share), j.plan.Tokenizer.Name)
			}
		case own == 0:
			if share > budget {
				j.addNote(i, "The server and the tokenizer %s disagree on %s of the %s tokens. All figures use the server's counts. Prompt lengths are exact only with the served model's tokenizer.", j.plan.Tokenizer.Name, number.Percent(share), what)
			}
		default:
			j.check(result.Check{Stage: i, Name: name, Value: share, Budget: budget, Unit: metric.Share, OK: share <= budget,
				Fix: "Use the served model's tokenizer."},
				fmt.Sprintf("The server and the tokenizer %s disagree on %s of the %s tokens (budget %s), and the figures of %s use the tokenizer's counts.",
					j.plan.Tokenizer.Name, number.Percent(share), what, number.Percent(budget), number.Plural(own, "request")))
		}
	}
}

// Where exact lengths were asked for, prompts may be so much longer or shorter by the server's count.
// Of a chat template that is not known it adds up to so many tokens.
const (
	lengthBudget = 0.05
	lengthAround = 64
)

// lengths judges whether prompts are as long as was asked, where nobody has named a tokenizer.
func (j *judge) lengths(i int, c *metric.Counts) {
	n, own, server := c.Both[0], c.Own[0], c.Server[0]
	if !j.plan.Tokenizer.Find || n == 0 || own == 0 {
		return
	}
	off := max(own-server, 0)
	if server > own {
		around := lengthAround * n
		if j.facts.Header.Template {
			around = 0
		}
		off = max(server-own-around, 0)
	}
	share := float64(off) / float64(own)
	j.check(result.Check{Stage: i, Name: "prompt_length", Value: share, Budget: lengthBudget, Unit: metric.Share, OK: share <= lengthBudget,
		Fix: j.words(message.New("Name the model's tokenizer with %v.", message.Tokenizer).Or("Use the model's tokenizer."))},
		fmt.Sprintf("Prompts are not as long as was asked: %s tokens were, and the server counts %s, %s off (budget %s). They were made with the tokenizer %s.",
			number.Count(own/n), number.Count(server/n), number.Percent(share), number.Percent(lengthBudget), j.plan.Tokenizer.Name))
}

// templateTokens is more than a chat template adds to a prompt.
const templateTokens = 1 << 10

// unevenness is by how many tokens a server's counts of prompts may differ from one another beyond
// what another tokenizer explains: tokenizers are rarely apart by a factor of three.
const (
	unevenness    = 64
	unevenTimes   = 2
	leastPrompts  = 10
	unevenMessage = "Figures in input tokens cannot be trusted: the server counts from %s to %s tokens more than there are in the prompts, of which the longest has %s. What a server puts around prompts is the same for each."
)

// grows judges whether what the server counts beyond the prompts that were made here is the same for
// all of them, as a template is; true: it is not.
func (j *judge) grows(i int, a *metric.Around) bool {
	d := &j.plan.Data
	made := d.Source == plan.SourceSynthetic || d.Source == plan.SourceRandom
	budget := unevenness + unevenTimes*a.Longest
	if !made || !d.Media.None() || a.N < leastPrompts || a.Most-a.Least <= budget {
		return false
	}
	j.check(result.Check{Stage: i, Name: "token_drift_input", Value: float64(a.Most - a.Least), Budget: float64(budget), Unit: metric.TokenCount,
		Fix: "Check what the server reports as usage. Latencies are not affected."},
		fmt.Sprintf(unevenMessage, number.Count(a.Least), number.Count(a.Most), number.Count(a.Longest)))
	return true
}

// far reports whether counts of the server and of the model's own tokenizer cannot both be
// right. added: the server's have tokens that this side does not know of.
func far(c *metric.Compared, added bool) bool {
	bound := farApart * float64(max(c.Server, c.Local))
	if added {
		more := c.Far - c.Short
		return float64(c.Short) > bound || float64(more) > bound && more > templateTokens*c.N
	}
	return float64(c.Far) > bound
}

// Of what a tokenizer that is not the model's finds in a text, the model may have made so
// many times the tokens, and its server may have sent so many in an event.
const (
	mostOfStandIn  = 1.4
	leastOfStandIn = 0.4
	mostPerEvent   = 1.25
)

// standIn judges counts of output tokens by a tokenizer that is not the model's: whether
// those of the server are about what it finds, where nothing else speaks for them, and
// whether its own, where the server has none, are about as many as the events. Whether it or
// the other is wrong cannot be told without the model's.
func (j *judge) standIn(i int, sum *metric.StageStats) {
	if j.plan.Tokenizer.Name == plan.TokenizerWords || !j.plan.Target.Generates() {
		return
	}
	c, n := &sum.Counts, float64(sum.Whole.Totals.OK)
	name := j.plan.Tokenizer.Name
	check := result.Check{Stage: i, Name: "token_drift", Budget: farApart, Unit: metric.Share,
		Fix: j.words(message.New("Pass the model's tokenizer with %v.", message.Tokenizer).Or("Use the model's tokenizer.")) + " Latencies are not affected."}
	if t := &c.Compared[1]; t.N > 0 {
		times := float64(t.Server) / float64(t.Local)
		if (times > mostOfStandIn || times < leastOfStandIn) && float64(t.N*record.Sampled) > j.plan.Budgets.TokenDrift*n {
			j.undecided(check, fmt.Sprintf("Figures in output tokens cannot be checked: in %s that were looked at, the server counts %d where %s finds %d in the text.", number.Plural(t.N, "response"), t.Server, name, t.Local))
			return
		}
	}
	t := &c.StandIn
	if t.N == 0 {
		return
	}
	j.addNote(i, "The output tokens of %s are counted with %s: the server reported no count.", number.Plural(t.N, "request"), name)
	if float64(t.Local) > mostPerEvent*float64(t.Server) && float64(t.N) > j.plan.Budgets.TokenDrift*n {
		j.undecided(check, fmt.Sprintf("Figures in output tokens cannot be checked: the server reported no count for %s, and %s finds %d tokens in %d events.", number.Plural(t.N, "response"), name, t.Local, t.Server))
	}
}

// notableCache is the share of prompt tokens out of the cache that is worth a note.
const notableCache = 0.05

// cached judges how much of the prompts a server found in its prefix cache where none was meant to
// be there: a run before this one, with the same seed, left it, and the time to the first token is
// that of the cache. What a chat template adds to every prompt does not count.
func (j *judge) cached(i int, sum *metric.StageStats) {
	c := &sum.Counts
	if c.OwnTokens == 0 || reuses(&j.plan.Data) {
		return
	}
	share, budget := float64(c.CachedOwn)/float64(c.OwnTokens), j.plan.Budgets.Cached
	found := fmt.Sprintf("%s of the prompts' tokens were in the server's prefix cache already", number.Percent(share))
	do := j.words(message.New("Give another %v, or %v.", message.Seed, message.SaltRun).Or("Give another %v.", message.Seed).Or("Send other prompts."))
	if fresh := j.plan.Data.Source == plan.SourceSynthetic || j.plan.Data.Source == plan.SourceRandom; fresh {
		j.check(result.Check{Stage: i, Name: "prefix_cache_hits", Value: share, Budget: budget, Unit: metric.Share, OK: share <= budget, Fix: do},
			fmt.Sprintf("%s (budget %s), though no two should share a prefix: an earlier run sent them.", found, number.Percent(budget)))
		if share > budget {
			return
		}
	}
	if share > notableCache {
		j.addNote(i, "%s: they share a prefix, or an earlier run sent them. %s", found, do)
	}
}

// cacheHit holds the share of prompt tokens that the server found in its prefix cache against the one that was to be
// found. Where responses do not say it, the servers' counters do.
func (j *judge) cacheHit(i int, sum *metric.StageStats, services []result.ServerMetrics) {
	c, want, budget := &sum.Counts, j.plan.Data.Prefixes.Share, j.plan.Budgets.CacheHit
	if want == 0 || sum.Whole.Totals.OK == 0 {
		return
	}
	found, known := 0.0, c.OwnTokens > 0
	if known {
		found = float64(c.CachedOwn) / float64(c.OwnTokens)
	}
	for k := 0; k < len(services) && !known; k++ {
		found, known = servermetrics.HitRatio(services[k].Figures)
	}
	if !known {
		j.addNote(i, "%s of the prompts' tokens were to be found in the server's prefix cache; it says neither in its responses nor in its metrics how many were.", number.Percent(want))
		return
	}
	text := fmt.Sprintf("%s of the prompts' tokens came from the server's prefix cache, %s were to be found there", number.Percent(found), number.Percent(want))
	off := math.Abs(found - want)
	fix := "Send some requests ahead, which fill it: --warmup 50. See whether the server caches prefixes, and has room for them."
	if found > want {
		fix = "Give another seed, or empty the cache ahead of the run: an earlier run sent these prompts."
	}
	j.check(result.Check{Stage: i, Name: "cache_hit", Value: off, Budget: budget, Unit: metric.Share, OK: off <= budget, Fix: fix},
		fmt.Sprintf("%s (budget %s apart).", text, number.Percent(budget)))
	if off <= budget {
		j.addNote(i, "%s.", text)
	}
}

// reuses reports whether the prompts of a plan are meant to begin alike.
func reuses(d *plan.Data) bool {
	switch d.Source {
	case plan.SourceSynthetic, plan.SourceRandom, plan.SourceFile, plan.SourceDataset:
		return d.Prompts > 0 || d.Pool || d.Prefixes.Count > 0
	}
	return true
}
