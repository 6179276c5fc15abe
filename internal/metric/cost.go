package metric

import "github.com/inferometer/inferometer/internal/cost"

type kind struct{ id, name, of string }

func kinds() []kind {
	return []kind{{"total", "Total", "input and output"}, {"output", "Output", "output"}, {"input", "Input", "input"}}
}

// tokens are how many of a kind there were, where that is known.
func (t *Totals) tokens(kind string) (n int64, known bool) {
	switch kind {
	case "input":
		return t.In, t.InKnown > 0
	case "output":
		return t.Out, t.OutKnown > 0
	}
	return t.In + t.Out, t.InKnown > 0 && t.OutKnown > 0
}

func (t *Totals) seconds() float64 { return (t.End - t.Begin).Seconds() }

// billed gives the function that works a figure out of the rate of a kind of tokens.
func billed(kind string, figure func(b *cost.GPUUsage, rate, seconds float64) (float64, bool)) func(*Totals) (float64, bool) {
	return func(t *Totals) (float64, bool) {
		n, known := t.tokens(kind)
		rate, ok := t.per(float64(n), known)
		if !ok {
			return 0, false
		}
		return figure(&t.Bill, rate, t.seconds())
	}
}

// costs are the metrics of a window's money and energy, which need GPUs' readings: docs/cost.md.
func costs() []Def {
	var perGPU, dollars, megawatt, joules []Def
	for _, k := range kinds() {
		perGPU = append(perGPU, Def{
			ID: k.id + "_token_throughput_per_gpu", Name: k.name + " tokens/s per GPU", Unit: GPURate,
			Formula: k.id + "_token_throughput ÷ GPUs",
			Help:    "The share of one GPU in the " + k.of + " tokens per second.",
			Rate:    billed(k.id, func(b *cost.GPUUsage, rate, _ float64) (float64, bool) { return b.PerGPU(rate) }),
		})
		dollars = append(dollars, Def{
			ID: "cost_per_million_" + k.id + "_tokens", Name: "$ per million " + k.id + " tokens", Unit: PerMegatoken,
			Formula: "price of a GPU hour × GPUs ÷ (" + k.id + "_token_throughput × 3600 ÷ 10⁶)",
			Help:    "Dollars per million tokens, " + k.of + ", if they carry the whole price.",
			Rate:    billed(k.id, func(b *cost.GPUUsage, rate, _ float64) (float64, bool) { return b.PerMillion(rate) }),
		})
		megawatt = append(megawatt, Def{
			ID: k.id + "_tokens_per_second_per_megawatt", Name: k.name + " tokens/s per MW", Unit: MegawattRate,
			Formula: k.id + "_token_throughput ÷ (total_gpu_energy ÷ window) × 10⁶",
			Help:    "The " + k.of + " tokens per second that a megawatt would give.",
			Rate:    billed(k.id, (*cost.GPUUsage).PerMegawatt),
		})
		joules = append(joules, Def{
			ID: "energy_per_" + k.id + "_token", Name: "Energy per " + k.id + " token", Unit: PerToken,
			Formula: "total_gpu_energy ÷ Σ " + k.of + " tokens of successful requests",
			Help:    "Joules per token, if " + k.of + " tokens carry all the energy.",
			Rate: func(t *Totals) (float64, bool) {
				n, known := t.tokens(k.id)
				v, ok := t.Bill.JoulesPer(n)
				return v, known && ok
			},
		})
	}
	all := append(perGPU, append(dollars, append(megawatt, joules...)...)...)
	return append(all,
		Def{
			ID: "energy_per_request", Name: "Energy per request", Unit: PerRequest,
			Formula: "total_gpu_energy ÷ successful requests",
			Help:    "Joules per successful request.",
			Rate:    func(t *Totals) (float64, bool) { return t.Bill.JoulesPer(t.OK) },
		},
		Def{
			ID: "total_gpu_energy", Name: "GPU energy", Unit: Joules,
			Formula: "Σ over GPUs of the rise of their energy counter over the window, or of the integral of their power; or given power × GPUs × window",
			Help:    "What all GPUs used in the window.",
			Rate:    func(t *Totals) (float64, bool) { return t.Bill.Joules, t.Bill.Joules > 0 },
		},
		Def{
			ID: "gpu_power_avg", Name: "Average GPU power", Unit: Watts,
			Formula: "total_gpu_energy ÷ window ÷ GPUs",
			Help:    "Mean power of one GPU.",
			Rate:    func(t *Totals) (float64, bool) { return t.Bill.Watts(t.seconds()) },
		},
		Def{
			ID: "gpu_power_peak", Name: "Peak GPU power", Unit: Watts,
			Formula: "highest reading of any GPU in the window",
			Help:    "Peak power of one GPU, as far as readings show it.",
			Rate:    func(t *Totals) (float64, bool) { return t.Bill.Peak, t.Bill.Peak > 0 },
		},
	)
}

// AddCost puts in what the GPUs of a window cost, and works out the metrics that follow from it.
func (w *Stats) AddCost(b cost.GPUUsage) {
	w.Totals.Bill = b
	for _, d := range costs() {
		if v, ok := d.Rate(&w.Totals); ok {
			w.Stats[d.ID] = Stat{Def: &d, Avg: v}
		}
	}
}
