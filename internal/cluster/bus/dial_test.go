package bus

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const secret = "a-very-secret-token"

// refuses dials and looks at the error: its kind, what it names, and that it holds no token.
func refuses(t *testing.T, o DialOptions, kind error, words ...string) {
	t.Helper()
	o.Run = "run"
	b, err := Dial(limited(t), o)
	if err == nil {
		b.Close()
		t.Fatal("it is let in")
	}
	if !errors.Is(err, kind) {
		t.Errorf("%v: it is not %q", err, kind)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v: it does not say %q", err, w)
		}
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("%v: it gives a token away", err)
	}
}

func TestTokens(t *testing.T) {
	s := serve(t, ServerOptions{Token: secret})
	_, address, _ := strings.Cut(s.URL(), "://")
	if strings.Contains(s.URL(), secret) {
		t.Errorf("%s holds the token", s.URL())
	}
	refuses(t, DialOptions{URL: s.URL()}, ErrRefused, address, "token")
	refuses(t, DialOptions{URL: s.URL(), Token: "another-secret"}, ErrRefused, address, "token")
	refuses(t, DialOptions{URL: "nats://another-secret@" + address}, ErrRefused, address)
	refuses(t, DialOptions{URL: "nats://user:a-secret@" + address}, ErrRefused, address)
	refuses(t, DialOptions{URL: s.URL(), Credentials: "/nowhere.creds"}, os.ErrNotExist, "/nowhere.creds")
	dialWith(t, DialOptions{URL: s.URL(), Run: "run", Token: secret})
	dialWith(t, DialOptions{URL: address, Run: "run", Token: secret})
	dialWith(t, DialOptions{URL: "nats://" + secret + "@" + address, Run: "run"})
}

func TestNothingThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	refuses(t, DialOptions{URL: "nats://a-secret@" + address}, ErrUnreachable, address, "check the address")
	if _, err := Dial(limited(t), DialOptions{URL: "nats://a-secret@%zz", Run: "run"}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a URL that is not one: %v", err)
	}
	if _, err := Dial(limited(t), DialOptions{URL: address}); err == nil {
		t.Error("no run")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Dial(ctx, DialOptions{URL: address, Run: "run", Wait: patient}); !errors.Is(err, context.Canceled) {
		t.Errorf("the context is over: %v", err)
	}

	// A worker may come before its coordinator.
	p := newProxy(t, nil)
	come := make(chan error, 1)
	go func() {
		b, err := Dial(limited(t), DialOptions{URL: p.url(), Run: "run", Wait: patient})
		if err == nil {
			b.Close()
		}
		come <- err
	}()
	p.retarget(serve(t, ServerOptions{}))
	if err := <-come; err != nil {
		t.Error(err)
	}
}

// another starts a server that is not ours.
func another(t *testing.T, o server.Options) *server.Server {
	t.Helper()
	o.Host, o.Port, o.NoSigs, o.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	return s
}

func TestServerWithoutJetStream(t *testing.T) {
	s := another(t, server.Options{})
	refuses(t, DialOptions{URL: s.ClientURL()}, ErrNoJetStream, s.Addr().String(), "-js")
}

// Frames are cut to what a server takes.
func TestServerWithSmallMessages(t *testing.T) {
	b := dial(t, another(t, server.Options{JetStream: true, StoreDir: t.TempDir(), MaxPayload: 4 << 10}).ClientURL(), "run")
	o, f := outbox(t, b, "w1")
	in := inbox(t, b, "w1")
	large := bytes.Repeat([]byte("0123456789"), 1000)
	f.add(o, large)
	if got, err := in.Next(limited(t)); err != nil || !bytes.Equal(got.Data, large) {
		t.Errorf("%d bytes, %v", len(got.Data), err)
	}
	if i, err := b.state(limited(t), "w1"); err != nil || i.State.LastSeq != 4 {
		t.Errorf("%d messages, %v", i.State.LastSeq, err)
	}
	if err := Publish(b, "everybody", string(large)); err == nil || !strings.Contains(err.Error(), "maximum payload") {
		t.Errorf("a message that is too large: %v", err)
	}
}

