package args

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
)

// windowed reports whether windows end the stages.
func (b *builder) windowed() bool {
	for _, o := range flagsOf("Levels and windows") {
		if b.given(o.name) && (o.name == "window" && !b.traceWindow() || strings.HasPrefix(o.path, "measurement.")) {
			return true
		}
	}
	return false
}

// levels puts the flags about levels that need more than their value.
func (b *builder) levels() {
	if b.given("window") && !b.traceWindow() {
		b.window(b.last("window"))
	}
	if !b.given("levels") {
		return
	}
	flag, text := b.shown("levels"), b.last("levels")
	if strings.Contains(text, "..") {
		list, err := spread(text, b.given("rate"))
		if err != nil {
			b.fault(flag, err.Error(), "write it as 1..64 (doubling), 1..64x4 (each four times the last) or 1..64+8 (each 8 more)")
		}
		for i, v := range list {
			b.draft.Put(fmt.Sprintf("levels.list[%d]", i), flag, strconv.FormatFloat(v, 'g', -1, 64))
		}
		return
	}
	if !strings.Contains(text, ":") {
		for i, part := range strings.Split(text, ",") {
			b.draft.Put(fmt.Sprintf("levels.list[%d]", i), flag, strings.TrimSpace(part))
		}
		return
	}
	parts := strings.Split(text, ":")
	if len(parts) > 3 {
		b.fault(flag, strconv.Quote(shorten(text))+" is not a range", "write it as START:END:STEP")
		return
	}
	faults := len(b.draft.Faults)
	for i, field := range []string{"start", "end", "step"} {
		value := "1"
		if i < len(parts) {
			value = strings.TrimSpace(parts[i])
		}
		if value != "" || field != "end" {
			b.draft.Put("levels."+field, flag, value)
		}
	}
	if len(b.draft.Faults) == faults && !b.draft.Plan.Levels.On() {
		b.fault(flag, "must be more than 0", "leave it out if no levels are meant") // of nothing but zeros
	}
}

// listedLoad moves several loads that a flag of one was given to where levels are.
func (b *builder) listedLoad() plan.Faults {
	for _, name := range []string{"concurrency", "rate"} {
		text := b.last(name)
		if from, to, ok := strings.Cut(text, "-"); ok && positive(from) && positive(to) {
			delete(b.flags, name) // it has been said what is wrong with it
			return plan.Faults{{Where: b.shown(name), Path: name, Text: strconv.Quote(shorten(text)) + " is not a load", Hint: "write " + from + ".." + to + " for levels that double, " + from + "," + to + " for two"}}
		}
		if !strings.ContainsAny(text, ",:") && !strings.Contains(text, "..") || len(b.flags[name]) > 1 || b.given("stage") {
			continue
		}
		if b.given("levels") {
			return plan.Faults{{Where: b.shown(name), Path: "levels", Text: "has several levels, and so has --levels", Hint: "keep one of them"}}
		}
		b.flags["levels"], b.typed["levels"] = []string{text}, strings.TrimPrefix(b.shown(name), "--")
		first := text[:strings.IndexAny(text+",", ",:.")]
		if dots := strings.Index(text, ".."); dots > 0 {
			first = text[:dots]
		}
		if _, err := strconv.ParseFloat(strings.TrimSpace(first), 64); err != nil {
			first = "1" // the list says what is wrong
		}
		b.flags[name] = []string{strings.TrimSpace(first)}
	}
	return nil
}

// positive reports whether a text is a number above 0.
func positive(text string) bool {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return err == nil && v > 0
}

// spread gives the levels from one to another: doubling, times a factor, or by steps, and the last
// one.
func spread(text string, fractions bool) ([]float64, error) {
	bad := fmt.Errorf("%q is not a range of levels", shorten(text))
	from, rest, _ := strings.Cut(text, "..")
	factor, step := 2.0, 0.0
	var err error
	to, by, ok := strings.Cut(rest, "x")
	if ok {
		factor, err = strconv.ParseFloat(strings.TrimSpace(by), 64)
	} else if to, by, ok = strings.Cut(rest, "+"); ok {
		factor = 1
		step, err = strconv.ParseFloat(strings.TrimSpace(by), 64)
	}
	start, err1 := strconv.ParseFloat(strings.TrimSpace(from), 64)
	end, err2 := strconv.ParseFloat(strings.TrimSpace(to), 64)
	if err != nil || err1 != nil || err2 != nil || !(start > 0) || !(end >= start) || !(factor >= 1) || !(step >= 0) || factor == 1 &&
		step == 0 {
		return nil, bad
	}
	var list []float64
	for v := start; v < end; v = v*factor + step {
		level := v
		if !fractions {
			level = math.Round(v)
		}
		if n := len(list); n == 0 || level > list[n-1] {
			list = append(list, level)
		}
		if len(list) > mostSpread {
			return nil, fmt.Errorf("%q makes more than %d levels", shorten(text), mostSpread)
		}
		if next := v*factor + step; next <= v {
			return nil, bad
		}
	}
	if n := len(list); n == 0 || list[n-1] < end {
		list = append(list, end)
	}
	return list, nil
}

// mostSpread bounds the levels of a range that is written short.
const mostSpread = 1000

// window is a length of windows: a time, or a number of requests.
func (b *builder) window(text string) {
	const flag = "--window"
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		b.draft.Put("measurement.mode", flag, plan.WindowCount)
		b.draft.Put("measurement.requests", flag, text)
		return
	}
	b.draft.Put("measurement.mode", flag, plan.WindowTime)
	b.draft.Put("measurement.interval", flag, text)
}
