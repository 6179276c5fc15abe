package openai

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	a := authority{}
	pair := a.issue(t, true)
	a.cert, _ = x509.ParseCertificate(pair.Certificate[0])
	a.key = pair.PrivateKey.(*ecdsa.PrivateKey)
	return a
}

// issue makes a certificate for this machine, signed by the authority, or by itself
// where there is none yet.
func (a authority) issue(t *testing.T, ca bool) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"target.test"},
		IsCA: ca, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func (a authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// seen is what a server saw of a request.
type seen struct {
	proto, host, uri, auth, remote string
}

// serve starts a server that answers "ok" and tells what it saw. It speaks TLS
// where it has a configuration for it.
func serve(t *testing.T, config *tls.Config) (addr string, got chan seen) {
	t.Helper()
	got = make(chan seen, 16)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		got <- seen{r.Proto, r.Host, r.RequestURI, r.Header.Get("Authorization"), r.RemoteAddr}
		_, _ = io.WriteString(w, "ok")
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.Config.Protocols = new(http.Protocols)
	srv.Config.Protocols.SetHTTP1(true)
	srv.Config.Protocols.SetHTTP2(true)
	srv.Config.Protocols.SetUnencryptedHTTP2(true)
	if config != nil {
		srv.TLS, srv.EnableHTTP2 = config, true
		srv.StartTLS()
	} else {
		srv.Start()
	}
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String(), got
}

// ask carries out one request as the plan's target says.
func ask(t *testing.T, url string, modern bool, config *tls.Config, change ...func(*plan.Target)) *record.Exchange {
	t.Helper()
	target := plan.Default().Target
	target.URLs, target.Model, target.HTTP2 = []string{url}, "m", modern
	for _, f := range change {
		f(&target)
	}
	if config == nil {
		config = new(tls.Config)
	}
	e, err := New(target, endpoint.Options{Clock: timedconn.NewClock(), TLS: config, RunID: "run", Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	call, err := e.Prepare(&prompt.Prompt{Text: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	rec := &record.Exchange{}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	call.Do(ctx, rec)
	return rec
}

func wantOK(t *testing.T, rec *record.Exchange) {
	t.Helper()
	if rec.Failure != nil || string(rec.Body) != "ok" {
		t.Fatalf("body %q, failure %+v", rec.Body, rec.Failure)
	}
}

func wantFailure(t *testing.T, rec *record.Exchange, class record.Class, text string) {
	t.Helper()
	if rec.Failure == nil || rec.Failure.Class != class || !strings.Contains(rec.Failure.Message, text) {
		t.Fatalf("failure %+v, want class %s and %q in its message", rec.Failure, class, text)
	}
}

// versions runs a test over HTTP/1.1 and HTTP/2.
func versions(t *testing.T, f func(t *testing.T, modern bool, proto string)) {
	t.Run("1.1", func(t *testing.T) { f(t, false, "HTTP/1.1") })
	t.Run("2", func(t *testing.T) { f(t, true, "HTTP/2.0") })
}

func TestTLS(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	open := &tls.Config{Certificates: []tls.Certificate{ours.issue(t, false)}}
	closed := open.Clone()
	closed.ClientAuth, closed.ClientCAs = tls.RequireAndVerifyClientCert, ours.pool()
	mine := []tls.Certificate{ours.issue(t, false)}
	for _, tt := range []struct {
		name   string
		server *tls.Config
		client *tls.Config
		class  record.Class // empty: it goes well
		text   string
	}{
		{"own authority", open, &tls.Config{RootCAs: ours.pool()}, "", ""},
		{"another authority", open, &tls.Config{RootCAs: theirs.pool()}, record.TLSFailed, "certificate"},
		{"the system's authorities", open, &tls.Config{}, record.TLSFailed, "certificate"},
		{"no verification", open, &tls.Config{InsecureSkipVerify: true}, "", ""},
		{"client certificate", closed, &tls.Config{RootCAs: ours.pool(), Certificates: mine}, "", ""},
		{"no client certificate", closed, &tls.Config{RootCAs: ours.pool()}, record.TLSFailed, "certificate required"},
		{"client certificate of another", closed, &tls.Config{
			RootCAs: ours.pool(),
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { // though nobody asked for it
				c := theirs.issue(t, false)
				return &c, nil
			},
		}, record.TLSFailed, "unknown certificate authority"},
		{"configuration with protocols of its own", open, &tls.Config{RootCAs: ours.pool(), NextProtos: []string{"h2", "http/1.1"}}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			versions(t, func(t *testing.T, modern bool, proto string) {
				addr, got := serve(t, tt.server.Clone())
				rec := ask(t, "https://"+addr, modern, tt.client)
				if tt.class != "" {
					wantFailure(t, rec, tt.class, tt.text)
					return
				}
				wantOK(t, rec)
				if rec.Conn.TLS <= 0 || rec.Conn.Connect <= 0 || rec.Conn.Reused {
					t.Errorf("connection %+v", rec.Conn)
				}
				if s := <-got; s.proto != proto {
					t.Errorf("the server spoke %s", s.proto)
				}
			})
		})
	}
}

func TestTLSToAServerWithoutIt(t *testing.T) {
	versions(t, func(t *testing.T, modern bool, _ string) {
		addr, _ := serve(t, nil)
		wantFailure(t, ask(t, "https://"+addr, modern, nil), record.TLSFailed, "")
	})
}

func TestWrongHostInCertificate(t *testing.T) {
	ca := newAuthority(t)
	addr, _ := serve(t, &tls.Config{Certificates: []tls.Certificate{ca.issue(t, false)}})
	_, port, _ := net.SplitHostPort(addr)
	wantFailure(t, ask(t, "https://localhost:"+port, false, &tls.Config{RootCAs: ca.pool()}), record.TLSFailed, "localhost")
}

func TestHostHeaderTakesThePlaceOfTheURLs(t *testing.T) {
	versions(t, func(t *testing.T, modern bool, _ string) {
		addr, got := serve(t, nil)
		wantOK(t, ask(t, "http://"+addr, modern, nil, func(p *plan.Target) {
			p.Headers = map[string]string{"host": "other.test", "content-length": "7"}
		}))
		if s := <-got; s.host != "other.test" {
			t.Errorf("the server was asked for %q", s.host)
		}
	})
}

// proxy is a small HTTP proxy that reaches one server, whatever it is asked for.
type proxy struct {
	to       string
	early    bool // sends the server's first bytes in one piece with its own response
	refuse   bool
	requests chan string // first line and authorization of what it was asked
}

func (p *proxy) start(t *testing.T) (addr string) {
	t.Helper()
	p.requests = make(chan string, 16)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.serve(t, c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

func (p *proxy) serve(t *testing.T, c net.Conn) {
	defer c.Close()
	var head bytes.Buffer
	for one := make([]byte, 1); !bytes.HasSuffix(head.Bytes(), []byte("\r\n\r\n")); {
		if _, err := c.Read(one); err != nil {
			return
		}
		head.WriteByte(one[0])
	}
	line, rest, _ := strings.Cut(head.String(), "\r\n")
	note := line
	for f := range strings.SplitSeq(rest, "\r\n") {
		if strings.HasPrefix(f, "Proxy-Authorization: ") {
			note += "|" + f
		}
	}
	p.requests <- note
	if p.refuse {
		_, _ = io.WriteString(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
		return
	}
	up, err := net.Dial("tcp", p.to)
	if err != nil {
		t.Error(err)
		return
	}
	defer up.Close()
	if strings.HasPrefix(line, "CONNECT ") {
		answer := []byte("HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n")
		if p.early {
			first := make([]byte, 4096)
			n, _ := up.Read(first)
			answer = append(answer, first[:n]...)
		}
		_, _ = c.Write(answer)
	} else {
		_, _ = io.WriteString(up, head.String())
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = io.Copy(up, c)
		_ = up.(*net.TCPConn).CloseWrite()
	})
	_, _ = io.Copy(c, up)
	_ = c.(*net.TCPConn).CloseWrite()
	wg.Wait()
}

// through makes the proxy variables name a proxy.
func through(t *testing.T, proxy string) {
	t.Helper()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, proxy)
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
}

func TestProxy(t *testing.T) {
	ca := newAuthority(t)
	config := &tls.Config{Certificates: []tls.Certificate{ca.issue(t, false)}}
	auth := "|Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("user:pass"))
	for _, tt := range []struct {
		name   string
		scheme string
		modern bool
		want   string // what the proxy is asked
	}{
		{"plain", "http", false, "POST http://target.test:81/v1/chat/completions HTTP/1.1" + auth},
		{"plain HTTP/2", "http", true, "CONNECT target.test:81 HTTP/1.1" + auth},
		{"TLS", "https", false, "CONNECT target.test:81 HTTP/1.1" + auth},
		{"TLS and HTTP/2", "https", true, "CONNECT target.test:81 HTTP/1.1" + auth},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var serverTLS *tls.Config
			if tt.scheme == "https" {
				serverTLS = config.Clone()
			}
			addr, got := serve(t, serverTLS)
			p := &proxy{to: addr}
			through(t, "http://user:pass@"+p.start(t))
			rec := ask(t, tt.scheme+"://target.test:81", tt.modern, &tls.Config{RootCAs: ca.pool()})
			wantOK(t, rec)
			if asked := <-p.requests; asked != tt.want {
				t.Errorf("the proxy was asked %q, want %q", asked, tt.want)
			}
			if s := <-got; s.host != "target.test:81" || s.uri != "/v1/chat/completions" && s.uri != "http://target.test:81/v1/chat/completions" {
				t.Errorf("the server saw %+v", s)
			}
			if rec.Conn.Connect <= 0 || (rec.Conn.TLS > 0) != (tt.scheme == "https") {
				t.Errorf("connection %+v", rec.Conn)
			}
		})
	}
}

// The server's first bytes may come in one piece with the proxy's answer.
func TestProxyThatSendsTheServersFirstWordsAtOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		framer := http2.NewFramer(c, c)
		_ = framer.WriteSettings() // before the client has said a word
		_, _ = io.ReadFull(c, make([]byte, len(http2.ClientPreface)))
		for {
			f, err := framer.ReadFrame()
			if err != nil {
				return
			}
			if h, ok := f.(*http2.HeadersFrame); ok {
				status204 := []byte{0x89}
				_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: h.StreamID, BlockFragment: status204, EndHeaders: true, EndStream: true})
				break
			}
		}
		_, _ = io.Copy(io.Discard, c)
	})
	p := &proxy{to: l.Addr().String(), early: true}
	through(t, "http://"+p.start(t))
	rec := ask(t, "http://target.test", true, nil)
	if rec.Failure != nil || rec.Status != 204 {
		t.Errorf("status %d, failure %+v", rec.Status, rec.Failure)
	}
}

func TestProxyThatRefuses(t *testing.T) {
	p := &proxy{refuse: true}
	through(t, "http://"+p.start(t))
	wantFailure(t, ask(t, "https://target.test", false, nil), record.ConnectFailed, "refused a tunnel to target.test:443: 403 Forbidden")
}

func TestProxyOfAnotherKind(t *testing.T) {
	through(t, "socks5://127.0.0.1:1")
	target := plan.Default().Target
	target.URLs = []string{"http://target.test"}
	_, err := New(target, endpoint.Options{Clock: timedconn.NewClock(), TLS: new(tls.Config), Getenv: os.Getenv})
	if err == nil || !strings.Contains(err.Error(), `a proxy of scheme "socks5"`) {
		t.Errorf("error %v", err)
	}
}
