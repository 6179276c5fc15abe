package grpc

import (
	"compress/zlib"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	real "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// echo answers with what it got.
func echo(_ any, st real.ServerStream) error {
	m, err := recv(st)
	if err != nil {
		return err
	}
	return send(st, "%s again", m)
}

// identity is a certificate for 127.0.0.1 and a pool that trusts it.
func identity(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil)
	srv.StartTLS()
	defer srv.Close()
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	return srv.TLS.Certificates[0], pool
}

func TestUnary(t *testing.T) {
	cert, pool := identity(t)
	for _, compression := range []string{"", "gzip"} {
		for _, secured := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, tls %v", compression, secured), func(t *testing.T) {
				var options []real.ServerOption
				if secured {
					options = append(options, secure(t, cert))
				}
				s := serve(t, echo, options...)
				if secured {
					s.tls = &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}, ServerName: "example.com"}
				}
				c := s.client(t, Options{Compression: compression})
				if err := c.Warm(t.Context(), 2); err != nil {
					t.Fatal(err)
				}
				for i := range 3 {
					text := strings.Repeat("text ", 1+i*40_000)
					rec := &record.Exchange{Record: record.Record{Slot: i}}
					c.Unary(t.Context(), unaryMethod, message(t, c, "%s", text), rec)
					wantOK(t, rec, text+" again")
					for _, m := range rec.Marks {
						if compression != "" && m.Off != 0 && m.Off != len(rec.Body) {
							t.Errorf("a part of a compressed message is said to have been there: %+v", rec.Marks)
						}
					}
				}
				answer, err := c.Call(t.Context(), unaryMethod, []byte("call"))
				if err != nil || string(answer) != "call again" {
					t.Errorf("%q, %v", answer, err)
				}
			})
		}
	}
}

// zlibCodec is gRPC's "deflate", which grpc-go does not bring along.
type zlibCodec struct{}

func (zlibCodec) Name() string { return "deflate" }

func (zlibCodec) Compress(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }

func (zlibCodec) Decompress(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }

func TestDeflate(t *testing.T) {
	encoding.RegisterCompressor(zlibCodec{})
	s := serve(t, echo)
	c := s.client(t, Options{Compression: "deflate"})
	for range 2 {
		rec := &record.Exchange{}
		c.Unary(t.Context(), unaryMethod, message(t, c, "%s", strings.Repeat("abc", 1000)), rec)
		wantOK(t, rec, strings.Repeat("abc", 1000)+" again")
	}
	s = serve(t, counting)
	c = s.client(t, Options{Compression: "deflate"})
	for _, id := range []string{"a", "b"} {
		wantOK(t, ask(t, t.Context(), c, 0, id, "%s 5 x", id), want(id, 5, "x"))
	}
	if _, err := s.client(t, Options{Compression: "snappy"}).Prepare(nil); err == nil || !strings.Contains(err.Error(), `"snappy" is not known: use gzip or deflate`) {
		t.Errorf("%v", err)
	}
}

func TestStatusOfACall(t *testing.T) {
	s := serve(t, func(_ any, st real.ServerStream) error {
		_, _ = recv(st)
		return status.Error(codes.NotFound, "the model 'größe' is 100 % unknown")
	})
	c := s.client(t, Options{})
	_, err := c.Call(t.Context(), unaryMethod, nil)
	var e *StatusError
	if !errors.As(err, &e) || e.Code != NotFound || e.Message != "the model 'größe' is 100 % unknown" {
		t.Errorf("%v", err)
	}
	rec := &record.Exchange{}
	c.Unary(t.Context(), unaryMethod, message(t, c, ""), rec)
	wantFailure(t, rec, record.GRPCStatus, 5, "NOT_FOUND: the model 'größe' is 100 % unknown")
	if len(rec.Marks) == 0 || rec.End != rec.Marks[len(rec.Marks)-1].Time() {
		t.Errorf("ended at %v, marks %+v", rec.End, rec.Marks)
	}
}

