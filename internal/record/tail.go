package record

import (
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
)

// Tail is what is kept of the events of a stream that was too long to keep them one by
// one: those behind the last of Record.Events. Counts, sums and stamps are exact.
type Tail struct {
	Events  int64         // that carry tokens
	Others  int64         // that carry none
	Tokens  int64         // in each of Events; -1: not known
	Text    int64         // bytes of their text that are not in Record.Text
	First   time.Duration // stamp of the first of Events
	Last    time.Duration // stamp of the last of them
	Visible time.Duration // stamp of the first with visible text; Never: none
	Gaps    TailHistogram // time before each of Events since the event with tokens before it
	Reads   int64         // reads that are not in Record.Marks
	Delays  TailHistogram // of those with a kernel stamp, between that and the user's

	// How long before First, Last and Visible those events can have come, and the least and the
	// greatest that each of Gaps can have been; empty: Gaps are exact.
	FirstBlur, LastBlur, VisibleBlur time.Duration
	Least, Greatest                  TailHistogram
}

// Blurred reports whether the gaps are known only by their bounds.
func (t *Tail) Blurred() bool { return t.Least.n > 0 }

// Gap adds a gap that was at least and at most so long.
func (t *Tail) Gap(v, least, greatest int64) {
	if !t.Blurred() && least != greatest {
		t.Least, t.Greatest = t.Gaps.clone(), t.Gaps.clone()
	}
	exact := least == greatest && !t.Blurred()
	t.Gaps.Add(v)
	if !exact {
		t.Least.Add(least)
		t.Greatest.Add(greatest)
	}
}

// Reads is the number of reads, kept or not.
func (r *Record) Reads() int {
	if r.Tail != nil {
		return len(r.Marks) + int(r.Tail.Reads)
	}
	return len(r.Marks)
}

// TailHistogram is how values spread, in bins of less than a thousandth of their values. Its
// sum, count and extremes are exact.
type TailHistogram struct {
	bins     map[uint32]Bin
	n, sum   int64
	min, max int64
}

// Bin is part of a Spread.
type Bin struct{ N, Sum int64 }

// binBits is how many bits of a value tell its bin.
const binBits = 11

// binOf is the bin of a value. Values below 1<<binBits have one each.
func binOf(v int64) uint32 {
	if v < 0 {
		return 0
	}
	shift := max(bits.Len64(uint64(v))-binBits, 0)
	return uint32(shift)<<binBits | uint32(v>>shift)
}

// Add adds a value.
func (s *TailHistogram) Add(v int64) { s.add(v, Bin{1, v}) }

func (s *TailHistogram) add(v int64, more Bin) {
	if s.bins == nil {
		s.bins = map[uint32]Bin{}
	}
	if s.n == 0 || v < s.min {
		s.min = v
	}
	if s.n == 0 || v > s.max {
		s.max = v
	}
	s.n += more.N
	s.sum += more.Sum
	i := binOf(v)
	b := s.bins[i]
	s.bins[i] = Bin{b.N + more.N, b.Sum + more.Sum}
}

func (s TailHistogram) clone() TailHistogram {
	s.bins = maps.Clone(s.bins)
	return s
}

// Equal reports whether two spreads are the same.
func (s TailHistogram) Equal(o TailHistogram) bool {
	return s.n == o.n && s.sum == o.sum && s.min == o.min && s.max == o.max && maps.Equal(s.bins, o.bins)
}

// Len is the number of values.
func (s *TailHistogram) Len() int64 { return s.n }

// Sum is the sum of the values.
func (s *TailHistogram) Sum() int64 { return s.sum }

// Max is the greatest value.
func (s *TailHistogram) Max() int64 { return s.max }

// Bins are the bins in the order of their values.
func (s *TailHistogram) Bins() []Bin {
	bins := make([]Bin, 0, len(s.bins))
	for _, k := range slices.Sorted(maps.Keys(s.bins)) {
		bins = append(bins, s.bins[k])
	}
	return bins
}

// Each calls f with values that spread as those added do, in pieces: as many of them,
// with their sum, least and greatest first. The piece is valid until f returns.
func (s *TailHistogram) Each(f func(values []int64)) {
	piece := make([]int64, 0, eachPiece)
	put := func(v int64) {
		if piece = append(piece, v); len(piece) == cap(piece) {
			f(piece)
			piece = piece[:0]
		}
	}
	bins := s.Bins()
	for i, b := range bins {
		if i == 0 && b.N > 1 { // the extremes are known, and leave the rest of their bins
			put(s.min)
			b = Bin{b.N - 1, b.Sum - s.min}
		}
		if i == len(bins)-1 && b.N > 1 {
			put(s.max)
			b = Bin{b.N - 1, b.Sum - s.max}
		}
		each, rest := b.Sum/b.N, b.Sum%b.N
		if rest < 0 {
			each, rest = each-1, rest+b.N
		}
		for j := range b.N {
			v := each
			if j < rest {
				v++
			}
			put(v)
		}
	}
	if len(piece) > 0 {
		f(piece)
	}
}

