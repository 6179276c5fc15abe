package timedconn

// segments tells reads apart that brought one segment: all of their bytes came at once.
type segments struct {
	bytes int64 // that were read, over the connection's life
	taken int64 // segments read before what was there at once, which is being read: at least so many
	after int64 // segments read with it, where that is known; 0: it is not
	asked bool  // about the read in flight
	one   bool  // what the response was
	pause int   // how many reads are not asked about next
	spell int   // how many were not after the last response: it was "several" so often in a row

	// What the kernel had received when it was asked last and all of it was read: segments, and their bytes.
	lastSegments, lastBytes int64
}

// mostPause bounds how long a connection whose reads are all of several segments is not asked about.
const mostPause = 16

// skip reports whether a read is not asked about: where all are of several segments, as of a client
// that has more to read than it can, the responses cost time and help nothing.
func (g *segments) skip() bool {
	if g.pause == 0 {
		return false
	}
	g.pause--
	g.asked, g.one = true, false
	return true
}

// learn makes the pauses between questions longer or ends them.
func (g *segments) learn() {
	if g.one {
		g.spell = 0
		return
	}
	g.spell = min(2*g.spell+1, mostPause)
	g.pause = g.spell
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

// among is about how many segments the n bytes of the read in flight came in, given what was received
// so far: they are as long as those read since the kernel was asked last. What waits to be read may be
// one long segment, as a server sends what it had to keep: it says nothing of those before it.
func (g *segments) among(n int, segments, bytes int64) int64 {
	waiting := (max(0, bytes-g.bytes) + mostSegment - 1) / mostSegment
	read, all := max(int64(n), g.bytes-g.lastBytes), segments-g.lastSegments-waiting
	return min(segments-g.taken-waiting, (all*int64(n)+read-1)/read)
}

// mostSegment is how many bytes the longest segment has.
const mostSegment = 64 << 10

// told notes how many segments and bytes the kernel says it has received so far.
func (g *segments) told(segments, bytes int64) {
	if bytes == g.bytes {
		g.after, g.lastSegments, g.lastBytes = segments, segments, bytes
	}
	g.asked, g.one = true, segments-g.taken == 1
}

// single reports whether the read in flight is known to be of one segment.
func (s *socket) single() bool {
	if s.several {
		return false
	}
	if g := &s.segments; !g.asked && !g.skip() {
		n, bytes, ok := s.rx.received(s.raw)
		g.told(n, bytes)
		g.one = g.one && ok
		g.learn()
	}
	return s.segments.one
}
