package target

import (
	"context"
	"errors"
	"net"
	"net/url"

	"github.com/inferometer/inferometer/internal/lib/localaddr"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/remote/proxy"
)

// takesConnections makes sure that each URL of a target takes connections. No request is sent.
func takesConnections(ctx context.Context, t *plan.Target, getenv func(string) string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var errs []error
	for i, raw := range t.URLs {
		if err := connect(ctx, t, raw, getenv); err != nil {
			errs = append(errs, message.Errorf("target %d, %s, cannot be reached: %w%v", i+1, plan.SafeURL(raw), err, remedy(err, raw)))
		}
	}
	return errors.Join(errs...)
}

// connect opens a connection to a URL, or to the proxy in front of it, and closes it.
func connect(ctx context.Context, t *plan.Target, raw string, getenv func(string) string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return bare(err)
	}
	through, err := proxy.For(*t, u, getenv)
	if err != nil {
		return err
	}
	if through != nil {
		u = through
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme
	}
	conn, err := localaddr.NewDialer(t.SourceAddresses).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return err
	}
	return conn.Close()
}
