package timedconn

// records follows the framing of TLS, to tell where its records end in the reads of the socket.
type records struct {
	head [5]byte
	got  int  // bytes of the head
	left int  // bytes that the record still lacks
	ends int  // records that ended in the latest read
	torn bool // it ended inside one
}

// read takes in what a read of the socket brought.
func (r *records) read(p []byte) {
	r.ends = 0
	for len(p) > 0 {
		if r.left == 0 {
			n := copy(r.head[r.got:], p)
			p, r.got = p[n:], r.got+n
			if r.got < len(r.head) {
				break
			}
			r.left, r.got = int(r.head[3])<<8|int(r.head[4]), 0
			if r.left == 0 {
				r.ends++
			}
			continue
		}
		n := min(r.left, len(p))
		p = p[n:]
		if r.left -= n; r.left == 0 {
			r.ends++
		}
	}
	r.torn = r.left > 0 || r.got > 0
}
