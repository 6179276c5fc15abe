// Package cost is what tokens cost in money and in energy: the formulas that InferenceX
// publishes, and the energy of GPUs out of readings of their power.
package cost

// GPUUsage is what is known of the GPUs behind a measurement, over its window. What is 0 is not
// known.
type GPUUsage struct {
	GPUs   int
	Price  float64 // dollars for one GPU and hour
	Joules float64 // that all GPUs together used
	Peak   float64 // highest draw of one GPU, in watts
}

// The units that rates are turned into.
const (
	hour    = 3600
	million = 1e6
)

// PerMillion is how many dollars a million tokens cost which come at this rate, by the second
// and of all GPUs together: $/GPU/h × GPUs ÷ (tokens/s × 3600 ÷ 10⁶).
func (b *GPUUsage) PerMillion(perSecond float64) (dollars float64, known bool) {
	return over(b.Price*float64(b.GPUs), perSecond*hour/million)
}

// PerGPU is the share of one GPU in a rate.
func (b *GPUUsage) PerGPU(perSecond float64) (rate float64, known bool) {
	return perSecond / float64(max(b.GPUs, 1)), b.GPUs > 0
}

// PerMegawatt is the rate that a megawatt would give: tokens/s ÷ MW.
func (b *GPUUsage) PerMegawatt(perSecond, seconds float64) (rate float64, known bool) {
	megawatts, known := over(b.Joules/million, seconds)
	if !known {
		return 0, false
	}
	return perSecond / megawatts, true
}

// Watts is the mean draw of one GPU over so many seconds.
func (b *GPUUsage) Watts(seconds float64) (watts float64, known bool) {
	return over(b.Joules, seconds*float64(b.GPUs))
}

// JoulesPer is the energy of one of n tokens or requests, in joules.
func (b *GPUUsage) JoulesPer(n int64) (joules float64, known bool) { return over(b.Joules, float64(n)) }

// over is a ÷ b, where both are known.
func over(a, b float64) (float64, bool) {
	if a <= 0 || b <= 0 {
		return 0, false
	}
	return a / b, true
}
