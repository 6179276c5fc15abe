// Package progress is the live view of a run. What it shows is a pure function of
// a Snapshot: View for a terminal, Line for a log. Display calls them at the
// right times and owns the screen while it runs.
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

// Snapshot is the state of a run at one time. Zero values are not shown where
// they mean that nothing is known.
type Snapshot struct {
	Run           string // which of several runs this is: "run 2 of 5"; empty: there is one
	Stage, Stages int    // this is stage Stage, from 1, of Stages
	Name          string // of the stage
	Load          string // in words
	Phase         Phase

	Elapsed time.Duration // since the phase began
	Total   time.Duration // how long the phase will take; 0: not known
	Done    int64         // requests of the phase that ended
	Limit   int64         // requests of the phase; 0: no limit
	Least   int64         // requests without which the phase goes on beyond its time; 0: it does not

	Sent, OK, Failed int64
	InFlight         int
	RateWanted       float64 // requests per second; 0: closed loop
	RateGot          float64
	TTFT, ITL        Latency
	OutputRate       float64      // tokens per second
	Judged           bool         // there are objectives
	Good             int64        // requests of the phase that met them
	Errors           []ErrorCount // the most frequent first
	Warnings         []string

	// Read is how many bytes of Size have been read of records; a size of 0: none are being read.
	Read, Size int64

	// Later is how long the stages after this one will take; below 0: not known.
	Later   time.Duration
	Earlier []Past // the stages before this one
	// How the stage went so far, the oldest first. What is not known of a time is NaN.
	Rates, FirstTokens, InFlights []float64 // requests per second, milliseconds, requests
}

// Past is a stage that has ended.
type Past struct {
	Stage      int // from 1
	Name, Load string
	Failed     int64
	Rate       float64 // requests per second
	TTFT       Latency
}

// Screen is what a view is drawn for.
type Screen struct {
	Width, Height int // columns and lines; a height of 0: as many as it takes
	Color         bool
	ASCII         bool // it may show no other characters
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
	// Reading is that of no run: saved ones are being read.
	Reading Phase = "reading"
)

// Latency is a distribution as far as the live view shows it; zero when
// nothing was measured yet.
type Latency struct {
	P50, P99 time.Duration
}

// ErrorCount counts the failures of one kind.
type ErrorCount struct {
	Kind  string
	Count int64
}

// The most that the view lists of each.
const (
	maxErrors   = 4
	maxWarnings = 2
	maxPast     = 3
)

// View draws s as a few lines. None is wider than the screen, so that none wraps, and there are
// no more than fit below one another, so that the next view can take their place.
func View(s Snapshot, to Screen) string {
	v := view{width: max(to.Width, 1), style: screen.Style(to.Color), ascii: to.ASCII}
	v.title(s)
	v.bar(s)
	if s.Phase == Reading {
		return strings.Join(v.lines, "\n") + "\n"
	}
	v.history(s)
	v.fields(detailFields(s)...)
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
	if to.Height > 0 && len(v.lines) > to.Height {
		v.lines = v.lines[:to.Height]
	}
	return strings.Join(append(v.past(s, to.Height), v.lines...), "\n") + "\n"
}

type view struct {
	width int
	style screen.Style
	ascii bool
	lines []string
}

// fit is a text that is no wider than the view, or than n columns of it.
func (v *view) fit(text string, n int) string {
	text = screen.Clip(text, n)
	if v.ascii {
		text = ascii(text)
	}
	return text
}

