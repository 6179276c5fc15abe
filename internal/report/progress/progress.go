// Package progress is the live view of a run. What it shows is a pure function of
// a Snapshot: View for a terminal, Line for a log. Display calls them at the
// right moments and owns the screen while it runs.
//
// A few lines that are drawn again in place need a cursor movement and two
// erasures, which every terminal has known for decades. A framework would take
// over the input, the signals and the exit of the program for that, and none of
// it could be tested by comparing strings.
package progress

import (
	"fmt"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/report/screen"
)

// Snapshot is the state of a run at one moment. Zero values are not shown where
// they mean that nothing is known.
type Snapshot struct {
	Stage, Stages int    // this is stage Stage, from 1, of Stages
	Name          string // of the stage
	Load          string // in words
	Phase         Phase

	Elapsed time.Duration // since the phase began
	Total   time.Duration // how long the phase will take; 0: not known
	Done    int64         // requests of the phase that ended
	Limit   int64         // requests of the phase; 0: no limit

	Sent, OK, Failed int64
	InFlight         int
	RateWanted       float64 // requests per second; 0: closed loop
	RateGot          float64
	TTFT, ITL        Latency
	OutputRate       float64 // tokens per second
	Errors           []Error // the most frequent first
	Warnings         []string
}

// Phase is what a stage is doing.
type Phase string

// The phases of a stage.
const (
	Preparing Phase = "preparing"
	WarmingUp Phase = "warm-up"
	Measuring Phase = "measuring"
	Draining  Phase = "draining"
	Reporting Phase = "reporting"
)

// Latency is a distribution as far as the live view shows it; zero when
// nothing was measured yet.
type Latency struct {
	P50, P99 time.Duration
}

// Error counts the failures of one class.
type Error struct {
	Class string
	Count int64
}

// The most that the view lists of each.
const (
	maxErrors   = 4
	maxWarnings = 2
)

// View draws s as a few lines for a terminal that is width columns wide. No line
// is wider than that, so none wraps and the next view can take its place.
func View(s Snapshot, width int, color bool) string {
	v := view{width: max(width, 1), style: screen.Style(color)}
	v.title(s)
	v.bar(s)
	v.fields(requestFields(s)...)
	v.fields(latencyFields(s)...)
	if e := errorText(s.Errors); e != "" {
		v.add("errors: "+e, v.style.Bad)
	}
	for i, w := range s.Warnings {
		if i == maxWarnings {
			v.add(fmt.Sprintf("and %d more warnings", len(s.Warnings)-i), v.style.Warn)
			break
		}
		v.add("warning: "+screen.Clean(w), v.style.Warn)
	}
	return strings.Join(v.lines, "\n") + "\n"
}

// view gathers the lines of a view.
type view struct {
	width int
	style screen.Style
	lines []string
}

// add appends a line, clipped and then coloured.
func (v *view) add(text string, paint func(string) string) {
	v.lines = append(v.lines, paint(screen.Clip(text, v.width)))
}

func plain(s string) string { return s }

// fields appends the fields in as few lines as they need.
func (v *view) fields(fields ...string) {
	line := ""
	for _, f := range fields {
		switch {
		case line == "":
			line = f
		case screen.Width(line)+3+screen.Width(f) > v.width:
			v.add(line, plain)
			line = f
		default:
			line += "   " + f
		}
	}
	if line != "" {
		v.add(line, plain)
	}
}

// title is the stage on the left and its phase on the right.
func (v *view) title(s Snapshot) {
	phase := string(s.Phase)
	room := v.width - screen.Width(phase) - 1
	if room < 0 {
		v.add(phase, v.style.Dim)
		return
	}
	text := screen.Clip(stageText(s), room)
	v.lines = append(v.lines, v.style.Bold(screen.Left(text, room))+" "+v.style.Dim(phase))
}

func stageText(s Snapshot) string {
	number := ""
	if s.Stages > 1 {
		number = fmt.Sprintf("stage %d/%d", s.Stage, s.Stages)
	}
	return screen.Join(": ", screen.Join(" ", number, screen.Clean(s.Name)), screen.Clean(s.Load))
}

