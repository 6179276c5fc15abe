package planfile

import "github.com/inferometer/inferometer/internal/plan"

// vllm checks what the requests of vLLM's serving benchmark are drawn from.
func (c *checker) vllm(d *plan.Data) {
	const at = "data.vllm_bench."
	v := &d.VLLM
	if d.Source != plan.SourceVLLM {
		return
	}
	c.choice(at+"kind", v.Kind, plan.VLLMKinds())
	file := v.Kind != plan.VLLMRandom && v.Kind != plan.VLLMRerank && v.Kind != plan.VLLMPrefixes
	switch {
	case file && d.File == "":
		c.add("data.file", "is missing", "give the data set")
	case !file && d.File != "":
		c.lacks("data.file", at+"kind", "is not read: requests of this kind are made up", "leave it out")
	case !file && v.Requests == 0:
		c.add(at+"requests", "is missing", "say how many")
	}
	if a := &v.Arrivals; !(a.Burstiness >= 0) || a.RampTo != 0 && !(a.Rate > 0) {
		c.add(at+"arrivals", "need a burstiness of at least 0, and a ramp the rate that it begins with", "")
	}
	if d.Salt != "" || d.Pool {
		c.add(at+"kind", "cannot be combined with salt or pool", "leave those out")
	}
}
