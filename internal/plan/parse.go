package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/lib/truncate"
)

// String is the duration as a plan file writes it: "1m30s", "10m", "200ms".
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// ParseDuration reads "1m30s". A bare number other than 0 has no unit and is an error.
func ParseDuration(s string) (Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	if err == nil {
		return Duration(d), nil
	}
	if _, numErr := strconv.ParseFloat(s, 64); numErr == nil {
		return 0, fmt.Errorf("%s has no unit: write %ss or %sms", truncate.Input(s), truncate.Input(s), truncate.Input(s))
	}
	return 0, fmt.Errorf("%s is not a duration: write it as 200ms, 30s or 1m30s", truncate.Quote(s))
}

// ParseShare reads a share: 0.05 or 5%.
func ParseShare(s string) (float64, error) {
	num, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(num), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s is not a share: write it as 0.05 or 5%%", truncate.Quote(s))
	}
	if percent {
		v /= 100
	}
	return v, nil
}

// ParseMaxErrors reads a count of failed requests, "10", or a share, "5%".
func ParseMaxErrors(s string) (MaxErrors, error) {
	s = strings.TrimSpace(s)
	if strings.HasSuffix(s, "%") {
		share, err := ParseShare(s)
		return MaxErrors{Share: share}, err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return MaxErrors{}, fmt.Errorf("%s is neither a count such as 10 nor a share such as 5%%", truncate.Quote(s))
	}
	return MaxErrors{Count: n}, nil
}

// WarmupAuto is the warm-up that is found by itself.
const WarmupAuto = "auto"

// ParseWarmup reads a time, "5s", a number of requests, "100", or "auto".
func ParseWarmup(s string) (Warmup, error) {
	s = strings.TrimSpace(s)
	if s == WarmupAuto {
		return Warmup{Auto: true}, nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return Warmup{Requests: n}, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return Warmup{}, fmt.Errorf("%s is neither a time such as 5s nor a number of requests such as 100 nor auto", truncate.Quote(s))
	}
	return Warmup{Duration: Duration(d)}, nil
}

var errLength = errors.New("write it as 128, 100-200 or normal:mean=550,stddev=50,min=10,max=900")

// ParseLength reads a distribution of lengths: "128" is fixed, "100-200" is uniform, and
// "normal:mean=550,stddev=50,min=10,max=900" says it in full, with or without the name.
func ParseLength(s string) (Length, error) {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return Length{Dist: DistFixed, Mean: n}, nil
	}
	if lo, hi, ok := strings.Cut(s, "-"); ok {
		from, err1 := strconv.Atoi(strings.TrimSpace(lo))
		to, err2 := strconv.Atoi(strings.TrimSpace(hi))
		if err1 == nil && err2 == nil {
			return Length{Dist: DistUniform, Min: from, Max: to}, nil
		}
	}
	dist, params, ok := strings.Cut(s, ":")
	if !ok {
		dist, params = "", s
	}
	l := Length{Dist: strings.TrimSpace(dist)}
	if dist != "" && !slices.Contains(Distributions(), l.Dist) {
		return Length{}, fmt.Errorf("%s is not a distribution%s: %w", truncate.Quote(l.Dist), suggest.DidYouMean(l.Dist, Distributions()), errLength)
	}
	for param := range strings.SplitSeq(params, ",") {
		if err := l.setParam(param); err != nil {
			return Length{}, err
		}
	}
	return l.Complete(), nil
}

// setParam takes one "mean=550".
func (l *Length) setParam(param string) error {
	key, value, ok := strings.Cut(param, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !ok {
		return fmt.Errorf("%s is not a length: %w", truncate.Quote(param), errLength)
	}
	var err error
	numbers := map[string]*float64{"mean": &l.Mean, "stddev": &l.Stddev, "skew": &l.Skew}
	counts := map[string]*int{"min": &l.Min, "max": &l.Max}
	switch {
	case numbers[key] != nil:
		*numbers[key], err = strconv.ParseFloat(value, 64)
	case counts[key] != nil:
		*counts[key], err = strconv.Atoi(value)
	default:
		known := []string{"mean", "stddev", "min", "max", "skew"}
		return fmt.Errorf("%s is not a parameter of a length%s: %w", truncate.Quote(key), suggest.DidYouMean(key, known), errLength)
	}
	if err != nil {
		return fmt.Errorf("%s=%s is not a number: %w", key, truncate.Quote(value), errLength)
	}
	return nil
}

// Complete fills in the distribution that the parameters tell.
func (l Length) Complete() Length {
	switch {
	case l.Dist != "" || l == Length{}:
	case l.Stddev != 0:
		l.Dist = DistNormal
	case l.Mean == 0 && l.Max != 0:
		l.Dist = DistUniform
	default:
		l.Dist = DistFixed
	}
	return l
}

// Distributions are the kinds of distribution that a length may have.
func Distributions() []string {
	return []string{DistFixed, DistNormal, DistUniform, DistLognormal, DistSkew, DistPoisson}
}

// SLOMetrics are the metrics that goodput can be judged by: one duration for each request.
func SLOMetrics() []string {
	return []string{
		"time_to_first_token", "time_to_first_output_token", "time_to_second_token",
		"time_to_first_byte", "time_to_first_event", "time_to_first_token_from_due",
		"inter_token_latency", "inter_event_latency", "time_per_output_token", "longest_gap",
		"normalized_time_per_output_token", "request_latency", "request_latency_from_due",
	}
}

// SLOShortNames are the short names that sloAlias knows.
func SLOShortNames() []string {
	return []string{"ttft", "ttfot", "ttst", "ttfb", "itl", "tpot", "ntpot", "latency", "e2e"}
}

// SLOMetric is the full name of a metric's short name.
func SLOMetric(name string) string {
	full := map[string]string{
		"ttft": "time_to_first_token", "ttfot": "time_to_first_output_token", "ttst": "time_to_second_token", "ttfb": "time_to_first_byte",
		"itl": "inter_token_latency", "tpot": "time_per_output_token", "ntpot": "normalized_time_per_output_token",
		"latency": "request_latency", "e2e": "request_latency",
	}
	name = strings.TrimSpace(name)
	return cmp.Or(full[strings.ReplaceAll(strings.ToLower(name), "-", "_")], name)
}
