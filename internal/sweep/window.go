package sweep

import (
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/stat"
)

// late is how long after its time a request of a schedule counts as delayed.
const late = time.Millisecond

// Window is what was measured between two edges.
type Window struct {
	Begin      time.Duration
	End        time.Duration
	Requests   int64 // that ended well in it
	Failed     int64 // that ended badly in it
	Empty      int64 // that ended in it without a single response
	Responses  int64 // of Requests, those without text included
	Delayed    int64
	Sequences  int64 // whose last request is among Requests
	Throughput float64
	Streamed   float64
	SendRate   float64 // of merged windows alone

	Latency LatencyStats  // from sending to the last response
	First   *LatencyStats // from sending to the first response, where requests had several
	FromDue LatencyStats  // from when the request was due

	Send    time.Duration // to write a request, on average
	Receive time.Duration // from the first byte of a response to its last, on average
	Request time.Duration // from sending to the last byte, on average
	// Overhead is the client's share of a request's time, from its due time on: that before it was
	// sent.
	Overhead float64
}

// LatencyStats is a distribution of times.
type LatencyStats struct {
	Avg         time.Duration
	Std         time.Duration // of a sample; 0 for a single request
	Min         time.Duration
	Max         time.Duration
	Percentiles []Percentile
}

// Percentile is one percentile of a distribution.
type Percentile struct {
	P     int
	Value time.Duration
}

// Percentile is the percentile p, where it was worked out.
func (s *LatencyStats) Percentile(p int) (time.Duration, bool) {
	if i := slices.IndexFunc(s.Percentiles, func(q Percentile) bool { return q.P == p }); i >= 0 {
		return s.Percentiles[i].Value, true
	}
	return 0, false
}

// percentiles are those of every window, with the one that is compared.
func percentiles(extra int) []int {
	list := []int{50, 90, 95, 99}
	if extra > 0 && !slices.Contains(list, extra) {
		list = append(list, extra)
		slices.Sort(list)
	}
	return list
}

// WindowBetween is the window from begin, which is not in it, to end, which is. extra is a
// percentile besides the usual ones; 0: none.
func WindowBetween(samples []Sample, begin, end time.Duration, extra int) Window {
	w := Window{Begin: begin, End: end}
	var latency, first, fromDue []int64
	var send, receive, request, busy, whole time.Duration
	var sent int64
	for i := range samples {
		s := &samples[i]
		if begin < s.Sent && s.Sent <= end {
			sent++
		}
		if s.End <= begin || s.End > end || s.Warmup {
			continue
		}
		if s.Failed {
			w.Failed++
			continue
		}
		if s.Responses == 0 {
			w.Empty++
			continue
		}
		w.Requests++
		w.Responses += int64(s.Responses)
		if s.Sent-s.Due > late {
			w.Delayed++
		}
		if s.Ends {
			w.Sequences++
		}
		latency = append(latency, int64(s.latency()))
		fromDue = append(fromDue, int64(s.End-s.Due))
		first = append(first, int64(s.First-s.Sent))
		send += max(s.Written-s.Sent, 0)
		receive += max(s.Closed-s.Start, 0)
		request += s.Closed - s.Sent
		busy += s.Sent - s.Due
		whole += s.End - s.Due
	}
	if seconds := (end - begin).Seconds(); seconds > 0 {
		w.Throughput = float64(w.Requests) / seconds
		w.Streamed = float64(w.Responses) / seconds
		w.SendRate = float64(sent) / seconds
	}
	if w.Requests == 0 {
		return w
	}
	n := time.Duration(w.Requests)
	w.Send, w.Receive, w.Request = send/n, receive/n, request/n
	if whole > 0 {
		w.Overhead = float64(busy) / float64(whole)
	}
	list := percentiles(extra)
	w.Latency, w.FromDue = spread(latency, list), spread(fromDue, list)
	if w.Responses > w.Requests {
		f := spread(first, list)
		w.First = &f
	}
	return w
}

// pass is a window as of its end: how many requests were sent in it is known once those have ended.
func pass(w Window) Window {
	w.SendRate = 0
	return w
}

// spread works out a distribution. The values are sorted on the way.
func spread(values []int64, list []int) LatencyStats {
	if len(values) == 0 {
		return LatencyStats{}
	}
	slices.Sort(values)
	var sum int64
	for _, v := range values {
		sum += v
	}
	n := int64(len(values))
	s := LatencyStats{
		Avg: time.Duration(sum / n), Std: deviation(values),
		Min: time.Duration(values[0]), Max: time.Duration(values[n-1]),
	}
	for _, p := range list {
		s.Percentiles = append(s.Percentiles, Percentile{P: p, Value: time.Duration(stat.Nearest.Quantile(values, float64(p)/100))})
	}
	return s
}

// deviation is the standard deviation of a sample, with n−1.
func deviation(values []int64) time.Duration {
	if len(values) < 2 {
		return 0
	}
	var mean, squares float64
	for i, v := range values {
		d := float64(v) - mean
		mean += d / float64(i+1)
		squares += d * (float64(v) - mean)
	}
	return time.Duration(math.Sqrt(squares / float64(len(values)-1)))
}
