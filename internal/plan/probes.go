package plan

import (
	"sync"
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

// redacted is the probes without what their addresses may hold of credentials.
func (p Probes) redacted() Probes {
	p.Metrics, p.Prometheus.URL, p.Scrape = SafeURL(p.Metrics), SafeURL(p.Prometheus.URL), safeURLs(p.Scrape)
	return p
}

var prometheusSpec = sync.OnceValue(func() codec[Prometheus] {
	return object(
		fieldOf("url", text(), func(p *Prometheus) *string { return &p.URL }, "Address of the Prometheus server, such as http://localhost:9090."),
		fieldOf("google_managed", boolean(), func(p *Prometheus) *bool { return &p.GoogleManaged },
			"Google Managed Prometheus, with application-default credentials, instead of a URL."),
		fieldOf("project", text(), func(p *Prometheus) *string { return &p.Project }, "Google Cloud project; left out: that of the credentials."),
		fieldOf("filters", list("list of label matchers", text()), func(p *Prometheus) *[]string { return &p.Filters }, "Label matchers for every query, such as namespace='llm'."),
		fieldOf("interval", duration(), func(p *Prometheus) *Duration { return &p.Interval }, "How often that server scrapes; 0: 15s."),
		fieldOf("server", word("vllm", "sglang", "tgi", "triton"), func(p *Prometheus) *string { return &p.Server },
			"Server whose metric names to use. Left out: `vllm`."),
	)
})

func (c *checker) prometheus(p *Prometheus) {
	const at = "probes.prometheus."
	switch {
	case prometheusSpec().zero(*p):
		return
	case p.URL != "" && p.GoogleManaged:
		c.add(at+"url", "cannot be combined with google_managed", "give one of them")
	case !p.On():
		c.add(at+"url", "is missing", "such as http://localhost:9090, or google_managed: true")
	case p.URL != "":
		c.url(at+"url", p.URL)
	}
}

// ProbeInterval is how often servers are asked during a stage.
const ProbeInterval = time.Second

// TakesStatistics reports whether a plan wants the server's statistics.
func (p *Plan) TakesStatistics() bool {
	return p.Target.Protocol == ProtocolTriton && p.Probes.Statistics != StatisticsOff
}

var probesSpec = sync.OnceValue(func() codec[Probes] {
	return object(
		fieldOf("statistics", word(StatisticsOn, StatisticsOff), func(p *Probes) *string { return &p.Statistics },
			"Whether to read Triton's statistics before and after each stage. Left out: on for Triton."),
		fieldOf("metrics", text(), func(p *Probes) *string { return &p.Metrics },
			"Address of Triton's Prometheus metrics, such as http://localhost:8002/metrics. Left out: they are not read."),
		fieldOf("interval", duration(), func(p *Probes) *Duration { return &p.Interval },
			"How often to query the server during a stage, to notice restarts and to follow gauges. Left out: 1s."),
		fieldOf("scrape", urlsSpec(), func(p *Probes) *[]string { return &p.Scrape },
			"Prometheus metrics pages of servers and exporters, such as http://localhost:8000/metrics, read every `interval`."),
		fieldOf("prometheus", prometheusSpec(), func(p *Probes) *Prometheus { return &p.Prometheus }, "A Prometheus server to query after each stage."),
	)
})

func (c *checker) probes(p *Plan) {
	probesSpec().check(c, "probes", &p.Probes)
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
	c.prometheus(&p.Probes.Prometheus)
	if p.Target.Protocol == ProtocolTriton {
		return
	}
	for _, f := range []part{{"statistics", p.Probes.Statistics == StatisticsOn}, {"metrics", p.Probes.Metrics != ""}} {
		if f.given {
			c.lacks("probes."+f.name, "target.protocol", "only Triton has them", "%v", message.New("%v or leave it out", message.SetTriton).Or("leave it out"))
		}
	}
}
