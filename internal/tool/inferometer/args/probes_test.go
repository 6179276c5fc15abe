package args

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

func TestFlagsOfMetrics(t *testing.T) {
	a, err := Run([]string{"--scrape", "http://a/metrics", "--scrape", "http://b/metrics", "--prometheus", "http://p:9090", "--prometheus-interval", "5s", "--prometheus-server", "sglang", "--requests", "1"}, planfile.Known{}, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	p := a.Plan.Probes
	if !slices.Equal(p.Scrape, []string{"http://a/metrics", "http://b/metrics"}) || p.Prometheus.URL != "http://p:9090" || p.Prometheus.Server != "sglang" || p.Prometheus.Interval != plan.Duration(5*time.Second) {
		t.Errorf("%+v", p)
	}
}