// add appends a line, clipped and then coloured.
func (v *view) add(text string, paint func(string) string) {
	v.lines = append(v.lines, paint(v.fit(text, v.width)))
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

// past are lines of the last stages before this one, where there is room for them.
func (v *view) past(s Snapshot, height int) []string {
	list := s.Earlier[max(len(s.Earlier)-maxPast, 0):]
	if height > 0 {
		list = list[max(len(list)-max(height-len(v.lines), 0), 0):]
	}
	var lines []string
	for _, p := range list {
		fields := []string{stageText(Snapshot{Stage: p.Stage, Stages: s.Stages, Name: p.Name, Load: p.Load}), perSecond(p.Rate)}
		if p.TTFT != (Latency{}) {
			fields = append(fields, "TTFT "+p.TTFT.text())
		}
		if p.Failed > 0 {
			fields = append(fields, number.Count(p.Failed)+" failed")
		}
		lines = append(lines, v.style.Dim(v.fit(strings.Join(fields, "   "), v.width)))
	}
	return lines
}

// The lengths of a sparkline.
const (
	sparkMin = 8
	sparkMax = 60
)

// history are the figures that a sparkline stands beside: how the stage went so far.
func (v *view) history(s Snapshot) {
	rows := []struct {
		name, value string
		values      []float64
	}{
		{"rate", rateText(s), s.Rates},
		{"TTFT", s.TTFT.text(), s.FirstTokens},
		{"in flight", number.Count(int64(s.InFlight)), s.InFlights},
	}
	widest := 0
	for _, r := range rows {
		widest = max(widest, screen.Width(r.value))
	}
	const label = 11
	room := min(v.width-label-widest-2, sparkMax)
	if room < sparkMin {
		fields := []string{rateText(s), number.Count(int64(s.InFlight)) + " in flight"}
		if s.TTFT != (Latency{}) {
			fields = append(fields, "TTFT "+s.TTFT.text())
		}
		v.fields(fields...)
		return
	}
	for _, r := range rows {
		if r.value != "" {
			v.add(strings.TrimRight(screen.Left(r.name, label)+screen.Left(r.value, widest)+"  "+spark(r.values, room), " "), plain)
		}
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
	v.lines = append(v.lines, v.style.Bold(screen.Left(v.fit(stageText(s), room), room))+" "+v.style.Dim(phase))
}

func stageText(s Snapshot) string {
	number := ""
	if s.Stages > 1 {
		number = fmt.Sprintf("stage %d/%d", s.Stage, s.Stages)
	}
	return screen.Join(": ", screen.Join(", ", s.Run, screen.Join(" ", number, screen.Clean(s.Name))), screen.Clean(s.Load))
}

// barMax is the length of the bar where there is room for it.
const barMax = 30

// bar shows how far the phase has come, with words where no end is known.
func (v *view) bar(s Snapshot) {
	text := timeText(s)
	if of := countText(s); of != "" {
		text += "   " + of
	}
	if left := leftText(s); left != "" {
		text += "   " + left
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
	if s.reads() {
		return min(max(float64(s.Read)/float64(s.Size), 0), 1), true
	}
	if s.Total > 0 {
		share = float64(s.Elapsed) / float64(s.Total)
	}
	if s.Limit > 0 {
		share = max(share, float64(s.Done)/float64(s.Limit))
	}
	return min(max(share, 0), 1), s.Total > 0 || s.Limit > 0
}

// reads reports whether it is records that are waited for.
func (s Snapshot) reads() bool { return s.Size > 0 && (s.Phase == Reading || s.Phase == Reporting) }

func timeText(s Snapshot) string {
	if s.reads() {
		return "records: " + megabytes(s.Read) + " of " + megabytes(s.Size) + " MB read"
	}
	text := clock(s.Elapsed)
	if s.Total > 0 {
		text += " of " + number.Duration(s.Total)
	}
	return text
}

func megabytes(n int64) string { return number.Count((n + 999_999) / 1_000_000) }

// countText says how many of the phase's requests have ended, where a number of them ends it.
func countText(s Snapshot) string {
	switch {
	case s.Limit > 0:
		return number.Count(s.Done) + " of " + number.Count(s.Limit) + " requests"
	case s.Least > s.Done:
		return number.Count(s.Done) + " of at least " + number.Count(s.Least) + " requests"
	}
	return ""
}

// clock writes elapsed time with a fixed number of decimals, so that the text
// does not change its length ten times a second.
func clock(d time.Duration) string {
	if d < 100*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return number.Duration(d)
}

// left is how long the phase will still take; false: that is not known.
func (s Snapshot) left() (time.Duration, bool) {
	if s.Phase != Measuring && s.Phase != WarmingUp {
		return 0, false
	}
	left, known := s.Total-s.Elapsed, s.Total > 0
	if s.Limit > 0 && s.RateGot > 0 {
		seconds := float64(s.Limit-s.Done) / s.RateGot
		if by := time.Duration(min(seconds, maxLeft.Seconds()) * float64(time.Second)); !known || by < left {
			left, known = by, true
		}
	}
	return max(left, 0), known && left < maxLeft
}

// maxLeft is a time that is as good as not known.
const maxLeft = 1000 * time.Hour

// leftText is how long the stage will still take, and all of the run; empty: that is not known.
func leftText(s Snapshot) string {
	left, ok := s.left()
	if !ok {
		return ""
	}
	text := wholeSeconds(left) + " left"
	if s.Stages > s.Stage && s.Later >= 0 && s.Phase == Measuring {
		text += fmt.Sprintf(" (%s in all)", wholeSeconds(left+s.Later))
	}
	return text
}

// wholeSeconds writes a time that is still to come, of which no fraction is known.
func wholeSeconds(d time.Duration) string {
	if d <= 0 {
		return "0 s"
	}
	return number.Duration((d + time.Second - 1).Truncate(time.Second))
}

func countFields(s Snapshot) []string {
	return []string{number.Count(s.OK) + " ok", number.Count(s.Failed) + " failed"}
}

func requestFields(s Snapshot) []string {
	return append(countFields(s), number.Count(int64(s.InFlight))+" in flight", rateText(s))
}

func rateText(s Snapshot) string {
	rate := perSecond(s.RateGot)
	if s.RateWanted > 0 {
		rate += " of " + number.Value(s.RateWanted, "") + "/s wanted"
	}
	return rate
}

// goodText is the goodput of the phase; empty: there are no objectives, or nothing to judge.
func goodText(s Snapshot) string {
	if !s.Judged || s.Phase == WarmingUp || s.Phase == Preparing || s.Elapsed <= 0 {
		return ""
	}
	text := "goodput " + perSecond(float64(s.Good)/s.Elapsed.Seconds())
	if n := s.OK + s.Failed; n > 0 {
		text += " (" + number.Share(float64(s.Good)/float64(n)) + ")"
	}
	return text
}

func perSecond(v float64) string {
	return number.ScaleFor("", v).Format(v) + "/s"
}

// detailFields are what stands below the sparklines.
func detailFields(s Snapshot) []string {
	fields := countFields(s)
	if good := goodText(s); good != "" {
		fields = append(fields, good)
	}
	return append(fields, tokenFields(s)...)
}

func tokenFields(s Snapshot) []string {
	var fields []string
	if s.ITL != (Latency{}) {
		fields = append(fields, "ITL "+s.ITL.text())
	}
	if s.OutputRate > 0 {
		fields = append(fields, number.ScaleFor("", s.OutputRate).Format(s.OutputRate)+" tokens/s")
	}
	return fields
}

func latencyFields(s Snapshot) []string {
	fields := tokenFields(s)
	if s.TTFT != (Latency{}) {
		fields = append([]string{"TTFT " + s.TTFT.text()}, fields...)
	}
	return fields
}

// text is a distribution in a few words; empty: nothing was measured yet.
func (l Latency) text() string {
	if l == (Latency{}) {
		return ""
	}
	return fmt.Sprintf("p50 %s p99 %s", milli(l.P50), milli(l.P99))
}

func milli(d time.Duration) string {
	v := float64(d) / float64(time.Millisecond)
	scale := number.ScaleFor("ms", v)
	return scale.Format(v) + " " + scale.Unit
}

func errorText(errors []ErrorCount) string {
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
		parts = append(parts, screen.Clean(e.Kind)+": "+number.Count(e.Count))
	}
	return strings.Join(parts, ", ")
}

// Line writes s as one line of plain text, without its end, for a log that
// too small to draw in. Warnings are left out: a log has them already.
func Line(s Snapshot) string {
	fields := []string{stageText(s), string(s.Phase) + " " + timeText(s)}
	fields = append(fields, countText(s))
	fields = append(fields, requestFields(s)...)
	fields = append(fields, latencyFields(s)...)
	fields = append(fields, goodText(s))
	if e := errorText(s.Errors); e != "" {
		fields = append(fields, "errors "+e)
	}
	fields = append(fields, leftText(s))
	return screen.Join(" | ", fields...)
}
