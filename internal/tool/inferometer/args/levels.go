package args

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
)

// levelFlags are the flags about levels of load and measurement windows.
func levelFlags() []option {
	return []option{
		{name: "levels", arg: "LEVELS", help: "concurrency levels (rates with --rate) to run in turn: 1,4,8 or START:END:STEP; without END (1::1), up to the latency threshold"},
		{name: "search", arg: "KIND", path: "levels.search", help: "linear (default), or binary: find the highest level of the range below the latency threshold"},
		{name: "window", arg: "TIME|N", help: "measure each stage in windows of this time (5s) or of N requests until the last three agree"},
		{name: "stability", arg: "SHARE", path: "measurement.stability", help: "how much the last windows may differ (default 10%)"},
		{name: "window-percentile", arg: "P", path: "measurement.percentile", help: "latency percentile that must agree (default: the average)"},
		{name: "max-trials", arg: "N", path: "measurement.max_trials", help: "maximum number of windows per stage (default 10)"},
		{name: "latency-threshold", arg: "TIME", path: "measurement.latency_threshold", help: "a level with this latency or more fails, and ends a range"},
	}
}

// windowed reports whether windows end the stages.
func (b *builder) windowed() bool {
	for _, o := range levelFlags() {
		if b.given(o.name) && (o.name == "window" || strings.HasPrefix(o.path, "measurement.")) {
			return true
		}
	}
	return false
}

// levels puts the flags about levels that need more than their value.
func (b *builder) levels() {
	if b.given("window") {
		b.window(b.last("window"))
	}
	if !b.given("levels") {
		return
	}
	const flag = "--levels"
	text := b.last("levels")
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
