package plan

import "time"

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
}

// ProbeInterval is how often servers are asked during a stage.
const ProbeInterval = time.Second

// TakesStatistics reports whether a plan wants the server's statistics.
func (p *Plan) TakesStatistics() bool {
	return p.Target.Protocol == ProtocolTriton && p.Probes.Statistics != StatisticsOff
}

func probesSpec() codec[Probes] {
	return object("mapping", []field[Probes]{
		at("statistics", word("`on` or `off`", StatisticsOn, StatisticsOff), func(p *Probes) *string { return &p.Statistics },
			"Whether Triton's own statistics are taken before and after each stage. Left out: on for Triton."),
		at("metrics", text(), func(p *Probes) *string { return &p.Metrics },
			"Address of Triton's Prometheus metrics, such as http://localhost:8002/metrics. Left out: they are not read."),
		at("interval", duration(), func(p *Probes) *Duration { return &p.Interval },
			"How often the server is asked during a stage, to notice a restart and to follow its gauges. Left out: 1s."),
	}, nil)
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
	if p.Target.Protocol == ProtocolTriton {
		return
	}
	for _, f := range []struct {
		name  string
		given bool
	}{{"statistics", p.Probes.Statistics == StatisticsOn}, {"metrics", p.Probes.Metrics != ""}} {
		if f.given {
			c.lacks("probes."+f.name, "target.protocol", "only Triton has them", "set protocol to triton (--protocol triton) or leave it out")
		}
	}
}
