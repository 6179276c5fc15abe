package servermetrics

import (
	"math"
	"testing"

	"github.com/inferometer/inferometer/internal/record"
)

func TestReadings(t *testing.T) {
	s := func(name, labels string, v float64) record.Sample {
		return record.Sample{Name: name, Labels: labels, Value: v}
	}
	nan := math.NaN()
	for _, c := range []struct {
		name    string
		samples []record.Sample
		want    []Reading
	}{
		{"DCGM", []record.Sample{
			s("DCGM_FI_DEV_POWER_USAGE", `gpu="0",UUID="GPU-a",Hostname="n1"`, 412.5), s("DCGM_FI_DEV_POWER_USAGE", `gpu="1",UUID="GPU-b",Hostname="n1"`, 70),
			s("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", `gpu="0",UUID="GPU-a",Hostname="n1"`, 5000), s("DCGM_FI_DEV_GPU_TEMP", `gpu="0"`, 50),
		}, []Reading{{"GPU-a", "0", 412.5, 5}, {"GPU-b", "1", 70, nan}}},
		{"a GPU that is shared out", []record.Sample{
			s("DCGM_FI_DEV_POWER_USAGE", `gpu="0",UUID="GPU-a",GPU_I_ID="1"`, 300), s("DCGM_FI_DEV_POWER_USAGE", `gpu="0",UUID="GPU-a",GPU_I_ID="2"`, 300),
		}, []Reading{{"GPU-a", "0", 300, nan}}},
		{"Triton", []record.Sample{s("nv_gpu_power_usage", `gpu_uuid="GPU-a"`, 55), s("nv_energy_consumption", `gpu_uuid="GPU-a"`, 1234)}, []Reading{{"GPU-a", "0", 55, 1234}}},
		{"AMD", []record.Sample{
			s("gpu_package_power", `gpu_id="3",hostname="n"`, 700), s("gpu_power_usage", `gpu_id="3",hostname="n"`, 690), s("gpu_energy_consumed", `gpu_id="3",hostname="n"`, 2e6),
		}, []Reading{{"", "3", 700, 2}}},
		{"AMD with a prefix", []record.Sample{s("amd_gpu_power_usage", `gpu_id="0"`, 690)}, []Reading{{"", "0", 690, nan}}},
		{"something else by that name", []record.Sample{s("gpu_power_usage", `gpu="0"`, 10680)}, nil},
		{"nothing", nil, nil},
	} {
		got := Readings(c.samples)
		same := len(got) == len(c.want)
		for i := range min(len(got), len(c.want)) {
			g, w := got[i], c.want[i]
			same = same && g.UUID == w.UUID && g.Index == w.Index && alike(g.Watts, w.Watts) && alike(g.Joules, w.Joules)
		}
		if !same {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		for _, s := range c.samples {
			if !Known(s.Name) {
				t.Errorf("%s is not kept", s.Name)
			}
		}
	}
}

func alike(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
