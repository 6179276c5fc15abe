package plan

import (
	"slices"
	"strings"
	"time"
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

// ProbeInterval is how often servers are asked during a stage.
const ProbeInterval = time.Second

// TakesStatistics reports whether a plan wants the server's statistics.
func (p *Plan) TakesStatistics() bool {
	return p.Target.Protocol == ProtocolTriton && p.Probes.Statistics != StatisticsOff
}

// Where the power of the GPUs is read, besides the address of an exporter's page.
const (
	PowerAuto = "auto"       // PowerSMI where the target is on this machine
	PowerSMI  = "nvidia-smi" // NVIDIA's tool, of this machine's GPUs
	PowerNone = "none"
)

// PowerInterval is how often PowerSMI reads. GPUs refresh their reading about as often.
const PowerInterval = 100 * time.Millisecond

// Cost says what the GPUs behind the target cost, and how their power is known. The zero Cost
// asks for no figures of cost.
type Cost struct {
	GPUs     int     // 0: those whose power is read
	Price    float64 // dollars for one GPU and hour
	Watts    float64 // that one GPU is taken to draw, instead of reading it
	Power    string  // PowerAuto, PowerSMI, PowerNone or the address of a page; empty: what Probes.Scrape has
	Devices  []string
	Interval Duration // of PowerSMI; 0: PowerInterval
}

// On reports whether figures of cost are wanted.
func (c *Cost) On() bool {
	return c.GPUs > 0 || c.Price > 0 || c.Watts > 0 || c.Power != "" || len(c.Devices) > 0 || c.Interval > 0
}

// page is the address of an exporter that Power names; empty: it names none.
func (c *Cost) page() string {
	if strings.Contains(c.Power, "://") {
		return c.Power
	}
	return ""
}

// Pages are the pages of metrics that are read: those of Probes.Scrape, and that of the GPUs.
func (p *Plan) Pages() []string {
	page := p.Cost.page()
	if page == "" || slices.Contains(p.Probes.Scrape, page) {
		return p.Probes.Scrape
	}
	return append(slices.Clone(p.Probes.Scrape), page)
}
