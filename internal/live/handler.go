package live

import (
	"io"
	"log"
	"net/http"
	"time"
)

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /metrics", s.metrics)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience))
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer") // the address may hold the token
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Security-Policy", "frame-ancestors 'none'")
		if r.URL.Path == "/favicon.ico" { // browsers ask without the token
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if status, reason := s.guard.admits(r); status != http.StatusOK {
			refuse(w, status, reason)
			return
		}
		if !s.watcher.Do(func() { mux.ServeHTTP(w, r) }) {
			refuse(w, http.StatusInternalServerError, "the live page has failed; the run goes on, and its report will be whole")
		}
	})
}

func (s *Server) page(w http.ResponseWriter, _ *http.Request) {
	text, err := s.html()
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(text)
}

func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	s.hub.follow(w, r, func() ([]byte, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.event()
	})
}

func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	kind, page, err := exposition(s.snapshot(), s.version, r.Header)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "writing the metrics: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(page)
}

// silent drops what the HTTP server says about its clients: the terminal belongs to the run.
func silent() *log.Logger { return log.New(io.Discard, "", 0) }
