//go:build linux

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// seen is one request as the server saw it.
type seen struct {
	id       string
	seq      int64 // its number in the run; -1: its id has none
	received time.Time
	done     bool // the answer was sent to its end, or was about to be
}

// server is what a run measures. It streams answers of the chat API, and remembers every request.
type server struct {
	listener net.Listener
	http     *http.Server
	first    chan struct{} // closed when a request has come

	mu   sync.Mutex
	log  []*seen
	once sync.Once
}

func newServer() (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{listener: l, first: make(chan struct{})}
	s.http = &http.Server{Handler: http.HandlerFunc(s.answer)}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

func (s *server) url() string { return "http://" + s.listener.Addr().String() }

func (s *server) close() { _ = s.http.Close() }

func (s *server) requests() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]seen, len(s.log))
	for i, q := range s.log {
		list[i] = *q
	}
	return list
}

// began is when the first request came.
func (s *server) began() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.log) == 0 {
		return time.Time{}, false
	}
	return s.log[0].received, true
}

func (s *server) call(id string) *seen {
	q := &seen{id: id, seq: -1, received: time.Now()}
	if seq, err := strconv.ParseInt(id[strings.LastIndexByte(id, '-')+1:], 10, 64); err == nil {
		q.seq = seq
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, q)
	s.once.Do(func() { close(s.first) })
	return q
}

// answer streams an answer whose length in time and text follows from the request's id: most take 0.1 to 0.3 s, one
// in sixteen 1.5 s. They are 8 kB that do not compress, so that 40 of them fill a small disk.
func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return // it did not come in full
	}
	if r.URL.Path != "/v1/chat/completions" {
		http.NotFound(w, r)
		return
	}
	q := s.call(r.Header.Get("X-Request-Id"))
	hash := sha256.Sum256([]byte(q.id))
	pause := time.Duration(10+int(hash[0])/13) * time.Millisecond
	if hash[1]%16 == 0 {
		pause = 150 * time.Millisecond
	}
	w.Header().Set("Content-Type", "text/event-stream")
	const pieces = 10
	for range pieces {
		select {
		case <-time.After(pause):
		case <-r.Context().Done():
			return
		}
		var text strings.Builder
		for range 24 {
			hash = sha256.Sum256(hash[:])
			text.WriteString(hex.EncodeToString(hash[:]) + " ")
		}
		if _, err := fmt.Fprintf(w, "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", text.String()); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
	}
	s.mu.Lock()
	q.done = true // before the client can know it
	s.mu.Unlock()
	_, _ = fmt.Fprint(w, "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}