func TestTLS(t *testing.T) {
	cert, key := certificateFiles(t)
	s := serve(t, ServerOptions{Token: secret, Cert: cert, Key: key})
	if !strings.HasPrefix(s.URL(), "tls://") {
		t.Errorf("the URL is %s", s.URL())
	}
	b := dialWith(t, DialOptions{URL: s.URL(), Run: "run", Token: secret, CA: cert})
	if _, err := b.conn.(natsConn).nats.TLSConnectionState(); err != nil {
		t.Error(err)
	}
	refuses(t, DialOptions{URL: s.URL(), Token: secret}, ErrUntrusted, "CA")
	refuses(t, DialOptions{URL: strings.Replace(s.URL(), "127.0.0.1", "localhost", 1), Token: secret, CA: cert}, ErrUntrusted, "localhost")
	refuses(t, DialOptions{URL: s.URL(), Token: secret, CA: key}, ErrUntrusted, key)
	refuses(t, DialOptions{URL: s.URL(), Token: secret, CA: "/nowhere.pem"}, os.ErrNotExist, "/nowhere.pem")
	plain := serve(t, ServerOptions{})
	refuses(t, DialOptions{URL: strings.Replace(plain.URL(), "nats:", "tls:", 1)}, ErrUntrusted, "does not offer it")
}

// certificateFiles are those of a server at 127.0.0.1, signed by itself.
func certificateFiles(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, data []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	return write("cert.pem", "CERTIFICATE", signed), write("key.pem", "PRIVATE KEY", raw)
}

func TestServersThatDoNotStart(t *testing.T) {
	busy := serve(t, ServerOptions{})
	_, address, _ := strings.Cut(busy.URL(), "://")
	aFile := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(aFile, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    ServerOptions
		says string
	}{
		"all addresses":       {ServerOptions{Listen: "0.0.0.0:0"}, "set a token"},
		"no host":             {ServerOptions{Listen: ":0"}, "set a token"},
		"all addresses, IPv6": {ServerOptions{Listen: "[::]:0"}, "set a token"},
		"a name":              {ServerOptions{Listen: "example.com:0"}, "set a token"},
		"a token to guess":    {ServerOptions{Listen: "0.0.0.0:0", Token: "a"}, "the token has 1 characters: use 16 or more"},
		"no port":             {ServerOptions{Listen: "127.0.0.1"}, "host:port"},
		"a wrong port":        {ServerOptions{Listen: "127.0.0.1:99999"}, "host:port"},
		"a port that is used": {ServerOptions{Listen: address, Token: secret}, "address already in use"},
		"half of TLS":         {ServerOptions{Cert: "cert.pem"}, "only one of them is set"},
		"no certificate":      {ServerOptions{Cert: "/nowhere.pem", Key: "/nowhere.pem"}, "/nowhere.pem"},
		"no directory":        {ServerOptions{StoreDir: filepath.Join(aFile, "below")}, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Serve(c.o)
			if err == nil {
				s.Close()
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), secret) {
				t.Errorf("%v: want %q in it, and no token", err, c.says)
			}
		})
	}
	for _, listen := range []string{"127.0.0.1:0", "localhost:0", "127.5.5.5:0"} {
		serve(t, ServerOptions{Listen: listen})
	}
	open := serve(t, ServerOptions{Listen: "0.0.0.0:0", Token: secret})
	if !strings.Contains(open.URL(), "//127.0.0.1:") {
		t.Errorf("%s is no address to connect to", open.URL())
	}
	dialWith(t, DialOptions{URL: open.URL(), Run: "run", Token: secret})
}

// When all is closed, no file is left and nothing runs.
func TestNothingIsLeft(t *testing.T) {
	log := make(chan string, 100)
	s, err := Serve(ServerOptions{Token: secret, Log: func(line string) { log <- line }})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Dial(limited(t), DialOptions{URL: s.URL(), Run: "run", Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, DialOptions{URL: s.URL(), Token: "another-secret"}, ErrRefused)
	o, f := outbox(t, b, "w1")
	in := inbox(t, b, "w1")
	f.add(o, frame("w1", 1))
	closing := closes(t, o)
	receive(t, in, 1, -1)
	closing.Wait()
	in.Close(limited(t))
	b.Close()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.temp.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", s.temp.Path, err)
	}
	if line := <-log; !strings.Contains(line, "authentication error") || strings.Contains(line, "secret") {
		t.Errorf("the server's log has %q", line)
	}
	eventually(t, "the end of all goroutines", func() bool {
		var stacks bytes.Buffer
		_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
		return !strings.Contains(stacks.String(), "nats-io") && !strings.Contains(stacks.String(), "bus.(*")
	})
}
