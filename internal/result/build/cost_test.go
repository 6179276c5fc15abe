package build

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// drawn are readings of two GPUs, of 400.5 and 401.5 W by turns and of 300 W, every 100 ms.
func drawn(from, to time.Duration) *record.Power {
	p := &record.Power{Source: plan.PowerSMI, GPUs: []record.GPUPower{{Index: "0", UUID: "GPU-a"}, {Index: "1", UUID: "GPU-b"}}}
	for i, at := 0, from; at <= to; i, at = i+1, at+100*ms {
		for k, w := range []float64{400.5 + float64(i%2), 300} {
			p.GPUs[k].At, p.GPUs[k].Watts = append(p.GPUs[k].At, at), append(p.GPUs[k].Watts, w)
		}
	}
	return p
}

// about checks a figure of the first stage, whose window is 10.2 s or so.
func about(t *testing.T, r *result.Result, id string, want float64) {
	t.Helper()
	m, ok := r.Stages[0].Metrics[id]
	if !ok || math.Abs(m.Avg/want-1) > 0.001 || m.Distribution != nil {
		t.Errorf("%s is %+v, %v, want %v", id, m, ok, want)
	}
}

func TestCost(t *testing.T) {
	w := healthy()
	w.plan.Cost = plan.Cost{GPUs: 2, Price: 2.10, Power: plan.PowerSMI}
	w.facts.AddPower(&w.plan, drawn(0, 12*time.Second))
	r := w.build(t)
	published.Fits(t, r)
	span := r.Stages[0].Window.End - r.Stages[0].Window.Begin
	out, in := 2000*20/span, 2000*128/span
	about(t, r, "output_token_throughput_per_gpu", out/2)
	about(t, r, "cost_per_million_output_tokens", 2*2.10/(out*3600/1e6))
	about(t, r, "cost_per_million_total_tokens", 2*2.10/((in+out)*3600/1e6))
	about(t, r, "total_gpu_energy", 701*span)
	about(t, r, "energy_per_input_token", 701*span/(2000*128))
	about(t, r, "energy_per_request", 701*span/2000)
	about(t, r, "input_tokens_per_second_per_megawatt", in/701e-6)
	about(t, r, "gpu_power_avg", 350.5)
	about(t, r, "gpu_power_peak", 401.5)
	c := r.Stages[0].Cost
	if c.GPUs != 2 || c.Power == nil || !c.Power.Valid || c.Power.Method != result.MethodIntegral || c.Power.Source != plan.PowerSMI || len(c.Power.GPUs) != 2 || c.Power.GPUs[1].Name != "GPU 1" || math.Abs(c.Power.GPUs[1].Avg-300) > 1e-6 {
		t.Errorf("%+v, %+v", c, c.Power)
	}
	if m := r.Stages[0].Steady.Metrics["gpu_power_avg"]; math.Abs(m.Avg-350.5) > 0.1 {
		t.Errorf("steady %+v", m)
	}
	if !r.Verdict.Valid {
		t.Error(r.Verdict.Reasons)
	}
	for id := range healthy().build(t).Stages[0].Metrics {
		if strings.Contains(id, "gpu") || strings.Contains(id, "energy") {
			t.Errorf("%s, and nobody wants to know", id)
		}
	}
}

// One of two GPUs serves.
func TestCostOfDevices(t *testing.T) {
	for _, device := range []string{"1", "GPU-b"} {
		w := healthy()
		w.plan.Cost = plan.Cost{Power: plan.PowerSMI, Devices: []string{device}}
		w.facts.AddPower(&w.plan, drawn(0, 12*time.Second))
		r := w.build(t)
		about(t, r, "gpu_power_avg", 300)
		if r.Stages[0].Cost.GPUs != 1 {
			t.Errorf("%+v", r.Stages[0].Cost)
		}
	}
}

func TestCostGiven(t *testing.T) {
	w := healthy()
	w.plan.Cost = plan.Cost{GPUs: 8, Watts: 1730}
	r := w.build(t)
	published.Fits(t, r)
	about(t, r, "gpu_power_avg", 1730)
	if c := r.Stages[0].Cost; c.Power.Method != result.MethodGiven || r.Stages[0].Metrics["gpu_power_peak"].Unit != "" {
		t.Errorf("%+v", c.Power)
	}
	w = healthy()
	w.plan.Cost = plan.Cost{GPUs: 8, Price: 1}
	r = w.build(t)
	published.Fits(t, r)
	if c := r.Stages[0].Cost; c.Power != nil || len(r.Notes) != len(healthy().build(t).Notes) {
		t.Errorf("power %+v, notes %q", c.Power, r.Notes)
	}
}

