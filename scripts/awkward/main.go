// Command awkward puts a server with an awkward capacity behind a port, for make
// conformance-capacity: chat completions that take as long, and fail as often, as a model of
// internal/testkit/awkward says.
//
//	awkward -list
//	awkward -kind 'sudden cliff' -seed 3
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/testkit/awkward"
)

func main() {
	list := flag.Bool("list", false, "print the kinds of servers as JSON lines")
	name := flag.String("kind", "", "the server's kind")
	seed := flag.Uint64("seed", 1, "of its chance")
	flag.Parse()
	if err := run(*list, *name, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "awkward:", err)
		os.Exit(1)
	}
}

func run(list bool, name string, seed uint64) error {
	for _, k := range awkward.Kinds() {
		switch {
		case list:
			line := map[string]any{"kind": k.Name, "bound_ms": k.Bound.Milliseconds(), "quantile": k.Quantile, "load": k.Load, "sure": k.Sure, "must": k.Must}
			if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
				return err
			}
		case k.Name == name:
			return serve(k.New(seed))
		}
	}
	if list {
		return nil
	}
	return fmt.Errorf("there is no server of the kind %q: -list prints those that there are", name)
}

// serve answers on a free port, which it prints, until it is killed.
func serve(model awkward.Server) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	s := &server{model: model, begin: time.Now()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"awkward","object":"model"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	return (&http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}).Serve(l)
}

type server struct {
	begin time.Time

	mu    sync.Mutex
	model awkward.Server
	open  int // requests that are unanswered, and whose client is there
}

func (s *server) arrive() (awkward.Response, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	now := time.Now()
	return s.model.Arrive(now.Sub(s.begin)), now
}

// leave notes that a request is answered, or that its client has gone: with the last of those that
// wait a queue is empty.
func (s *server) leave(gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open--; gone && s.open == 0 {
		s.model.Abandon(time.Since(s.begin))
	}
}

func (s *server) chat(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	answer, at := s.arrive()
	gone := false
	defer func() { s.leave(gone) }()
	wait := time.NewTimer(time.Until(at.Add(answer.Took)))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-r.Context().Done():
		gone = true
		return
	}
	switch answer.Failure {
	case awkward.Refused:
		if err := reset(w); err != nil {
			fmt.Fprintln(os.Stderr, "awkward:", err)
		}
	case awkward.Failed:
		http.Error(w, `{"error":{"message":"it fails now and then"}}`, http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"yes"},"finish_reason":null}]}`+"\n\n"+
			`data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}
}

// reset ends a connection as a server does that is down.
func reset(w http.ResponseWriter) error {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		return errors.New("the connection cannot be had")
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		return err
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	return conn.Close()
}
