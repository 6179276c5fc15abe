package planfile

import (
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

func (c *checker) prometheus(p *plan.Prometheus) {
	const at = "probes.prometheus."
	switch {
	case unset(p):
		return
	case p.URL != "" && p.GoogleManaged:
		c.add(at+"url", "cannot be combined with google_managed", "give one of them")
	case !p.On():
		c.add(at+"url", "is missing", "such as http://localhost:9090, or google_managed: true")
	case p.URL != "":
		c.url(at+"url", p.URL)
	}
}

func (c *checker) probes(p *plan.Plan) {
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

func (c *checker) cost(p *plan.Plan) {
	k := &p.Cost
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
