package build

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
)

// notableCache is the share of prompt tokens out of the cache that is worth a note.
const notableCache = 0.05

// cached judges how much of the prompts a server found in its prefix cache where none was
// meant to be there: a run before this one, with the same seed, left it, and the time to
// the first token is that of the cache. What a chat template adds to every prompt is in any
// server's cache and does not count.
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

// reuses reports whether the prompts of a plan are meant to begin alike.
func reuses(d *plan.Data) bool {
	switch d.Source {
	case plan.SourceSynthetic, plan.SourceRandom, plan.SourceFile, plan.SourceDataset:
		return d.Prompts > 0 || d.Pool || d.Prefixes.Count > 0
	}
	return true
}
