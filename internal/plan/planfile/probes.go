package planfile

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

var prometheusSpec = sync.OnceValue(func() codec[plan.Prometheus] {
	return object(
		fieldOf("url", text(), func(p *plan.Prometheus) *string { return &p.URL }, "Address of the Prometheus server, such as http://localhost:9090."),
		fieldOf("google_managed", boolean(), func(p *plan.Prometheus) *bool { return &p.GoogleManaged },
			"Google Managed Prometheus, with application-default credentials, instead of a URL."),
		fieldOf("project", text(), func(p *plan.Prometheus) *string { return &p.Project }, "Google Cloud project; left out: that of the credentials."),
		fieldOf("filters", list("list of label matchers", text()), func(p *plan.Prometheus) *[]string { return &p.Filters }, "Label matchers for every query, such as namespace='llm'."),
		fieldOf("interval", duration(), func(p *plan.Prometheus) *plan.Duration { return &p.Interval }, "How often that server scrapes; 0: 15s."),
		fieldOf("server", word("vllm", "sglang", "tgi", "triton"), func(p *plan.Prometheus) *string { return &p.Server },
			"Server whose metric names to use. Left out: `vllm`."),
	)
})

func (c *checker) prometheus(p *plan.Prometheus) {
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

var probesSpec = sync.OnceValue(func() codec[plan.Probes] {
	return object(
		fieldOf("statistics", word(plan.StatisticsOn, plan.StatisticsOff), func(p *plan.Probes) *string { return &p.Statistics },
			"Whether to read Triton's statistics before and after each stage. Left out: on for Triton."),
		fieldOf("metrics", text(), func(p *plan.Probes) *string { return &p.Metrics },
			"Address of Triton's Prometheus metrics, such as http://localhost:8002/metrics. Left out: they are not read."),
		fieldOf("interval", duration(), func(p *plan.Probes) *plan.Duration { return &p.Interval },
			"How often to query the server during a stage, to notice restarts and to follow gauges. Left out: 1s."),
		fieldOf("scrape", urlsSpec(), func(p *plan.Probes) *[]string { return &p.Scrape },
			"Prometheus metrics pages of servers and exporters, such as http://localhost:8000/metrics, read every `interval`."),
		fieldOf("prometheus", prometheusSpec(), func(p *plan.Probes) *plan.Prometheus { return &p.Prometheus }, "A Prometheus server to query after each stage."),
	)
})

func (c *checker) probes(p *plan.Plan) {
	probesSpec().check(c, "probes", &p.Probes)
	if p.Probes.Interval > 0 && p.Probes.Interval < plan.Duration(10*time.Millisecond) {
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
	if p.Target.Protocol == plan.ProtocolTriton {
		return
	}
	for _, f := range []part{{"statistics", p.Probes.Statistics == plan.StatisticsOn}, {"metrics", p.Probes.Metrics != ""}} {
		if f.given {
			c.lacks("probes."+f.name, "target.protocol", "only Triton has them", "%v", message.New("%v or leave it out", message.SetTriton).Or("leave it out"))
		}
	}
}

// Bounds of slips of the keyboard.
const (
	mostGPUs  = 1_000_000
	mostPrice = 1_000_000
	mostWatts = 1_000_000
)

var costSpec = sync.OnceValue(func() codec[plan.Cost] {
	return object(
		fieldOf("gpus", count[int](mostGPUs), func(c *plan.Cost) *int { return &c.GPUs },
			"GPUs behind the target. Left out: those whose power is read."),
		fieldOf("gpu_hour_price", amount(mostPrice), func(c *plan.Cost) *float64 { return &c.Price }, "Price of one GPU for an hour, in dollars."),
		fieldOf("gpu_watts", amount(mostWatts), func(c *plan.Cost) *float64 { return &c.Watts },
			"Power of one GPU in watts, if it is not to be measured: the board's, or an all-in figure with cooling and the rest of the server."),
		fieldOf("power", text(), func(c *plan.Cost) *string { return &c.Power },
			"Where to read the power of the GPUs: the URL of an exporter's metrics page (DCGM, AMD), `nvidia-smi` for the GPUs of this machine, `auto` for `nvidia-smi` if the target is on this machine, or `none`. Left out: from `probes.scrape`, if GPUs are on those pages."),
		fieldOf("devices", list("list of GPUs", text()), func(c *plan.Cost) *[]string { return &c.Devices },
			"The GPUs that serve, by index or UUID, if others are read too. Left out: all."),
		fieldOf("interval", duration(), func(c *plan.Cost) *plan.Duration { return &c.Interval }, "How often `nvidia-smi` reads the power. Left out: 100ms."),
	)
})

func (c *checker) cost(p *plan.Plan) {
	k := &p.Cost
	costSpec().check(c, "cost", k)
	switch {
	case k.Power == "":
	case strings.ContainsAny(k.Power, ":/.@") && grpcScheme(scheme(k.Power)):
		c.add("cost.power", "is a gRPC address, and metrics are a page of HTTP", "such as http://localhost:9400/metrics")
	case strings.ContainsAny(k.Power, ":/.@"):
		c.url("cost.power", k.Power)
	default:
		c.choice("cost.power", k.Power, []string{plan.PowerAuto, plan.PowerSMI, plan.PowerNone, "or the URL of an exporter's page"})
	}
	if k.Watts > 0 && k.Power != "" && k.Power != plan.PowerNone {
		c.lacks("cost.gpu_watts", "cost", "cannot be combined with cost.power: power is either given or read", "give one of them")
	}
	if k.Watts > 0 && k.GPUs == 0 {
		c.lacks("cost.gpus", "cost", "is missing: power is given for one GPU", "say how many there are")
	}
	pages := len(p.Probes.Scrape) > 0 || p.Probes.Metrics != ""
	if k.Price > 0 && k.GPUs == 0 && (k.Power == "" && !pages || k.Power == plan.PowerNone) && k.Watts == 0 {
		c.lacks("cost.gpus", "cost", "is missing: the price is that of one GPU", "say how many there are")
	}
	if k.Interval > 0 && k.Interval < plan.Duration(10*time.Millisecond) {
		c.add("cost.interval", "is "+k.Interval.String()+", less than 10ms: reading it would draw power too", "")
	}
	if slices.Contains(k.Devices, "") {
		c.add("cost.devices", "has an empty entry", "GPUs go by index or UUID")
	}
}