func TestMetadata(t *testing.T) {
	got := make(chan metadata.MD, 1)
	s := serve(t, func(_ any, st real.ServerStream) error {
		md, _ := metadata.FromIncomingContext(st.Context())
		got <- md
		return echo(nil, st)
	})
	c := s.client(t, Options{Authority: "model.example", Metadata: []http1.Field{
		{Name: "Triton-Grpc-Key", Value: "secret"}, {Name: "trace-bin", Value: "\x00\xff"}, {Name: "User-Agent", Value: "other"}, {Name: "TE", Value: "x"},
	}})
	if _, err := c.Call(t.Context(), unaryMethod, nil); err != nil {
		t.Fatal(err)
	}
	md := <-got
	for name, want := range map[string]string{
		":authority": "model.example", "triton-grpc-key": "secret", "trace-bin": "\x00\xff", "user-agent": "other", "content-type": contentType,
	} {
		if v := md.Get(name); len(v) != 1 || v[0] != want {
			t.Errorf("%s: %q, want %q", name, v, want)
		}
	}
}

func TestUnaryLimits(t *testing.T) {
	s := serve(t, func(_ any, st real.ServerStream) error {
		<-st.Context().Done()
		return nil
	})
	c := s.client(t, Options{Limits: timedconn.Timeouts{FirstByte: 20 * time.Millisecond}})
	rec := &record.Exchange{}
	c.Unary(t.Context(), unaryMethod, message(t, c, "x"), rec)
	wantFailure(t, rec, record.NoFirstByte, 0, "")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Call(ctx, unaryMethod, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	c = s.client(t, Options{MaxMessage: 3})
	if _, err := c.Call(t.Context(), unaryMethod, []byte("four")); err == nil || !strings.Contains(err.Error(), "calling /test.Service/Unary: a message of 4 bytes") {
		t.Errorf("%v", err)
	}
}

// Whatever else listens on the port is named for what it is.
func TestNotAGRPCServer(t *testing.T) {
	var h2c http.Protocols
	h2c.SetUnencryptedHTTP2(true)
	for _, tt := range []struct {
		name   string
		http2  bool
		code   int
		body   string
		class  record.Class
		status int
		text   string
	}{
		{"HTTP/2, no such page", true, 404, "404 page not found", record.HTTPStatus, 404, `not a gRPC server: it answered with HTTP status 404, text/plain and "404 page not found"`},
		{"HTTP/2, a page", true, 200, "<html>", record.BadBody, 200, `not a gRPC server: it answered with HTTP status 200, text/plain and "<html>"`},
		{"HTTP/2, no page at all", true, 204, "", record.BadBody, 204, "not a gRPC server: it answered with HTTP status 204"},
		{"HTTP/1.1", false, 404, "404", record.BadBody, 0, `HTTP/1.1 40`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				w.WriteHeader(tt.code)
				fmt.Fprint(w, tt.body)
			}))
			if tt.http2 {
				srv.Config.Protocols = &h2c
			}
			srv.Start()
			defer srv.Close()
			c := (&server{addr: srv.Listener.Addr().String()}).client(t, Options{})
			defer c.Close()
			wantFailure(t, ask(t, t.Context(), c, 0, "a", "a"), tt.class, tt.status, tt.text)
			rec := &record.Exchange{}
			c.Unary(t.Context(), unaryMethod, message(t, c, ""), rec)
			wantFailure(t, rec, tt.class, tt.status, tt.text)
			if _, err := c.Call(t.Context(), unaryMethod, nil); err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A server that speaks TLS but not HTTP/2.
func TestTLSWithoutHTTP2(t *testing.T) {
	cert, pool := identity(t)
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}}
	srv.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	c := (&server{addr: srv.Listener.Addr().String(), tls: &tls.Config{RootCAs: pool, NextProtos: []string{"h2"}, ServerName: "example.com"}}).client(t, Options{})
	defer c.Close()
	rec := ask(t, t.Context(), c, 0, "a", "a")
	if rec.Failure == nil || rec.Failure.Class != record.TLSFailed || !strings.Contains(rec.Failure.Message, "http/1.1") && !strings.Contains(rec.Failure.Message, "application protocol") {
		t.Errorf("failure %+v", rec.Failure)
	}
}

// The response of a call that is not measured is bounded too, packed or not.
func TestLargestAnswer(t *testing.T) {
	s := serve(t, echo)
	for _, encoding := range []string{"", "gzip"} {
		c := s.client(t, Options{Control: limitio.Limit{Name: "limits.response", Bytes: 1000}, Compression: encoding})
		if _, err := c.Call(t.Context(), unaryMethod, make([]byte, 2000)); err == nil || !strings.Contains(err.Error(), "larger than 1000 bytes: raise limits.response") {
			t.Errorf("compressed with %q: %v", encoding, err)
		}
		if _, err := c.Call(t.Context(), unaryMethod, make([]byte, 990)); err != nil {
			t.Errorf("compressed with %q: %v", encoding, err)
		}
	}
}
