package gate

import (
	"maps"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/metric"
)

// scales are the ways to write a value of a unit: what is behind the number, and what it makes
// of it. The empty one is a plain number.
func scales(unit string) map[string]float64 {
	switch unit {
	case metric.Milliseconds:
		return map[string]float64{"ms": 1, "s": 1e3, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "min": 60e3}
	case Share:
		return map[string]float64{"": 1, "%": 0.01}
	case metric.RequestRate:
		return map[string]float64{"": 1, "/s": 1, "rps": 1, "req/s": 1, "requests/s": 1, unit: 1, "/min": 1. / 60}
	case load:
		return map[string]float64{"": 1, "/s": 1, "rps": 1, "req/s": 1, "requests/s": 1, "sessions/s": 1, "in flight": 1, "requests in flight": 1}
	case metric.TokenRate:
		return map[string]float64{"": 1, "/s": 1, "tps": 1, "tok/s": 1, "tokens/s": 1, unit: 1}
	case metric.UserRate:
		return map[string]float64{"": 1, "/s": 1, "tokens/s": 1, "tokens/s/user": 1, unit: 1}
	}
	// Any other unit is written as it stands, by its first part ("$" of "$/1M tokens"), or left
	// out; joules and watts have their thousands.
	list := map[string]float64{"": 1, unit: 1}
	base, _, _ := strings.Cut(unit, "/")
	if rate, _, cut := strings.Cut(unit, "/sec"); cut {
		list["/s"], list[rate+"/s"] = 1, 1
	} else {
		list[base] = 1
	}
	if base == "J" || base == "W" {
		list["k"+base], list["M"+base] = 1e3, 1e6
	}
	return list
}

// inUnit is a number with what was written behind it, in the unit of a metric.
func inUnit(n float64, suffix, unit string) (float64, error) {
	all := scales(unit)
	scale, ok := all[suffix]
	if !ok {
		scale, ok = all[strings.ToLower(suffix)]
	}
	ways := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(s string) bool { return s == "" || s == "μs" })
	switch {
	case !ok && suffix == "":
		return 0, faultf("such as "+plain(n)+"ms", "%s has no unit", plain(n))
	case !ok:
		return 0, faultf("one of "+strings.Join(ways, ", "), "%s is not a unit of %s", quote(suffix), unit)
	case unit == Share && suffix == "" && (n > 1 || n < -1):
		return 0, faultf("write "+plain(n)+"% for per cent", "%s is more than 1, which is all of them", plain(n))
	}
	return n * scale, nil
}
