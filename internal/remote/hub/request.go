package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/truncate"
)

// errStalled: the hub has sent nothing for too long.
var errStalled = errors.New("no response for too long")

// temporary is a failure that may pass. After is how long the server asks to wait.
type temporary struct {
	err   error
	after time.Duration
}

func (t *temporary) Error() string { return t.err.Error() }
func (t *temporary) Unwrap() error { return t.err }

// Waits between tries: they double from firstWait; no server is waited for longer than maxWait.
const (
	firstWait = time.Second
	maxWait   = 2 * time.Minute
)

// retry repeats a step while its failure may pass. Progress starts the count anew.
func (h *Hub) retry(ctx context.Context, step func() (progress bool, err error)) error {
	for try := 1; ; try++ {
		progress, err := step()
		var t *temporary
		if err == nil || ctx.Err() != nil || !errors.As(err, &t) {
			return err
		}
		if progress {
			try = 1
		}
		if try >= h.tries {
			return fmt.Errorf("%w (tried %d times)", t.err, try)
		}
		wait := max(firstWait<<(try-1), t.after)
		if wait > maxWait {
			return fmt.Errorf("%w; it asks to wait %v: try again then", t.err, t.after)
		}
		if err := h.sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// watch cancels a request when the hub falls silent.
type watch struct {
	timer  *time.Timer
	stall  time.Duration
	cancel context.CancelCauseFunc
}

func (h *Hub) watch(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{stall: h.stall, cancel: cancel}
	w.timer = time.AfterFunc(h.stall, func() { cancel(fmt.Errorf("%w (%v)", errStalled, w.stall)) })
	return ctx, w
}

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// watched is a body whose silence is watched.
type watched struct {
	r     io.Reader
	watch *watch
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.watch.timer.Reset(w.watch.stall)
	return n, err
}

// send makes one request and follows no redirect. Its body may be read until ctx ends.
func (h *Hub) send(ctx context.Context, method string, u *url.URL, start int64) (*http.Response, error) {
	if method == http.MethodHead {
		var w *watch
		ctx, w = h.watch(ctx)
		defer w.stop()
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, errors.New("the hub redirects to an address that cannot be used")
	}
	req.Header.Set("User-Agent", "inferometer")
	req.Header.Set("Accept-Encoding", "identity") // sizes are those of the file
	if h.token != "" && sameHost(u, h.endpoint) {
		req.Header.Set("Authorization", "Bearer "+h.token)
	}
	if start > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(start, 10)+"-")
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return nil, h.broken(ctx, err)
	}
	return resp, nil
}

// follow gets content, across redirects. The token goes to no other host than the hub.
func (h *Hub) follow(ctx context.Context, u *url.URL, start int64) (*http.Response, error) {
	for range maxHops {
		resp, err := h.send(ctx, http.MethodGet, u, start)
		if err != nil || !isRedirect(resp.StatusCode) {
			return resp, err
		}
		resp.Body.Close()
		if u, err = resp.Location(); err != nil {
			return nil, errors.New("the hub redirects to no address")
		}
	}
	return nil, fmt.Errorf("the hub redirects more than %d times", maxHops)
}

// broken sorts a request's failure: the caller has stopped, the hub is silent or not there, or the
// connection was lost, which may pass. Addresses, which may be signed, are left out.
func (h *Hub) broken(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, errStalled) {
			return &temporary{err: fmt.Errorf("%s: %w", h.Endpoint(), cause)}
		}
		return cause
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	if errors.As(err, &cert) || (errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect")) {
		return fmt.Errorf("%w at %s: %s", ErrUnreachable, h.Endpoint(), h.hide(err.Error()))
	}
	return &temporary{err: errors.New("the connection to the hub broke: " + h.hide(err.Error()))}
}

// status is the failure that a response's status means; nil for success.
func (h *Hub) status(resp *http.Response) error {
	code, message := resp.Header.Get("X-Error-Code"), resp.Header.Get("X-Error-Message")
	sent := resp.Request != nil && resp.Request.Header.Get("Authorization") != ""
	switch s := resp.StatusCode; {
	case s < 300:
		return nil
	case code == "GatedRepo":
		return ErrGated
	case code == "RepoNotFound":
		return ErrNoRepo
	case code == "RevisionNotFound":
		return ErrNoRevision
	case code == "EntryNotFound", s == http.StatusNotFound:
		return ErrNotFound
	case s == http.StatusUnauthorized && sent:
		return ErrRefused
	case s == http.StatusUnauthorized, s == http.StatusForbidden && sameHost(resp.Request.URL, h.endpoint):
		return ErrGated
	case s == http.StatusForbidden, s == http.StatusGone:
		// The content's own host: a signed address that has expired.
		return &temporary{err: fmt.Errorf("the host of the content answers %s", resp.Status)}
	case s == http.StatusRequestTimeout, s == http.StatusTooManyRequests, s >= 500:
		return &temporary{err: fmt.Errorf("the hub answers %s", h.hide(describe(resp.Status, message))), after: retryAfter(resp)}
	}
	return fmt.Errorf("the hub answers %s", h.hide(describe(resp.Status, message)))
}

func describe(status, message string) string {
	if message == "" {
		return status
	}
	return status + ": " + strings.ToValidUTF8(truncate.Text(message, 200), "")
}

// retryAfter is how long a server asks to wait, in seconds or until a date.
func retryAfter(resp *http.Response) time.Duration {
	s := resp.Header.Get("Retry-After")
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

func isRedirect(status int) bool {
	return slices.Contains([]int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect}, status)
}

func sameHost(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}
