package target

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/plan"
)

func TestLimitsOfTheSystem(t *testing.T) {
	for _, tt := range []struct {
		name  string
		stage plan.Stage
		l     SystemLimits
		urls  int
		want  []string // none: it fits
	}{
		{"fits", plan.Stage{Concurrency: 100}, SystemLimits{Files: 1024, Ports: 28232, Ends: 1}, 1, nil},
		{"just fits", plan.Stage{Concurrency: 960}, SystemLimits{Files: 1024, Ports: 976, Ends: 1}, 1, nil},
		{"nothing known", plan.Stage{Concurrency: 1 << 20}, SystemLimits{Ends: 1}, 1, nil},
		{"files", plan.Stage{Concurrency: 961}, SystemLimits{Files: 1024, Ends: 1}, 1, []string{"stage 1 has 961 requests in flight and needs 1025 open files", "only 1024", "ulimit -n 1025, or lower the load"}},
		{"files, with the server in this process", plan.Stage{Concurrency: 500}, SystemLimits{Files: 1024, Ends: 2}, 1, []string{"ulimit -n 1064"}},
		{"ports", plan.Stage{Concurrency: 30000}, SystemLimits{Ports: 28232, Ends: 1}, 1, []string{"has 30000 requests in flight and needs 30016 local ports, but this system has only 28232", "ip_local_port_range, use at least 2 local addresses with --source-address, or add"}},
		{"ports of two addresses", plan.Stage{Concurrency: 56448}, SystemLimits{Ports: 28232, pairs: 2, Ends: 1}, 1, nil},
		{"ports of two addresses, and no more", plan.Stage{Concurrency: 56449}, SystemLimits{Ports: 28232, pairs: 2, Ends: 1}, 1, []string{"needs 56465 local ports", "only 56464", "at least 3 local addresses"}},
		{"ports of two addresses for two URLs", plan.Stage{Concurrency: 112912}, SystemLimits{Ports: 28232, pairs: 4, Ends: 1}, 2, nil},
		{"ports of a million addresses", plan.Stage{Concurrency: 1 << 30}, SystemLimits{Ports: 28232, pairs: 1 << 20, Ends: 1}, 1, nil},
		{"ports for two URLs", plan.Stage{Concurrency: 30000}, SystemLimits{Ports: 28232, Ends: 1}, 2, nil},
		{"a ramp's end", plan.Stage{Concurrency: 1, RampTo: 2000}, SystemLimits{Files: 1024, Ends: 1}, 1, []string{"has 2000 requests"}},
		{"a cap", plan.Stage{Rate: 10, MaxInFlight: 2000}, SystemLimits{Files: 1024, Ends: 1}, 1, []string{"has 2000 requests"}},
		{"no cap", plan.Stage{Rate: 10}, SystemLimits{Files: 1024, Ends: 1}, 1, nil},
		{"no cap, and no room at all", plan.Stage{Rate: 10}, SystemLimits{Files: 64, Ends: 1}, 1, []string{"has at least 1 request in flight and needs 65 open files", "ulimit -n 65"}},
		{"a single one", plan.Stage{Concurrency: 1}, SystemLimits{Files: 64, Ends: 1}, 1, []string{"stage 1 has 1 request in flight"}},
		{"both", plan.Stage{Concurrency: 2000}, SystemLimits{Files: 1024, Ports: 1000, Ends: 1}, 1, []string{"only 1024", "only 1000 for them"}},
	} {
		p := plan.Default()
		p.Stages = []plan.Stage{tt.stage}
		p.Target.URLs = make([]string, tt.urls)
		err := tt.l.Check(&p)
		if (err != nil) != (tt.want != nil) {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for _, w := range tt.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", tt.name, err, w)
			}
		}
	}
}

