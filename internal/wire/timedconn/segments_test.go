package timedconn

import "testing"

// Segments of reads that nobody asked about are not taken for those of a late one.
func TestSegmentsAmong(t *testing.T) {
	const size = 90
	for _, c := range []struct {
		name       string
		each, last int64 // segments of the reads that were not asked about, and of the late one
		behind     int64 // bytes that wait behind the late one, in one segment
		want       int64
	}{
		{"one segment each", 1, 1, 0, 1},
		{"two segments each", 2, 2, 0, 2},
		{"three each, and then ten at once", 3, 10, 0, 10},
		{"one each, and then ten at once", 1, 10, 0, 10},
		{"ten at once, and a long one behind them", 1, 10, 60 * size, 10},
		{"one, and a long one behind it", 1, 1, 60 * size, 1},
	} {
		g := newSegments()
		g.read(size, true)
		g.told(1, size)
		received := int64(1)
		for range 20 {
			g.read(int(c.each*size), true)
			received += c.each
		}
		g.read(int(c.last*size), true)
		received += c.last
		bytes := received*size + c.behind
		received += min(c.behind, 1)
		if got := g.among(int(c.last*size), received, bytes); got != c.want {
			t.Errorf("%s: %d segments, want %d", c.name, got, c.want)
		}
	}
}
