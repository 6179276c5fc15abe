package bus

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// keys are a new pair of a kind, and the public one.
func keys(t *testing.T, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return pair, public
}

// signed is a claim with its signature.
func signed(t *testing.T, c jwt.Claims, by nkeys.KeyPair) string {
	t.Helper()
	text, err := c.Encode(by)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// credentials is the credentials file of a new user of an account.
func credentials(t *testing.T, account nkeys.KeyPair) string {
	t.Helper()
	user, public := keys(t, nkeys.CreateUser)
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(signed(t, jwt.NewUserClaims(public), account), seed)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "user.creds")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A server of accounts, as the hosted ones are, takes a credentials file and nothing else.
func TestCredentials(t *testing.T) {
	operator, operatorKey := keys(t, nkeys.CreateOperator)
	system, systemKey := keys(t, nkeys.CreateAccount)
	account, accountKey := keys(t, nkeys.CreateAccount)
	claims := jwt.NewAccountClaims(accountKey)
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit,
		Consumer: jwt.NoLimit}
	resolver := &server.MemAccResolver{}
	for key, text := range map[string]string{
		accountKey: signed(t, claims, operator),
		systemKey:  signed(t, jwt.NewAccountClaims(systemKey), operator),
	} {
		if err := resolver.Store(key, text); err != nil {
			t.Fatal(err)
		}
	}
	s := another(t, server.Options{
		JetStream: true, StoreDir: t.TempDir(), AccountResolver: resolver, SystemAccount: systemKey,
		TrustedOperators: []*jwt.OperatorClaims{jwt.NewOperatorClaims(operatorKey)},
	})
	b := dialWith(t, DialOptions{URL: s.ClientURL(), Run: "run", Credentials: credentials(t, account)})
	o, f := outbox(t, b, "w1")
	f.add(o, []byte("a frame"))
	if got, err := inbox(t, b, "w1").Next(limited(t)); err != nil || !bytes.Equal(got.Data, []byte("a frame")) {
		t.Errorf("%q, %v", got.Data, err)
	}
	refuses(t, DialOptions{URL: s.ClientURL()}, ErrRefused, s.Addr().String())
	refuses(t, DialOptions{URL: s.ClientURL(), Credentials: credentials(t, system)}, ErrNoJetStream)
	stranger, _ := keys(t, nkeys.CreateAccount)
	refuses(t, DialOptions{URL: s.ClientURL(), Credentials: credentials(t, stranger)}, ErrRefused)
}
