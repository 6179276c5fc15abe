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
	Statistics string
	Metrics    string
	Interval   Duration
	Scrape     []string
	// Find: without any, the pages of the target's own servers are looked for, and read where they are there.
	Find       bool
	Prometheus Prometheus
}

// Prometheus is a server that has gathered the metrics of those under test.
type Prometheus struct {
	URL           string
	GoogleManaged bool
	Project       string
	Filters       []string
	Interval      Duration
	Server        string
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

// Cost says what the target's GPUs cost, and how their power is known. Zero: no figures of cost.
type Cost struct {
	GPUs     int
	Price    float64
	Watts    float64
	Power    string
	Devices  []string
	Interval Duration
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
