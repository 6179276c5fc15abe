package mock

import (
	"net/http"
	"strconv"
	"time"
)

var _ sender = (*http1)(nil)

func (h *http1) begin(head head) {
	h.head = head
	h.chunked = head.length < 0 && h.minor >= 1
	if head.length < 0 && h.minor == 0 {
		// Without chunks the end of the connection is the end of the body.
		h.keep = false
	}
}

// send frames the body bytes in place and writes all that there is at once.
func (h *http1) send(buf *[]byte, last bool) (time.Time, error) {
	b := *buf
	from, size := reserve, len(b)-reserve
	if h.headOnly {
		b, size = b[:reserve], 0
	}
	if h.chunked && size > 0 {
		b = append(b, "\r\n"...)
		from -= 2
		b[from], b[from+1] = '\r', '\n'
		for n := size; n > 0; n >>= 4 {
			from--
			b[from] = "0123456789abcdef"[n&15]
		}
	}
	if h.chunked && last && !h.headOnly {
		b = append(b, "0\r\n\r\n"...)
	}
	if !h.headSent {
		h.headSent = true
		h.headBuf = h.appendHead(h.headBuf[:0])
		from -= len(h.headBuf)
		copy(b[from:], h.headBuf)
	}
	*buf = b
	if from == len(b) {
		return time.Now(), nil
	}
	h.wire.arm()
	_, err := h.nc.Write(b[from:])
	return h.wire.stamp(), err
}

// appendHead writes the status line and the headers. All of it fits the reserve.
func (h *http1) appendHead(b []byte) []byte {
	if h.head.status == http.StatusOK {
		b = append(b, "HTTP/1.1 200 OK\r\n"...)
	} else {
		b = append(b, "HTTP/1.1 "...)
		b = strconv.AppendInt(b, int64(h.head.status), 10)
		b = append(b, ' ')
		b = append(b, http.StatusText(h.head.status)...)
		b = append(b, "\r\n"...)
	}
	b = append(b, h.s.dateHeader(time.Now())...)
	b = append(b, "Server: inferometer-mock\r\nContent-Type: "...)
	b = append(b, h.head.ctype...)
	switch {
	case h.head.length >= 0:
		b = append(b, "\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(h.head.length), 10)
	case h.chunked:
		b = append(b, "\r\nTransfer-Encoding: chunked"...)
	}
	h.head.more(h.s.cfg.SessionToken, func(name, value string) {
		b = append(append(append(append(b, "\r\n"...), name...), ": "...), value...)
	})
	if !h.keep {
		b = append(b, "\r\nConnection: close"...)
	}
	return append(b, "\r\n\r\n"...)
}

func (h *http1) cut(reset bool) {
	h.keep = false
	if reset {
		abort(h.wire.Conn)
		return
	}
	// Below TLS: a truncated response has no close_notify.
	_ = h.wire.Conn.Close()
}

// watch starts to read ahead, which is how a client that leaves is noticed.
func (h *http1) watch() <-chan struct{} {
	w := &h.watcher
	if w.on {
		return w.gone
	}
	w.on, w.n = true, 0
	w.gone = make(chan struct{})
	w.stopping.Store(false)
	h.s.active.Go(func() {
		n, err := h.nc.Read(w.b[:])
		w.n = n
		if err != nil && !w.stopping.Load() {
			close(w.gone)
		}
		w.stopped <- struct{}{}
	})
	return w.gone
}

// unwatch ends the watch and keeps what it read for the next request.
func (h *http1) unwatch() {
	w := &h.watcher
	if !w.on {
		return
	}
	w.on = false
	w.stopping.Store(true)
	_ = h.nc.SetReadDeadline(time.Unix(1, 0))
	<-w.stopped
	_ = h.nc.SetReadDeadline(time.Time{})
	if w.n == 0 {
		return
	}
	// At the end of the unread bytes, for which there is always room after this.
	if h.w == len(h.in) {
		in := make([]byte, 2*len(h.in))
		h.w = copy(in, h.in[h.r:h.w])
		h.in, h.r = in, 0
	}
	h.in[h.w] = w.b[0]
	h.w++
}
