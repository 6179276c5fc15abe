package planfile

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestCost(t *testing.T) {
	for _, c := range []struct{ text, fault string }{
		{"{gpus: 8, gpu_hour_price: 2.10}", ""},
		{"{gpus: 8, gpu_watts: 1730}", ""},
		{"{power: auto}", ""},
		{"{power: nvidia-smi, devices: ['0', GPU-1], interval: 500ms, gpu_hour_price: 2}", ""},
		{"{power: 'http://h:9400/metrics', gpus: 1}", ""},
		{"{power: none, gpus: 1, gpu_watts: 700}", ""},
		{"{gpu_hour_price: 2}", "cost.gpus: is missing"},
		{"{gpu_hour_price: 2}\nprobes: {scrape: 'http://h/metrics'}", ""},
		{"{gpu_watts: 700}", "cost.gpus: is missing"},
		{"{gpus: 1, gpu_watts: 700, power: auto}", "cost.gpu_watts: cannot be combined with cost.power"},
		{"{gpus: -1}", "cost.gpus"},
		{"{gpus: 1, gpu_hour_price: -2}", "cost.gpu_hour_price"},
		{"{gpus: 1, gpu_watts: 1e9}", "cost.gpu_watts"},
		{"{power: nvidia_smi}", `did you mean "nvidia-smi"`},
		{"{power: 'h:9400/metrics'}", "cost.power: has no scheme"},
		{"{power: 'grpc://h:1'}", "cost.power: is a gRPC address"},
		{"{power: nvidia-smi, interval: 1ms}", "cost.interval: is 1ms"},
		{"{power: nvidia-smi, devices: ['']}", "cost.devices: has an empty entry"},
		{"{gpu: 8}", "gpus"},
	} {
		_, err := load("p.yaml", []byte("target: {urls: 'http://h'}\nstages: [{concurrency: 1, requests: 1}]\ncost: "+c.text))
		switch {
		case c.fault == "" && err != nil:
			t.Errorf("%s: %v", c.text, err)
		case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)):
			t.Errorf("%s: %v, want %q", c.text, err, c.fault)
		}
	}
}

func TestPages(t *testing.T) {
	p := plan.Default()
	p.Probes.Scrape = []string{"http://a/metrics"}
	p.Cost.Power = "http://user:SEKRET@b:9400/metrics"
	if got := p.Pages(); !slices.Equal(got, []string{"http://a/metrics", p.Cost.Power}) || len(p.Probes.Scrape) != 1 {
		t.Errorf("pages %v", got)
	}
	text, err := Encode(&p)
	if err != nil || strings.Contains(string(text), "SEKRET") {
		t.Errorf("%v:\n%s", err, text)
	}
	p.Cost.Power = "http://a/metrics"
	if got := p.Pages(); len(got) != 1 {
		t.Errorf("pages %v", got)
	}
}
