package cli

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/tool"
)

// program is one of several that talk to one another.
type program struct {
	version string
	env     map[string]string
	code    int
	out     bytes.Buffer
}

// run runs the program in this process.
func (p *program) run(line string) {
	p.code = Main(tool.Env{
		Build: tool.Build{Version: p.version}, Args: strings.Fields(line), Stdout: &p.out, Stderr: &p.out, Restore: func() {},
		Getenv: func(name string) string { return p.env[name] },
	})
}

// says looks at how it ended, and that it gives no token away.
func (p *program) says(t *testing.T, ok bool, words ...string) {
	t.Helper()
	text := strings.Join(strings.Fields(p.out.String()), " ")
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("it does not say %q", w)
		}
	}
	if (p.code == 0) != ok || strings.Contains(text, "secret") {
		t.Errorf("exit %d, or a secret is told", p.code)
	}
	if t.Failed() {
		t.Log(p.out.String())
	}
}

// certificate makes a certificate for this machine that is its own authority.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	public, err := x509.CreateCertificate(rand.Reader, made, made, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, b := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: public}, key: {Type: "PRIVATE KEY", Bytes: text}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// Workers and coordinator meet at a NATS of the user's own, with a token and TLS. Who has another token, does not know
// its authority or is of another version is told so.
func TestWorkersMeetAtOwnNATS(t *testing.T) {
	cert, key := certificate(t)
	server, err := bus.Serve(bus.ServerOptions{Token: "secret-1", Cert: cert, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	token, url := map[string]string{"INFEROMETER_TOKEN": "secret-1"}, server.URL()
	join := "worker --join " + url + " --ca " + cert + " --name "

	coordinator, target := &program{version: "1", env: token}, serve(t)
	var all sync.WaitGroup
	all.Go(func() {
		coordinator.run("run " + target + " --workers 2 --nats " + url + " --nats-ca " + cert + " --concurrency 4 --requests 40 --output-tokens 2 --seed 1")
	})
	stranger := &program{version: "1", env: map[string]string{"INFEROMETER_TOKEN": "secret-2"}}
	stranger.run(join + "stranger")
	stranger.says(t, false, "access denied", "use the token or credentials")
	blind := &program{version: "1", env: token}
	blind.run("worker --join " + url)
	blind.says(t, false, "TLS failed", "use the CA")
	old := &program{version: "0", env: token}
	old.run(join + "old")
	old.says(t, false, "the run is of version 1, and this worker of version 0")
	workers := []*program{{version: "1", env: token}, {version: "1", env: token}}
	for i, w := range workers {
		all.Go(func() { w.run(join + string(rune('a'+i))) })
	}
	all.Wait()
	for _, w := range workers {
		w.says(t, true)
	}
	coordinator.says(t, coordinator.code == 0, "40 requests in", "40 ok", "2 workers sent the requests")
}

// A worker that cannot prepare ends the run with its own error, before the first request.
func TestWorkerThatCannotPrepare(t *testing.T) {
	server, err := bus.Serve(bus.ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	coordinator := &program{env: map[string]string{"KEY": "secret-3"}}
	worker, target := &program{}, serve(t)
	var all sync.WaitGroup
	all.Go(func() {
		coordinator.run("run " + target + " --workers 1 --nats " + server.URL() + " --requests 5 --api-key-env KEY --no-preflight")
	})
	all.Go(func() { worker.run("worker --join " + server.URL() + " --name a") })
	all.Wait()
	worker.says(t, false, "KEY")
	coordinator.says(t, false, "worker a: ", "KEY")
	if strings.Contains(coordinator.out.String(), " ok") {
		t.Error("requests were sent")
	}
}