// An open loop without a cap needs as many connections as its rate and the server's
// time make it: all that can be said ahead is how slow the server may be.
func TestLimitsOfOpenLoops(t *testing.T) {
	for _, tt := range []struct {
		name  string
		stage plan.Stage
		l     SystemLimits
		http2 bool
		want  string // part of the warning; empty: none
	}{
		{"enough", plan.Stage{Rate: 50}, SystemLimits{Files: 1024, Ports: 28232, Ends: 1}, false, ""},
		{"nothing known", plan.Stage{Rate: 1e6}, SystemLimits{Ends: 1}, false, ""},
		{"files", plan.Stage{Rate: 200}, SystemLimits{Files: 1024, Ports: 28232, Ends: 1}, false, "take longer than 4.8s"},
		{"files, with the server in this process", plan.Stage{Rate: 200}, SystemLimits{Files: 1024, Ends: 2}, false, "take longer than 2.4s"},
		{"ports", plan.Stage{Rate: 200}, SystemLimits{Files: 1 << 20, Ports: 1000, Ends: 1}, false, "1000 local ports"},
		{"ports of two addresses", plan.Stage{Rate: 198}, SystemLimits{Files: 1 << 20, Ports: 1000, pairs: 2, Ends: 1}, false, ""},
		{"ports of two addresses, and no more", plan.Stage{Rate: 201}, SystemLimits{Files: 1 << 20, Ports: 1000, pairs: 2, Ends: 1}, false, "2000 local ports"},
		{"ports, and what to do", plan.Stage{Rate: 201}, SystemLimits{Ports: 1000, Ends: 1}, false, "ip_local_port_range, add local addresses with --source-address, or set"},
		{"a ramp's end", plan.Stage{Rate: 1, RampTo: 200}, SystemLimits{Files: 1024, Ends: 1}, false, "sends 200 requests/s"},
		{"shared connections", plan.Stage{Rate: 200}, SystemLimits{Files: 1024, Ends: 1}, true, ""},
		{"a cap", plan.Stage{Rate: 200, MaxInFlight: 100}, SystemLimits{Files: 1024, Ends: 1}, false, ""},
		{"a closed loop", plan.Stage{Concurrency: 100}, SystemLimits{Files: 1024, Ends: 1}, false, ""},
	} {
		p := plan.Default()
		p.Target.URLs, p.Target.HTTP2, p.Stages = []string{"http://a"}, tt.http2, []plan.Stage{tt.stage}
		got := ""
		for _, w := range tt.l.Warnings(&p) {
			got += w.String() + "\n"
		}
		got = strings.TrimSuffix(got, "\n")
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: warned %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestSystemLimitsAreRead(t *testing.T) {
	if n := openFileLimit(); n < 0 || n > 1<<30 {
		t.Errorf("this process may open %d files", n)
	}
	if n := localPorts(); n < 0 || n > 65536 {
		t.Errorf("%d local ports", n)
	}
}

// A worker needs files and ports for its share alone.
func TestLimitsOfAShare(t *testing.T) {
	p := &plan.Plan{Target: plan.Target{URLs: []string{"http://a"}}, Stages: []plan.Stage{{Concurrency: 1501}, {Rate: 9000, MaxInFlight: 1500}, {Rate: 300}}}
	l := SystemLimits{Files: 1000, Ends: 1}
	if err := l.Check(p); err == nil {
		t.Error("1501 connections with 1000 files")
	}
	if err := l.Check(partOf(p, load.Shard{Of: 2})); err != nil {
		t.Error(err)
	}
	if err := (SystemLimits{Files: 800, Ends: 1}).Check(partOf(p, load.Shard{Of: 2})); err == nil {
		t.Error("751 connections with 800 files, of which 64 are for other things")
	}
	if n := len(l.Warnings(p)); n != 1 {
		t.Errorf("%d warnings of 300 requests/s with 1000 files", n)
	}
	if n := len(l.Warnings(partOf(p, load.Shard{Of: 4}))); n != 0 {
		t.Errorf("%d warnings of a quarter of them", n)
	}
}
