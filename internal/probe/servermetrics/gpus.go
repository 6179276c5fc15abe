package servermetrics

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/promtext"
	"github.com/inferometer/inferometer/internal/record"
)

// amd is AMD's Device Metrics Exporter. Only the label that tells its GPUs apart names AMD.
const amd = "amd"

// ofAMD reports whether a metric has a name of amd's, or the same with the exporter's optional
// prefix.
func ofAMD(name string) bool {
	name = strings.TrimPrefix(name, amdPrefix)
	return slices.ContainsFunc(Metrics(amd), func(m Metric) bool { return m.Own == name })
}

const (
	amdPrefix = "amd_"
	amdLabel  = "gpu_id"
)

// Reading is what a page says of the power of one GPU.
type Reading struct {
	UUID, Index string
	Watts       float64 // NaN: the page does not say
	Joules      float64 // that it has counted; NaN: it does not
}

// Readings are what a page says of the power of GPUs, in the order of the page. A GPU that is shared
// out has several lines, all about the whole of it: the highest counts.
func Readings(samples []record.Sample) []Reading {
	labels := promtext.NewReader()
	var all []Reading
	at := map[string]int{}
	find := func(s *record.Sample) *Reading {
		uuid := labels.Label(s.Labels, "UUID", "gpu_uuid")
		index := labels.Label(s.Labels, "gpu", amdLabel)
		key := uuid + " " + index + " " + labels.Label(s.Labels, "Hostname", "hostname")
		i, ok := at[key]
		if !ok {
			i, at[key] = len(all), len(all)
			all = append(all, Reading{UUID: uuid, Index: cmp.Or(index, "0"), Watts: math.NaN(), Joules: math.NaN()})
		}
		return &all[i]
	}
	set := func(v *float64, now float64) {
		if math.IsNaN(*v) || now > *v {
			*v = now
		}
	}
	x := indexOf(unprefixed(samples))
	for _, name := range []string{GPUPower, GPUEnergy} {
		for _, m := range powerMetrics(name) {
			found := x.samples(&m, "")
			for _, s := range found {
				r := find(s)
				if name == GPUPower {
					set(&r.Watts, s.Value*m.scale())
				} else {
					set(&r.Joules, s.Value*m.scale())
				}
			}
			if len(found) > 0 {
				break
			}
		}
	}
	return all
}

func powerMetrics(name string) []Metric {
	return slices.DeleteFunc(slices.Concat(Metrics(DCGM), Metrics(Triton), Metrics(amd)), func(m Metric) bool { return m.Name != name })
}

// unprefixed are the samples of GPU exporters under the known names, without lookalikes.
func unprefixed(samples []record.Sample) []record.Sample {
	var out []record.Sample
	for _, s := range samples {
		if ofAMD(s.Name) {
			if !strings.Contains(s.Labels, amdLabel+`="`) {
				continue
			}
			s.Name = strings.TrimPrefix(s.Name, amdPrefix)
		}
		out = append(out, s)
	}
	return out
}