// What is not valid gives no figures of energy, and says why.
func TestCostNotValid(t *testing.T) {
	for _, c := range []struct {
		name string
		cost plan.Cost
		add  func(f *Inputs, p *plan.Plan)
		want string
	}{
		{"nothing was read", plan.Cost{Power: plan.PowerAuto}, func(f *Inputs, p *plan.Plan) {
			f.AddPower(p, &record.Power{Source: plan.PowerSMI, Error: "nvidia-smi is not installed here"})
		}, "no power was read of any GPU; nvidia-smi is not installed here"},
		{"it died", plan.Cost{Power: plan.PowerSMI}, func(f *Inputs, p *plan.Plan) {
			f.AddPower(p, drawn(0, 5*time.Second))
			f.AddPower(p, &record.Power{Source: plan.PowerSMI, Error: "nvidia-smi ended with exit status 1"})
		}, "GPU 1: the last reading came"},
		{"one is missing", plan.Cost{GPUs: 3, Power: plan.PowerSMI}, func(f *Inputs, p *plan.Plan) { f.AddPower(p, drawn(0, 12*time.Second)) }, "power was read of 2 GPUs, and 3 were expected"},
		{"another GPU", plan.Cost{Power: plan.PowerSMI, Devices: []string{"7"}}, func(f *Inputs, p *plan.Plan) { f.AddPower(p, drawn(0, 12*time.Second)) }, "has the index or UUID that was given"},
		{"the page is gone", plan.Cost{Power: "http://h/metrics"}, func(f *Inputs, p *plan.Plan) {
			f.AddProbe(p, record.Probe{Edge: record.ProbeBegin, Pages: []record.Page{{Error: "connection refused"}}})
		}, "no power was read of any GPU; connection refused"},
	} {
		w := healthy()
		c.cost.Price = 1
		w.plan.Cost = c.cost
		c.add(&w.facts, &w.plan)
		r := w.build(t)
		published.Fits(t, r)
		p := r.Stages[0].Cost.Power
		if _, ok := r.Stages[0].Metrics["total_gpu_energy"]; ok || p.Valid || !strings.Contains(strings.Join(p.Reasons, "; "), c.want) {
			t.Errorf("%s: %+v, want %q", c.name, p, c.want)
		}
		if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "There are no figures of energy: ") {
			t.Errorf("%s: notes %s", c.name, notes)
		}
		if !r.Verdict.Valid {
			t.Errorf("%s: the latencies are as good as ever: %q", c.name, r.Verdict.Reasons)
		}
	}
}

// paged is a look every second at a page of DCGM with one GPU of 400 W whose readings are a bit too
// high, and at that of another server.
func paged(w *world, counter func(at float64) float64) {
	for i := range 13 {
		at := time.Duration(i) * time.Second
		page := record.Page{At: at, Samples: []record.Sample{{Name: "DCGM_FI_DEV_POWER_USAGE", Labels: `gpu="0",UUID="GPU-a"`, Value: 440.25 + float64(i%2)/10}}}
		if counter != nil {
			page.Samples = append(page.Samples, record.Sample{Name: "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", Labels: `gpu="0",UUID="GPU-a"`, Counter: true, Value: counter(at.Seconds())})
		}
		edge := record.ProbeDuring
		if i == 0 || i == 12 {
			edge = record.ProbeEnd
		}
		w.facts.AddProbe(&w.plan, record.Probe{Edge: edge, At: at, Pages: []record.Page{{At: at}, page}})
	}
}

func TestCostOfPages(t *testing.T) {
	w := healthy()
	w.plan.Cost = plan.Cost{GPUs: 1, Price: 2, Power: "http://h:9400/metrics"}
	w.plan.Probes.Scrape = []string{"http://a/metrics"}
	paged(w, func(at float64) float64 { return 7e9 + 400e3*at })
	r := w.build(t)
	published.Fits(t, r)
	about(t, r, "gpu_power_avg", 400)
	p := r.Stages[0].Cost.Power
	if p.Method != result.MethodCounter || p.Source != result.SourceScrape ||
		math.Abs(p.Integral/(440.3*(r.Stages[0].Window.End-r.Stages[0].Window.Begin))-1) > 0.001 {
		t.Errorf("%+v", p)
	}
	if notes := fmt.Sprint(r.Notes); !strings.Contains(notes, "power readings differ by 10.1 %") {
		t.Errorf("notes %s", notes)
	}
	// Without a counter, or with one that began anew, the power is what there is.
	for _, counter := range []func(float64) float64{nil, func(at float64) float64 { return 400e3 * math.Mod(at, 5) }} {
		w := healthy()
		w.plan.Cost = plan.Cost{GPUs: 1}
		w.plan.Probes.Scrape = []string{"http://a/metrics", "http://h:9400/metrics"}
		paged(w, counter)
		r := w.build(t)
		about(t, r, "gpu_power_avg", 440.3)
		if p := r.Stages[0].Cost.Power; p.Method != result.MethodIntegral {
			t.Errorf("%+v", p)
		}
	}
}
