package plan

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Where the power of the GPUs is read, besides the address of an exporter's page.
const (
	PowerAuto = "auto"       // PowerSMI where the target is on this machine
	PowerSMI  = "nvidia-smi" // NVIDIA's tool, of this machine's GPUs
	PowerNone = "none"
)

// PowerInterval is how often PowerSMI reads. GPUs refresh their reading about as often.
const PowerInterval = 100 * time.Millisecond

// Bounds of slips of the keyboard.
const (
	mostGPUs  = 1_000_000
	mostPrice = 1_000_000
	mostWatts = 1_000_000
)

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

var costSpec = sync.OnceValue(func() codec[Cost] {
	return object(
		fieldOf("gpus", count[int](mostGPUs), func(c *Cost) *int { return &c.GPUs },
			"GPUs behind the target. Left out: those whose power is read."),
		fieldOf("gpu_hour_price", amount(mostPrice), func(c *Cost) *float64 { return &c.Price }, "Price of one GPU for an hour, in dollars."),
		fieldOf("gpu_watts", amount(mostWatts), func(c *Cost) *float64 { return &c.Watts },
			"Power of one GPU in watts, if it is not to be measured: the board's, or an all-in figure with cooling and the rest of the server."),
		fieldOf("power", text(), func(c *Cost) *string { return &c.Power },
			"Where to read the power of the GPUs: the URL of an exporter's metrics page (DCGM, AMD), `nvidia-smi` for the GPUs of this machine, `auto` for `nvidia-smi` if the target is on this machine, or `none`. Left out: from `probes.scrape`, if GPUs are on those pages."),
		fieldOf("devices", list("list of GPUs", text()), func(c *Cost) *[]string { return &c.Devices },
			"The GPUs that serve, by index or UUID, if others are read too. Left out: all."),
		fieldOf("interval", duration(), func(c *Cost) *Duration { return &c.Interval }, "How often `nvidia-smi` reads the power. Left out: 100ms."),
	)
})

func (c *checker) cost(p *Plan) {
	k := &p.Cost
	costSpec().check(c, "cost", k)
	switch {
	case k.Power == "":
	case strings.ContainsAny(k.Power, ":/.@") && grpcScheme(scheme(k.Power)):
		c.add("cost.power", "is a gRPC address, and metrics are a page of HTTP", "such as http://localhost:9400/metrics")
	case strings.ContainsAny(k.Power, ":/.@"):
		c.url("cost.power", k.Power)
	default:
		c.choice("cost.power", k.Power, []string{PowerAuto, PowerSMI, PowerNone, "or the URL of an exporter's page"})
	}
	if k.Watts > 0 && k.Power != "" && k.Power != PowerNone {
		c.lacks("cost.gpu_watts", "cost", "cannot be combined with cost.power: power is either given or read", "give one of them")
	}
	if k.Watts > 0 && k.GPUs == 0 {
		c.lacks("cost.gpus", "cost", "is missing: power is given for one GPU", "say how many there are")
	}
	pages := len(p.Probes.Scrape) > 0 || p.Probes.Metrics != ""
	if k.Price > 0 && k.GPUs == 0 && (k.Power == "" && !pages || k.Power == PowerNone) && k.Watts == 0 {
		c.lacks("cost.gpus", "cost", "is missing: the price is that of one GPU", "say how many there are")
	}
	if k.Interval > 0 && k.Interval < Duration(10*time.Millisecond) {
		c.add("cost.interval", "is "+k.Interval.String()+", less than 10ms: reading it would draw power too", "")
	}
	if slices.Contains(k.Devices, "") {
		c.add("cost.devices", "has an empty entry", "GPUs go by index or UUID")
	}
}
