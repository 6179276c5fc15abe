package run

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
)

// protocols are those over which the run's requests came.
func protocols(t *testing.T, s *server) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for _, tr := range s.truths(t) {
		seen[tr.Proto]++
	}
	return seen
}

// HTTP/2 is used where the server speaks it, with TLS and without; where it does
// not, the run says so, goes over HTTP/1.1, and so does the plan that it keeps.
func TestHTTP2WhereTheServerSpeaksIt(t *testing.T) {
	for _, tt := range []struct {
		name             string
		secure           bool
		speaks, want     bool
		proto, log, kept string
	}{
		{"plain", false, true, true, "HTTP/2.0", "", "http2: true"},
		{"TLS", true, true, true, "HTTP/2.0", "", "http2: true"},
		{"plain, not wanted", false, true, false, "HTTP/1.1", "", ""},
		{"TLS, not wanted", true, true, false, "HTTP/1.1", "", ""},
		{"plain, not spoken", false, false, true, "HTTP/1.1", "does not speak HTTP/2: measuring over HTTP/1.1", ""},
		{"TLS, not spoken", true, false, true, "HTTP/1.1", "does not speak HTTP/2: measuring over HTTP/1.1", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(c *config.Server) { c.HTTP2, c.TLS.SelfSigned = tt.speaks, tt.secure })
			p := closedPlan(t, s.url, 5, 20)
			p.Target.HTTP2 = tt.want
			if tt.secure {
				p.Target.URLs[0] = strings.Replace(s.url, "http:", "https:", 1)
				p.Target.TLS.CA = filepath.Join(t.TempDir(), "ca.pem")
				if err := os.WriteFile(p.Target.TLS.CA, s.mock.CertPEM(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var log bytes.Buffer
			res, err := Run(t.Context(), p, options(&log))
			if err != nil {
				t.Fatal(err)
			}
			fell := res.Connection != nil && res.Connection.FellBack
			if fell != (tt.log != "") || fell != strings.Contains(strings.Join(res.Notes, "\n"), "figures are for HTTP/1.1") {
				t.Errorf("the result says %+v, notes %q", res.Connection, res.Notes)
			}
			if got := protocols(t, s); got[tt.proto] != 20 || len(got) != 1 {
				t.Errorf("requests came over %v, want %s", got, tt.proto)
			}
			if tt.log == "" && log.Len() > 0 || !strings.Contains(log.String(), tt.log) {
				t.Errorf("log %q, want %q", log.String(), tt.log)
			}
			if p.Target.HTTP2 != (tt.kept != "") {
				t.Errorf("the plan says http2: %v", p.Target.HTTP2)
			}
			for _, rec := range readKept(t, p.Output.Dir).recs {
				if rec.Failure != nil {
					t.Fatalf("failure %+v", rec.Failure)
				}
			}
			if text := readFile(t, p.Output.Dir, "plan.yaml"); !strings.Contains(text, tt.kept) {
				t.Errorf("the kept plan lacks %q:\n%s", tt.kept, text)
			}
		})
	}
}

// Replicas of which only some speak HTTP/2 are not measured together.
func TestReplicasThatDiffer(t *testing.T) {
	modern, old := serve(t, func(c *config.Server) { c.HTTP2 = true }), serve(t, nil)
	p := closedPlan(t, modern.url, 2, 4)
	p.Target.URLs = append(p.Target.URLs, old.url)
	p.Target.HTTP2 = true
	_, err := Run(t.Context(), p, options(new(bytes.Buffer)))
	if err == nil || !strings.Contains(err.Error(), old.url+" does not speak HTTP/2 and the other targets do") {
		t.Errorf("error %v", err)
	}
}

// The built-in mock speaks what the plan asks for.
func TestBuiltInMockSpeaksHTTP2(t *testing.T) {
	p := closedPlan(t, "", 1, 1)
	p.Target.URLs, p.Target.HTTP2, p.Data.Output = nil, true, plan.Length{Dist: plan.DistFixed, Mean: 2}
	var log bytes.Buffer
	if _, err := Run(t.Context(), p, options(&log)); err != nil || !p.Target.HTTP2 {
		t.Errorf("error %v, http2 %v, log %q", err, p.Target.HTTP2, log.String())
	}
}
