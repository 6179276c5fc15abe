package pagedata

import (
	"math"
	"time"
)

const (
	// mostStretches and mostRows bound the cells of a heat map: more than a screen can show say nothing.
	mostStretches = 120
	mostRows      = 40
	// What is so much less than nine tenths of all is drawn in the lowest row of a heat map: gaps between
	// tokens that came in one packet would take most of it.
	heatReach = 50
)

// HeatMap is the series of a heat map of time spans: how many of each length there were in each stretch of
// time. In has those of a stretch between two edges, each span with how many there are of it. There is none
// where there is too little to draw.
func HeatMap(to *Planes, name, title, group string, edges []float64, in func(i int, add func(span time.Duration, n uint64))) []Series {
	stretches := len(edges) - 1
	if stretches < 2 {
		return nil
	}
	stride := (stretches + mostStretches - 1) / mostStretches
	cells := make([]map[int]uint64, (stretches+stride-1)/stride)
	times := make([]float64, 0, len(cells)+1)
	all, total := map[int]uint64{}, uint64(0)
	for i := range stretches {
		if i%stride == 0 {
			cells[i/stride], times = map[int]uint64{}, append(times, edges[i])
		}
		in(i, func(span time.Duration, n uint64) {
			c := max(cellOf(int64(span)), 1)
			cells[i/stride][c] += n
			all[c] += n
			total += n
		})
	}
	times = append(times, edges[stretches])
	if total == 0 {
		return nil
	}
	least, most := reachOf(all, total)
	shift := 0
	for (most-1)>>shift-(least-1)>>shift+1 > mostRows {
		shift++
	}
	first, rows := (least-1)>>shift, (most-1)>>shift-(least-1)>>shift+1
	values := make([]float64, rows+1)
	for i := range values {
		values[i] = cellMS((first+i)<<shift + 1)
	}
	counts := make([]int64, len(cells)*rows)
	for i, stretch := range cells {
		for c, n := range stretch {
			row := min(max((c-1)>>shift-first, 0), rows-1)
			counts[i*rows+row] += int64(n)
		}
	}
	lo, v := to.Floats(values), to.Ints(counts)
	return []Series{{Name: name, Title: title, Unit: "ms", Group: group, Kind: Heat, Column: Columns{T: to.Floats(times), Lo: &lo, V: &v}}}
}

// reachOf are the cells between which a heat map lies.
func reachOf(all map[int]uint64, total uint64) (least, most int) {
	least = math.MaxInt
	for c := range all {
		least, most = min(least, c), max(most, c)
	}
	below, ninth := uint64(0), least
	for c := least; c <= most; c++ {
		if below += all[c]; below*10 >= total*9 {
			ninth = c
			break
		}
	}
	for ; least < ninth && cellMS(least) < cellMS(ninth)/heatReach; least++ {
		continue
	}
	return least, most
}

// each gives the spans of a spread: the middle of each cell, with how many there are.
func (s *spread) each(add func(span time.Duration, n uint64)) {
	for i, n := range s.counts {
		if n > 0 {
			add(time.Duration((cellMS(s.first+i)+cellMS(s.first+i+1))/2*float64(time.Millisecond)), uint64(n))
		}
	}
}
