package triton

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// certificate makes one that is its own authority, for a client.
func certificate(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// Over TLS both sides prove who they are, a key goes along, and neither is told to
// anybody.
func TestSecure(t *testing.T) {
	cert, authority := certificate(t)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Models, c.APIKey = []string{"vllm_model"}, "hunter2-hunter2"
	c.HTTP2 = true
	c.TLS = config.TLS{SelfSigned: true, ClientCA: file}
	m, err := mock.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	var addresses []string
	for _, serve := range []func(net.Listener) error{m.ServeGRPC, m.Serve} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, l.Addr().String())
		go func() { _ = serve(l) }()
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(m.CertPEM())
	good := &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{cert}}
	overGRPC := plan.Target{URLs: []string{"grpcs://" + addresses[0]}, Transport: plan.TransportGRPC, Endpoint: plan.EndpointStream, Model: "vllm_model", Streaming: true}
	overHTTP := plan.Target{URLs: []string{"https://" + addresses[1]}, Transport: plan.TransportHTTP, Endpoint: plan.EndpointGenerate, Model: "vllm_model", Streaming: true}
	for name, target := range map[string]plan.Target{"gRPC": overGRPC, "HTTP": overHTTP} {
		for _, c := range []struct {
			name  string
			tls   *tls.Config
			key   string
			words string // of the refusal; empty: none
		}{
			{"as it should be", good, "hunter2-hunter2", ""},
			{"no client certificate", &tls.Config{RootCAs: roots}, "hunter2-hunter2", "certificate"},
			{"server not trusted", &tls.Config{Certificates: []tls.Certificate{cert}}, "hunter2-hunter2", "certificate"},
			{"not verified", &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{cert}}, "hunter2-hunter2", ""},
			{"wrong key", good, "wrong-secret", "API key"},
		} {
			o := endpoint.Options{Clock: timedconn.NewClock(), TLS: c.tls, Key: c.key, RunID: "r"}
			target := target
			err := Discover(t.Context(), &target, o, message.Log{To: io.Discard})
			tokens, opened := 0, false
			if err == nil {
				var e *Endpoint
				if e, err = New(target, o); err == nil {
					rec := client{Endpoint: e, decoder: NewDecoder(target, nil, false)}.send(t, asking(1, 3)...)[0]
					if tokens, opened = rec.Out.N, rec.Conn.TLS > 0 || rec.Conn.Reused; rec.Failure != nil {
						err = errors.New(rec.Failure.Message)
					}
					e.Close()
				}
			}
			switch {
			case c.words == "" && (err != nil || tokens != 3 || !opened):
				t.Errorf("%s, %s: %v, %d tokens, connection opened: %v", name, c.name, err, tokens, opened)
			case c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), c.key)):
				t.Errorf("%s, %s: %v", name, c.name, err)
			}
		}
	}
}