// barMax is the length of the bar where there is room for it.
const barMax = 30

// bar shows how far the phase has come, with words where no end is known.
func (v *view) bar(s Snapshot) {
	text := timeText(s)
	if s.Limit > 0 {
		text += fmt.Sprintf("   %s of %s requests", number.Count(s.Done), number.Count(s.Limit))
	}
	share, ok := s.share()
	if !ok {
		v.add(text, plain)
		return
	}
	length := min(barMax, v.width-screen.Width(text)-len("[] 100 %   "))
	if length < 5 {
		v.add(fmt.Sprintf("%3d %%   %s", int(share*100), text), plain)
		return
	}
	full := int(share * float64(length))
	v.add(fmt.Sprintf("[%s%s] %3d %%   %s", strings.Repeat("=", full), strings.Repeat(" ", length-full), int(share*100), text), plain)
}

// share is how much of the phase is over: by time or by requests, whichever
// is nearer to its end.
func (s Snapshot) share() (float64, bool) {
	share := 0.0
	if s.Total > 0 {
		share = float64(s.Elapsed) / float64(s.Total)
	}
	if s.Limit > 0 {
		share = max(share, float64(s.Done)/float64(s.Limit))
	}
	return min(max(share, 0), 1), s.Total > 0 || s.Limit > 0
}

func timeText(s Snapshot) string {
	text := clock(s.Elapsed)
	if s.Total > 0 {
		text += " of " + number.Duration(s.Total)
	}
	return text
}

// clock writes elapsed time with a fixed number of decimals, so that the text
// does not change its length ten times a second.
func clock(d time.Duration) string {
	if d < 100*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return number.Duration(d)
}

func requestFields(s Snapshot) []string {
	fields := []string{
		number.Count(s.OK) + " ok",
		number.Count(s.Failed) + " failed",
		number.Count(int64(s.InFlight)) + " in flight",
	}
	rate := perSecond(s.RateGot)
	if s.RateWanted > 0 {
		rate += " of " + number.Value(s.RateWanted, "") + "/s wanted"
	}
	return append(fields, rate)
}

func perSecond(v float64) string {
	return number.ScaleFor("", v).Format(v) + "/s"
}

func latencyFields(s Snapshot) []string {
	var fields []string
	for _, l := range []struct {
		name string
		of   Latency
	}{{"TTFT", s.TTFT}, {"ITL", s.ITL}} {
		if l.of != (Latency{}) {
			fields = append(fields, fmt.Sprintf("%s p50 %s p99 %s", l.name, milli(l.of.P50), milli(l.of.P99)))
		}
	}
	if s.OutputRate > 0 {
		fields = append(fields, number.ScaleFor("", s.OutputRate).Format(s.OutputRate)+" tokens/s")
	}
	return fields
}

func milli(d time.Duration) string {
	v := float64(d) / float64(time.Millisecond)
	scale := number.ScaleFor("ms", v)
	return scale.Format(v) + " " + scale.Unit
}

func errorText(errors []Error) string {
	var parts []string
	for i, e := range errors {
		if i == maxErrors {
			rest := "and 1 more kind"
			if n := len(errors) - i; n > 1 {
				rest = fmt.Sprintf("and %d more kinds", n)
			}
			parts = append(parts, rest)
			break
		}
		parts = append(parts, screen.Clean(e.Class)+" "+number.Count(e.Count))
	}
	return strings.Join(parts, ", ")
}

// Line writes s as one line of plain text, without its end, for a log that
// nobody can draw in. Warnings are left out: a log has them already.
func Line(s Snapshot) string {
	fields := []string{stageText(s), string(s.Phase) + " " + timeText(s)}
	if s.Limit > 0 {
		fields = append(fields, number.Count(s.Done)+" of "+number.Count(s.Limit)+" requests")
	}
	fields = append(fields, requestFields(s)...)
	fields = append(fields, latencyFields(s)...)
	if e := errorText(s.Errors); e != "" {
		fields = append(fields, "errors "+e)
	}
	return screen.Join(" | ", fields...)
}
