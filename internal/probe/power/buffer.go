package power

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// readingBuffer gathers readings until there are enough of them to be handed on.
type readingBuffer struct {
	meter      *Process
	gpus       []record.GPUPower
	begun      time.Duration // when the first of them came
	readings   int
	complaints *head // what the tool printed besides
	given      error // why it was given up
}

// mostNonsense is how many lines may come before the first reading.
const mostNonsense = 20

// fewLines are as many as are kept of what is no reading.
const fewLines = 3

// read takes what the tool prints until it ends.
func (p *readingBuffer) read(out io.Reader) {
	nonsense := 0
	lines(out, func(line string) {
		now := p.meter.opt.Now()
		gpu, watts, lag, ok := parse(line, time.Now())
		if !ok {
			if nonsense++; nonsense <= fewLines {
				fmt.Fprintln(p.complaints, line)
			}
			if nonsense == mostNonsense && p.readings == 0 {
				p.given = fmt.Errorf("%s prints no power: %s", Tool, p.complaints)
				p.meter.stop()
			}
			return
		}
		p.add(gpu, now-lag, watts)
		if now-p.begun >= batch {
			p.hand()
			p.begun = now
		}
	})
}

// parse reads a line: when it was measured, index and UUID of the GPU, watts. lag is how long ago that
// was: a tool that writes to a pipe may hold its lines back. A time that cannot be is none.
func parse(line string, now time.Time) (gpu record.GPUPower, watts float64, lag time.Duration, ok bool) {
	r := csv.NewReader(strings.NewReader(line))
	r.TrimLeadingSpace, r.LazyQuotes = true, true
	cells, err := r.Read()
	if err != nil || len(cells) != 4 {
		return gpu, 0, 0, false
	}
	number, _, _ := strings.Cut(cells[3], " ")
	watts, err = strconv.ParseFloat(number, 64)
	if _, bad := strconv.Atoi(cells[1]); bad != nil || err != nil || !(watts >= 0) || math.IsInf(watts, 0) {
		return gpu, 0, 0, false
	}
	if at, err := time.Parse("2006/01/02 15:04:05.000", cells[0]); err == nil {
		lag = now.Sub(at)
	}
	if lag < 0 || lag > mostLag {
		lag = 0
	}
	return record.GPUPower{Index: cells[1], UUID: cells[2]}, watts, lag, true
}

// mostLag is how far back a reading may have been taken. Further off, the tool has another clock.
const mostLag = time.Minute

// add puts a reading on the pile, and tells those who wait for one.
func (p *readingBuffer) add(gpu record.GPUPower, at time.Duration, watts float64) {
	p.readings++
	i := 0
	for i < len(p.gpus) && p.gpus[i].Index != gpu.Index {
		i++
	}
	if i == len(p.gpus) {
		p.gpus = append(p.gpus, gpu)
	}
	p.gpus[i].At, p.gpus[i].Watts = append(p.gpus[i].At, at), append(p.gpus[i].Watts, watts)

	m := p.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[gpu.Index] = at
	m.latest = at
	for _, other := range m.seen {
		m.latest = min(m.latest, other)
	}
	close(m.news)
	m.news = make(chan struct{})
}

func (p *readingBuffer) hand() {
	if len(p.gpus) > 0 {
		p.meter.opt.Take(record.Power{Source: Tool, Field: p.meter.field, GPUs: p.gpus})
		p.gpus = nil
	}
}

// ended says why the tool ended by itself.
func (p *readingBuffer) ended(err error) error {
	said := p.complaints.String()
	if p.readings == 0 && strings.Contains(said, "not a valid field") {
		return errField
	}
	how := "ended"
	if err != nil {
		how += " with " + err.Error()
	}
	text := Tool + " " + how
	if said != "" {
		text += ": " + said
	}
	if p.readings > 0 {
		p.meter.opt.Take(record.Power{Source: Tool, Field: p.meter.field, Error: text + fmt.Sprintf(" (after %.1f s of the run)", p.meter.opt.Now().Seconds())})
	}
	return errors.New(text)
}