// eachPiece is how many values Each hands out at a time.
const eachPiece = 1024

// appendTail appends the field of a folded stream.
func appendTail(dst []byte, t *Tail) []byte {
	if t == nil {
		return dst
	}
	dst = append(dst, `,"tail":{"events":`...)
	dst = strconv.AppendInt(dst, t.Events, 10)
	dst = appendField(dst, `,"others":`, t.Others, 0)
	dst = appendField(dst, `,"tokens":`, t.Tokens, 1)
	dst = appendField(dst, `,"text":`, t.Text, 0)
	dst = appendMoment(dst, `,"first":`, t.First)
	dst = appendMoment(dst, `,"last":`, t.Last)
	dst = appendMoment(dst, `,"visible":`, t.Visible)
	dst = appendField(dst, `,"first_blur":`, int64(t.FirstBlur), 0)
	dst = appendField(dst, `,"last_blur":`, int64(t.LastBlur), 0)
	dst = appendField(dst, `,"visible_blur":`, int64(t.VisibleBlur), 0)
	dst = appendField(dst, `,"reads":`, t.Reads, 0)
	dst = appendSpread(dst, `,"gap_`, &t.Gaps)
	dst = appendSpread(dst, `,"delay_`, &t.Delays)
	dst = appendSpread(dst, `,"least_gap_`, &t.Least)
	dst = appendSpread(dst, `,"greatest_gap_`, &t.Greatest)
	return append(dst, '}')
}

func appendSpread(dst []byte, name string, s *TailHistogram) []byte {
	if s.n == 0 {
		return dst
	}
	dst = append(append(dst, name...), `range":[`...)
	dst = appendInt(dst, s.min)
	dst = appendInt(dst, s.max)
	dst[len(dst)-1] = ']'
	bins := s.Bins()
	dst = append(append(dst, name...), `n":[`...)
	for _, b := range bins {
		dst = appendInt(dst, b.N)
	}
	dst[len(dst)-1] = ']'
	dst = append(append(dst, name...), `sum":[`...)
	for _, b := range bins {
		dst = appendInt(dst, b.Sum)
	}
	dst[len(dst)-1] = ']'
	return dst
}

// tail reads the field of a folded stream.
func (d *lineDecoder) tail() *Tail {
	t := &Tail{Tokens: 1, First: Never, Last: Never, Visible: Never}
	spreads := map[string]*TailHistogram{"gap_": &t.Gaps, "delay_": &t.Delays, "least_gap_": &t.Least, "greatest_gap_": &t.Greatest}
	lists := map[*TailHistogram]*[3][]int64{}
	s := &d.scan
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if t.number(string(key), s) {
			continue
		}
		name := string(key)
		cut := strings.LastIndexByte(name, '_') + 1
		spread, which := spreads[name[:cut]], slices.Index([]string{"range", "n", "sum"}, name[cut:])
		if spread == nil || which < 0 {
			s.Skip()
			continue
		}
		if lists[spread] == nil {
			lists[spread] = new([3][]int64)
		}
		to := &lists[spread][which]
		for s.Array(); s.More(); {
			*to = append(*to, s.Int())
		}
	}
	fits := t.Events >= 0 && t.Others >= 0 && t.Reads >= 0
	for spread, l := range lists {
		fits = spread.restore(*l) && fits
	}
	if !fits || t.Gaps.n > t.Events || t.Least.n != t.Greatest.n || t.Blurred() && t.Least.n != t.Gaps.n {
		s.Fail("a tail whose numbers fit together")
	}
	return t
}

// number reads a field of a tail that is one number. False: it is none.
func (t *Tail) number(key string, s *jsonscan.Scanner) bool {
	switch key {
	case "events":
		t.Events = s.Int()
	case "others":
		t.Others = s.Int()
	case "tokens":
		t.Tokens = s.Int()
	case "text":
		t.Text = s.Int()
	case "first":
		t.First = time.Duration(s.Int())
	case "last":
		t.Last = time.Duration(s.Int())
	case "visible":
		t.Visible = time.Duration(s.Int())
	case "first_blur":
		t.FirstBlur = time.Duration(s.Int())
	case "last_blur":
		t.LastBlur = time.Duration(s.Int())
	case "visible_blur":
		t.VisibleBlur = time.Duration(s.Int())
	case "reads":
		t.Reads = s.Int()
	default:
		return false
	}
	return true
}

// restore puts back what appendSpread has written. False: that is not it.
func (s *TailHistogram) restore(lists [3][]int64) bool {
	ends, counts, sums := lists[0], lists[1], lists[2]
	if len(counts) != len(sums) || len(counts) > 0 && len(ends) != 2 {
		return false
	}
	for i, n := range counts {
		if n <= 0 {
			return false
		}
		s.add(sums[i]/n, Bin{n, sums[i]})
		if s.n <= 0 || s.n > mostValues {
			return false
		}
	}
	if len(counts) > 0 {
		s.min, s.max = ends[0], ends[1]
	}
	return true
}

// mostValues is what no run can have measured: a file that says so is not one of a run.
const mostValues = 1 << 40
