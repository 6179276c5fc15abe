//go:build linux

package adversary

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
	own := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
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

// recordConn is a connection under TLS. It reads record by record, so that the stamp of a
// read is that of the segment in which its record begins.
type recordConn struct {
	net.Conn
	in    *stampedReader
	head  [5]byte
	have  int // of head
	left  int // of the record
	begun time.Time
}

func (c *recordConn) Read(p []byte) (int, error) {
	most := len(c.head) - c.have
	if c.left > 0 {
		most = c.left
	}
	n, err := c.in.Read(p[:min(most, len(p))])
	if c.left > 0 {
		c.left -= max(n, 0)
		c.in.latest = c.begun
		return n, err
	}
	if c.have == 0 {
		c.begun = c.in.latest
	}
	if c.have += copy(c.head[c.have:], p[:max(n, 0)]); c.have == len(c.head) {
		c.have, c.left = 0, int(c.head[3])<<8|int(c.head[4])
	}
	c.in.latest = c.begun
	return n, err
}
