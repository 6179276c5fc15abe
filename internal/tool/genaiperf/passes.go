package genaiperf

import (
	"fmt"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// passes are the intervals of a measurement, for who wants to see each.
type passes struct {
	from, to time.Duration // of all of it
	each     time.Duration // of one; 0: there is one
	list     []pass
}

type pass struct {
	ended, failed int
	latency       time.Duration // of those that ended well, together
}

// add takes a measured request. What was broken off at the end belongs to no interval.
func (p *passes) add(rec *record.Record) {
	if f := rec.Failure; f != nil && f.Class.EndedHere() {
		return
	}
	i := 0
	if p.each > 0 { // what ended with the last belongs to it
		i = int(max(min(rec.End, p.to-1)-p.from, 0) / p.each)
	}
	for len(p.list) <= i {
		p.list = append(p.list, pass{})
	}
	one := &p.list[i]
	if rec.Failure != nil {
		one.failed++
		return
	}
	one.ended++
	one.latency += rec.End - rec.Sent
}

func (p *passes) report(note func(format string, args ...any)) {
	for i, one := range p.list {
		from, to := time.Duration(0), p.to-p.from
		if p.each > 0 {
			from = time.Duration(i) * p.each
			to = min(from+p.each, to)
		}
		text := fmt.Sprintf("Window %d, %.4g s to %.4g s: %d requests", i+1, from.Seconds(), to.Seconds(), one.ended)
		if one.failed > 0 {
			text += fmt.Sprintf(", %d failed", one.failed)
		}
		if one.ended > 0 && to > from {
			text += fmt.Sprintf(", %.4g per second, average latency %.4g ms", float64(one.ended)/(to-from).Seconds(), one.latency.Seconds()*1000/float64(one.ended))
		}
		note("%s.", text)
	}
}
