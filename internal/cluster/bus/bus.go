// Package bus is what a coordinator and its workers say to one another over NATS: typed messages, and the records that
// workers made. It knows nothing of plans and runs but the id under which a run's
// subjects stand, so that any number of them share one NATS.
//
// Ask repeats a question until it is answered, and Answer carries it out once. Tell and Hear carry JSON at most
// once. An Outbox and an Inbox carry frames of records exactly once and in order, through a JetStream stream for
// each worker.
package bus

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Why Dial fails, beside wrong options.
var (
	ErrUnreachable = errors.New("no NATS server answers")
	ErrRefused     = errors.New("access denied")
	ErrUntrusted   = errors.New("TLS failed")
	ErrNoJetStream = errors.New("JetStream is off")
)

// DialOptions say which NATS to use, and as whom.
type DialOptions struct {
	URL  string // nats://host:port or tls://host:port, several with commas between them
	Name string // what the server's own lists call this client
	Run  string // id of the run whose subjects are used

	Token       string // of the server
	Credentials string // file with the credentials of a NATS account, instead of a token
	CA          string // PEM file with the authority that signed the server's certificate; "": the system's

	Wait time.Duration // how long to try again while nothing answers

	// Changed is told when the connection is cut, with the reason, and when it is back.
	Changed func(up bool, reason error)

	// Log takes what goes wrong in the background; nil means it is dropped.
	Log func(string)
}

// Bus is a connection to NATS, within the subjects of one run. It connects again by itself, for as long as it takes.
type Bus struct {
	*Link
	run string
}

const (
	attempt  = 5 * time.Second        // bound of one attempt to connect
	again    = 100 * time.Millisecond // between two attempts
	pings    = 2 * time.Second        // two of them unanswered: the connection is dead
	apiLimit = 5 * time.Second        // bound of one call to JetStream
)

// Dial connects to NATS and makes sure that it has JetStream.
func Dial(ctx context.Context, o DialOptions) (*Bus, error) {
	if o.Run == "" {
		return nil, errors.New("connect to NATS: no run ID")
	}
	servers, secrets, opts, err := o.server()
	if err != nil {
		return nil, err
	}
	l := NewLink(o.Log)
	opts = append(opts, l.handlers(o.Changed)...)
	deadline := time.Now().Add(o.Wait)
	var c *nats.Conn
	for {
		if c, err = nats.Connect(servers, opts...); err == nil {
			break
		}
		if err = explain(servers, err, secrets); !errors.Is(err, ErrUnreachable) || !time.Now().Before(deadline) {
			return nil, err
		}
		if pause(ctx, again); ctx.Err() != nil {
			return nil, errors.Join(err, context.Cause(ctx))
		}
	}
	js, err := l.jetStream(ctx, c)
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("NATS at %s: %w", servers, err)
	}
	l.Join(natsConn{c}, js, int(c.MaxPayload()))
	return l.Bus(o.Run), nil
}

// server gives the addresses, without what is secret in them, the secrets, and the options for the client.
func (o DialOptions) server() (servers string, secrets []string, opts []nats.Option, err error) {
	opts = []nats.Option{
		nats.Name(cmp.Or(o.Name, "inferometer")), nats.Timeout(attempt), nats.MaxReconnects(-1),
		nats.ReconnectWait(again), nats.ReconnectJitter(again, again),
		nats.PingInterval(pings), nats.MaxPingsOutstanding(2), nats.IgnoreAuthErrorAbort(),
	}
	token := o.Token
	var list []string
	for _, s := range strings.Split(o.URL, ",") {
		s = strings.TrimSpace(s)
		if !strings.Contains(s, "://") {
			s = "nats://" + s
		}
		u, err := url.Parse(s)
		if err != nil || u.Host == "" {
			return "", nil, nil, errors.New("connect to NATS: invalid URL: write nats://host:4222")
		}
		if user := u.User; user != nil {
			u.User = nil
			if password, ok := user.Password(); ok {
				opts, secrets = append(opts, nats.UserInfo(user.Username(), password)), append(secrets, password)
			} else {
				token = cmp.Or(token, user.Username())
			}
		}
		list = append(list, u.String())
	}
	if token != "" {
		opts, secrets = append(opts, nats.Token(token)), append(secrets, token)
	}
	for _, file := range []string{o.Credentials, o.CA} {
		if _, err := os.Stat(cmp.Or(file, ".")); err != nil {
			return "", nil, nil, fmt.Errorf("connect to NATS: %w", err)
		}
	}
	if o.Credentials != "" {
		opts = append(opts, nats.UserCredentials(o.Credentials))
	}
	if o.CA != "" {
		opts = append(opts, nats.RootCAs(o.CA))
	}
	return strings.Join(list, ","), secrets, opts, nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// explain says what a failed connection means.
func explain(servers string, err error, secrets []string) error {
	text := err.Error()
	for _, s := range secrets {
		text = redact(text, s)
	}
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked),
		errors.Is(err, nats.ErrAccountAuthExpired):
		return fmt.Errorf("NATS at %s: %w (%s): use the token or credentials of that server", servers, ErrRefused, text)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("NATS at %s: %w: the server does not offer it: use nats://, or enable TLS there", servers, ErrUntrusted)
	case errors.As(err, &authority), errors.As(err, &host), strings.Contains(text, "certificate"), strings.Contains(text, "tls:"):
		return fmt.Errorf("NATS at %s: %w (%s): use the CA that signed its certificate, and a host name that the certificate lists", servers, ErrUntrusted, text)
	case errors.Is(err, nats.ErrNoServers):
		return fmt.Errorf("NATS at %s: %w: check the address and that the server is running", servers, ErrUnreachable)
	}
	return fmt.Errorf("NATS at %s: %w (%s): check the address and that the server is running", servers, ErrUnreachable, text)
}

// jetStream makes sure that the server has it for us.
func (l *Link) jetStream(ctx context.Context, c *nats.Conn) (jetstream.JetStream, error) {
	js, err := jetstream.New(c, jetstream.WithPublishAsyncTimeout(apiLimit))
	if err != nil {
		return nil, err
	}
	ctx, cancel := l.call(ctx)
	defer cancel()
	if _, err = js.AccountInfo(ctx); err == nil {
		return js, nil
	}
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) ||
		errors.Is(err, nats.ErrNoResponders) {
		return nil, fmt.Errorf("%w: start the server with -js, or enable JetStream for the account", ErrNoJetStream)
	}
	return nil, fmt.Errorf("ask for JetStream: %w", err)
}

// ForRun is the same connection within the subjects of another run.
func (b *Bus) ForRun(run string) *Bus { return &Bus{Link: b.Link, run: run} }

// Run is the ID of the run.
func (b *Bus) Run() string { return b.run }

// subject is where something of this run is said.
func (b *Bus) subject(kind, name string) string {
	return "inferometer." + word(b.run) + "." + kind + "." + word(name)
}

// word makes a name fit for a subject and for a stream's name.
func word(name string) string {
	var w strings.Builder
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			w.WriteByte(c)
		default:
			fmt.Fprintf(&w, "=%02x", c)
		}
	}
	return w.String()
}
