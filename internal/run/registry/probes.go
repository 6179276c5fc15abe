package registry

import (
	"context"
	"net/url"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/probe/prometheus"
)

// PageFactory makes what reads one of the pages of metrics that a plan names.
type PageFactory func(p *plan.Plan, page int, o endpoint.Options) probe.Page

// newPage gives the API key to the servers under test alone, and asks no other machine from the
// addresses that reach them.
func newPage(p *plan.Plan, page int, o endpoint.Options) probe.Page {
	address := p.Pages()[page]
	opt := prometheus.PageOptions{Now: o.Clock.Now, TLS: o.TLS}
	for _, t := range p.Target.URLs {
		if sameHost(t, address) {
			if opt.Key = o.Key; o.Live != nil {
				opt.Live = o.Live
			}
		}
		if hostname(t) == hostname(address) {
			opt.Sources = p.Target.SourceAddresses
		}
	}
	return prometheus.NewPage(address, opt)
}

func sameHost(a, b string) bool {
	x, err := url.Parse(a)
	y, also := url.Parse(b)
	return err == nil && also == nil && x.Scheme == y.Scheme && x.Host == y.Host
}

func hostname(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// ArchiveFactory makes what asks the Prometheus server that a plan names.
type ArchiveFactory func(ctx context.Context, p *plan.Plan, o endpoint.Options) (probe.RangeQuerier, error)

func newArchive(ctx context.Context, p *plan.Plan, o endpoint.Options) (probe.RangeQuerier, error) {
	return prometheus.NewClient(ctx, p.Probes.Prometheus, prometheus.Options{
		Start: o.Clock.Start(), Model: p.Target.Model, TLS: o.TLS, Getenv: o.Getenv,
	})
}
