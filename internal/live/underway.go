package live

import (
	"time"

	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/run"
)

// underway is how far a run is, or nil.
func underway(p *run.Progress) *pagedata.Underway {
	if p.Plan == nil || p.Result != nil || p.Stage >= len(p.Stages) {
		return nil
	}
	stage := &p.Stages[p.Stage]
	u := &pagedata.Underway{Stage: p.Stage + 1, Stages: len(p.Stages) + len(p.Coming), Phase: "measuring"}
	long, most, least := time.Duration(stage.Duration), stage.Requests, stage.MinRequests
	switch {
	case p.Searching:
		u.Phase = "looking for the highest load"
		return u
	case p.Reporting:
		u.Phase = "making the report"
		return u
	case p.Draining:
		u.Phase = "waiting for the last responses"
		return u
	case p.Warming:
		u.Phase = "warming up"
		long, most, least = time.Duration(stage.Warmup.Duration), stage.Warmup.Requests, 0
	}
	share := done(p.Elapsed, long, p.Ended, most, least)
	if share <= 0 {
		return u
	}
	left := time.Duration(float64(p.Elapsed) * (1 - share) / share)
	u.Share, u.Left = share, left.Seconds()
	if after, ok := planned(p.Later()); ok && !p.Warming {
		u.Share, u.Left = p.At.Seconds()/(p.At+left+after).Seconds(), (left + after).Seconds()
		u.Whole = true
	}
	return u
}

// done is which share of a part of a stage is over, that ends with a time or a number of requests, whichever is
// first, but not before a least number; 0: that is not known.
func done(elapsed, long time.Duration, ended, most, least int64) float64 {
	share := 0.0
	if long > 0 {
		share = elapsed.Seconds() / long.Seconds()
	}
	if most > 0 {
		share = max(share, float64(ended)/float64(most))
	}
	if least > 0 && ended < least {
		share = float64(ended) / float64(least)
		if long > 0 {
			share = min(share, elapsed.Seconds()/long.Seconds())
		}
	}
	return min(max(share, 0), 1)
}

// planned is how long stages will take, where that is known.
func planned(stages []plan.Stage) (sum time.Duration, ok bool) {
	for i := range stages {
		s := &stages[i]
		if s.Duration == 0 || s.Requests > 0 || s.MinRequests > 0 || s.Warmup.Requests > 0 {
			return 0, false
		}
		sum += time.Duration(s.Gap + s.Warmup.Duration + s.Duration)
	}
	return sum, true
}
