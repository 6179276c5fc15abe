package run

import (
	"runtime"
	"testing"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/plan"
)

// A worker needs files and ports for its share alone.
func TestLimitsOfAShare(t *testing.T) {
	p := &plan.Plan{Target: plan.Target{URLs: []string{"http://a"}}, Stages: []plan.Stage{{Concurrency: 1501}, {Rate: 9000, MaxInFlight: 1500}, {Rate: 300}}}
	l := rlimits{files: 1000, ends: 1}
	if err := checkLimits(p, l); err == nil {
		t.Error("1501 connections with 1000 files")
	}
	if err := checkLimits(partOf(p, load.Shard{Of: 2}), l); err != nil {
		t.Error(err)
	}
	if err := checkLimits(partOf(p, load.Shard{Of: 2}), rlimits{files: 800, ends: 1}); err == nil {
		t.Error("751 connections with 800 files, of which 64 are for other things")
	}
	if n := len(narrowLimits(p, l)); n != 1 {
		t.Errorf("%d warnings of 300 requests/s with 1000 files", n)
	}
	if n := len(narrowLimits(partOf(p, load.Shard{Of: 4}), l)); n != 0 {
		t.Errorf("%d warnings of a quarter of them", n)
	}
}

// A worker uses those of the plan's addresses that its machine has. One that has none says so later, a coordinator
// does without.
func TestOwnSourceAddresses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("127.0.0.2 is an address of Linux machines")
	}
	for list, want := range map[string][2]string{
		"":                            {"", ""},
		"127.0.3.1 203.0.113.1":       {"127.0.3.1/32", "127.0.3.1/32"},
		"203.0.113.0/24 127.0.4.0/30": {"127.0.4.0/30", "127.0.4.0/30"},
		"203.0.113.1":                 {"203.0.113.1/32", ""},
	} {
		for i, fleet := range []Workers{nil, (Workers)(struct{ Workers }{})} {
			p := &setup{plan: &plan.Plan{}, opt: &Options{Fleet: fleet}}
			p.plan.Target.SourceAddresses = sources(list)
			p.ownSources()
			got := ""
			for _, r := range p.plan.Target.SourceAddresses {
				got += r.String()
			}
			if got != want[i] {
				t.Errorf("%s: %q, want %q", list, got, want[i])
			}
		}
	}
}
