// Package cert loads the certificate that the built-in server proves itself with, or makes one up.
package cert

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
)

// ServerTLS loads or makes the server's certificate. The PEM is that of a made-up one.
func ServerTLS(t config.TLS, http2 bool) (*tls.Config, []byte, error) {
	c := &tls.Config{NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}
	if http2 {
		c.NextProtos = []string{"h2", "http/1.1"}
	}
	var ca []byte
	var cert tls.Certificate
	var err error
	if t.SelfSigned {
		cert, ca, err = SelfSigned(time.Now(), x509.ExtKeyUsageServerAuth)
	} else {
		cert, err = tls.LoadX509KeyPair(t.Cert, t.Key)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("load TLS certificate: %w", err)
	}
	c.Certificates = []tls.Certificate{cert}
	if t.ClientCA != "" {
		text, err := os.ReadFile(t.ClientCA)
		if err != nil {
			return nil, nil, fmt.Errorf("read the client CA: %w", err)
		}
		c.ClientCAs = x509.NewCertPool()
		if !c.ClientCAs.AppendCertsFromPEM(text) {
			return nil, nil, fmt.Errorf("read the client CA: %s has no PEM certificate", t.ClientCA)
		}
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c, ca, nil
}

// SelfSigned makes a certificate for this machine that is its own authority.
func SelfSigned(now time.Time, usage x509.ExtKeyUsage) (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: "inferometer mock"},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(365 * 24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:  []x509.ExtKeyUsage{usage},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		IsCA:         true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, text, nil
}
