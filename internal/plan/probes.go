package plan

import (
	"fmt"
	"time"

	"github.com/inferometer/inferometer/internal/message"
)

// Words of probes.
const (
	StatisticsOn  = "on"
	StatisticsOff = "off"
)

// Probes say what servers are asked about themselves.
type Probes struct {
	// Statistics is whether Triton's statistics are taken before and after each stage:
	// "on", "off" or empty, which is on where the target is a Triton.
	Statistics string
	Metrics    string   // address of Triton's Prometheus metrics; empty: they are not read
	Interval   Duration // how often servers are asked during a stage; 0: ProbeInterval
	// Scrape are pages of Prometheus metrics, one of each server or exporter, that are
	// read every Interval.
	Scrape     []string
	Prometheus Prometheus // a Prometheus server that is asked after each stage
}

// Prometheus is a server that has gathered the metrics of those under test.
type Prometheus struct {
	URL           string
	GoogleManaged bool   // Google's, with application-default credentials
	Project       string // of Google's; empty: that of the credentials
	Filters       []string
	Interval      Duration // how often it scrapes; 0: 15s
	Server        string   // whose names of metrics: "vllm", "sglang", "tgi" or "triton"
}

// On reports whether there is such a server.
func (p *Prometheus) On() bool { return p.URL != "" || p.GoogleManaged }

func (p *Prometheus) zero() bool {
	return p.URL == "" && !p.GoogleManaged && p.Project == "" && len(p.Filters) == 0 && p.Interval == 0 && p.Server == ""
}

func (p Probes) zero() bool {
	return p.Statistics == "" && p.Metrics == "" && p.Interval == 0 && len(p.Scrape) == 0 && p.Prometheus.zero()
}

// redacted is the probes without what their addresses may hold of credentials.
func (p Probes) redacted() Probes {
	if p.Metrics != "" {
		p.Metrics = SafeURL(p.Metrics)
	}
	if p.Prometheus.URL != "" {
		p.Prometheus.URL = SafeURL(p.Prometheus.URL)
	}
	scrape := p.Scrape
	p.Scrape = nil
	for _, u := range scrape {
		p.Scrape = append(p.Scrape, SafeURL(u))
	}
	return p
}

func prometheusServers() []string { return []string{"vllm", "sglang", "tgi", "triton"} }

func prometheusSpec() codec[Prometheus] {
	c := structure("mapping", []field[Prometheus]{
		at("url", text(), func(p *Prometheus) *string { return &p.URL }, "Address of the Prometheus server, such as http://localhost:9090."),
		at("google_managed", boolean(), func(p *Prometheus) *bool { return &p.GoogleManaged },
			"Google Managed Prometheus, with application-default credentials, instead of a URL."),
		at("project", text(), func(p *Prometheus) *string { return &p.Project }, "Project at Google; left out: that of the credentials."),
		at("filters", list("list of label matchers", text()), func(p *Prometheus) *[]string { return &p.Filters }, "Label matchers of every query, such as namespace='llm'."),
		at("interval", duration(), func(p *Prometheus) *Duration { return &p.Interval }, "How often that server scrapes; 0: 15s."),
		at("server", word("`vllm`, `sglang`, `tgi` or `triton`", prometheusServers()...), func(p *Prometheus) *string { return &p.Server },
			"Whose names the metrics have. Left out: `vllm`."),
	}, nil)
	c.zero = func(p Prometheus) bool { return p.zero() }
	return c
}

func (c *checker) prometheus(p *Prometheus) {
	const at = "probes.prometheus."
	switch {
	case p.zero():
		return
	case p.URL != "" && p.GoogleManaged:
		c.add(at+"url", "contradicts google_managed", "give one of them")
	case !p.On():
		c.add(at+"url", "is missing", "such as http://localhost:9090, or google_managed: true")
	case p.URL != "":
		c.url(at+"url", p.URL)
	}
	c.time(at+"interval", p.Interval)
	if p.Server != "" {
		c.choice(at+"server", p.Server, prometheusServers())
	}
}

// ProbeInterval is how often servers are asked during a stage.
const ProbeInterval = time.Second

// TakesStatistics reports whether a plan wants the server's statistics.
func (p *Plan) TakesStatistics() bool {
	return p.Target.Protocol == ProtocolTriton && p.Probes.Statistics != StatisticsOff
}

func probesSpec() codec[Probes] {
	c := structure("mapping", []field[Probes]{
		at("statistics", word("`on` or `off`", StatisticsOn, StatisticsOff), func(p *Probes) *string { return &p.Statistics },
			"Whether Triton's own statistics are taken before and after each stage. Left out: on for Triton."),
		at("metrics", text(), func(p *Probes) *string { return &p.Metrics },
			"Address of Triton's Prometheus metrics, such as http://localhost:8002/metrics. Left out: they are not read."),
		at("interval", duration(), func(p *Probes) *Duration { return &p.Interval },
			"How often the server is asked during a stage, to notice a restart and to follow its gauges. Left out: 1s."),
		at("scrape", urlsSpec(), func(p *Probes) *[]string { return &p.Scrape },
			"Pages of Prometheus metrics of the servers and exporters, such as http://localhost:8000/metrics, read every `interval`."),
		at("prometheus", prometheusSpec(), func(p *Probes) *Prometheus { return &p.Prometheus }, "A Prometheus server that is asked after each stage."),
	}, nil)
	c.zero = func(p Probes) bool { return p.zero() }
	return c
}

func (c *checker) probes(p *Plan) {
	if p.Probes.Statistics != "" {
		c.choice("probes.statistics", p.Probes.Statistics, []string{StatisticsOn, StatisticsOff})
	}
	c.time("probes.interval", p.Probes.Interval)
	if p.Probes.Interval > 0 && p.Probes.Interval < Duration(10*time.Millisecond) {
		c.add("probes.interval", "is "+p.Probes.Interval.String()+", less than 10ms: the server would be measured answering that", "")
	}
	if p.Probes.Metrics != "" {
		if grpcScheme(scheme(p.Probes.Metrics)) {
			c.add("probes.metrics", "is a gRPC address, and metrics are a page of HTTP", "such as http://localhost:8002/metrics")
		} else {
			c.url("probes.metrics", p.Probes.Metrics)
		}
	}
	for i, u := range p.Probes.Scrape {
		c.url(fmt.Sprintf("probes.scrape[%d]", i), u)
	}
	c.prometheus(&p.Probes.Prometheus)
	if p.Target.Protocol == ProtocolTriton {
		return
	}
	for _, f := range []struct {
		name  string
		given bool
	}{{"statistics", p.Probes.Statistics == StatisticsOn}, {"metrics", p.Probes.Metrics != ""}} {
		if f.given {
			c.lacks("probes."+f.name, "target.protocol", "only Triton has them", "%v", message.New("%v or leave it out", message.SetTriton).Or("leave it out"))
		}
	}
}
