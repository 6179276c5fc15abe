//go:build linux

package liar

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"
)

// certificate makes a server's certificate that nobody has signed. It is made once.
var certificate = sync.OnceValues(func() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	own := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	text, err := x509.CreateCertificate(rand.Reader, own, own, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{text}, PrivateKey: key}, err
})

// secure gives the settings of a server that speaks TLS.
func secure(t testing.TB, h2 bool) *tls.Config {
	t.Helper()
	own, err := certificate()
	if err != nil {
		t.Fatal(err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{own}, NextProtos: []string{"http/1.1"}}
	if h2 {
		c.NextProtos = []string{"h2"}
	}
	return c
}

// stampedConn is a connection whose reads are stamped.
type stampedConn struct {
	net.Conn
	in *stampedReader
}

func (c stampedConn) Read(p []byte) (int, error) { return c.in.Read(p) }
