package clock

// segments tells reads apart that brought one segment: all of their bytes came at once.
type segments struct {
	bytes int64 // that were read, over the connection's life
	taken int64 // segments read before what was there at once, which is being read: at least so many
	after int64 // segments read with it, where that is known; 0: it is not
	asked bool  // about the read under way
	one   bool  // what the answer was
}

// newSegments is of a connection that has been read nothing from.
func newSegments() segments { return segments{taken: -1} }

// read notes a read of n bytes; fresh: the socket was empty before it.
func (g *segments) read(n int, fresh bool) {
	if fresh {
		g.taken, g.after = max(g.taken+1, g.after), 0
	}
	g.bytes += int64(n)
	g.asked = false
}

// told notes how many segments and bytes the kernel says it has received so far.
func (g *segments) told(segments, bytes int64) {
	if bytes == g.bytes {
		g.after = segments
	}
	g.asked, g.one = true, segments-g.taken == 1
}

// single reports whether the read under way is known to be of one segment.
func (s *socket) single() bool {
	if s.several {
		return false
	}
	if !s.segments.asked {
		n, bytes, ok := s.rx.received(s.raw)
		s.segments.told(n, bytes)
		s.segments.one = s.segments.one && ok
	}
	return s.segments.one
}
