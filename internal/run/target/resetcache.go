package target

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

// The paths by which servers empty their prefix caches. SGLang refuses while requests are in flight, unless it
// is told how long to wait.
const (
	resetVLLM   = "/reset_prefix_cache"
	resetSGLang = "/flush_cache?timeout=30"
)

// resetTime bounds one response.
const resetTime = 60 * time.Second

// A server may hold blocks of requests that ended a moment ago.
const (
	resetTries = 5
	resetPause = 200 * time.Millisecond
)

// CacheReset empties the prefix caches of a plan's servers.
type CacheReset struct {
	target  plan.Target
	secrets Secrets
	client  *http.Client
	log     message.Log
	paths   map[string]string // by the root of a server, once it is known
}

// NewCacheReset makes what empties the caches; nil: the plan leaves them as they are.
func NewCacheReset(t plan.Target, s Secrets, getenv func(string) string, log message.Log) *CacheReset {
	if t.ResetCache == "" {
		return nil
	}
	client := newLister(endpoint.Protocol{}, t, s.TLS, getenv).any
	client.Timeout = resetTime
	return &CacheReset{target: t, secrets: s, client: client, log: log, paths: map[string]string{}}
}

// Close gives up the connections.
func (r *CacheReset) Close() { r.client.CloseIdleConnections() }

// Reset empties the cache of each server. It is to be called while nothing is in flight.
func (r *CacheReset) Reset(ctx context.Context) error {
	var errs []error
	for _, raw := range r.target.URLs {
		root, err := url.Parse(raw)
		if err == nil {
			err = r.one(ctx, &url.URL{Scheme: root.Scheme, User: root.User, Host: root.Host})
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("emptying the prefix cache of %s: %w", plan.SafeURL(raw), bare(err)))
		}
	}
	return errors.Join(errs...)
}

func (r *CacheReset) one(ctx context.Context, root *url.URL) error {
	known := r.paths[root.Host]
	paths := []string{cmp.Or(known, r.target.ResetCache)}
	if known == "" && r.target.ResetCache == plan.ResetAuto {
		paths = []string{resetVLLM, resetSGLang}
	}
	for _, path := range paths {
		there, err := r.post(ctx, root.String()+path)
		if err != nil {
			return err
		}
		if there {
			if known == "" {
				r.log.Printf("emptied the prefix cache of %s (POST %s)\n", plan.SafeURL(root.String()), path)
			}
			r.paths[root.Host] = path
			return nil
		}
	}
	if r.target.ResetCache != plan.ResetAuto {
		return fmt.Errorf("it has no %s, which target.reset_cache names", r.target.ResetCache)
	}
	return errors.New("it has neither /reset_prefix_cache (vLLM, started with VLLM_SERVER_DEV_MODE=1) nor /flush_cache (SGLang): " +
		"name its path with target.reset_cache, or leave the cache as it is")
}

// post asks for it; false: the server knows no such path.
func (r *CacheReset) post(ctx context.Context, address string) (there bool, err error) {
	for try := 1; ; try++ {
		status, said, err := r.ask(ctx, address)
		switch {
		case err != nil:
			return false, err
		case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
			return false, nil
		case status/100 == 2 && !refused(said):
			return true, nil
		case try == resetTries || status/100 != 2 && status != http.StatusBadRequest:
			return false, fmt.Errorf("HTTP status %d: %s", status, r.secrets.Redact(strings.TrimSpace(string(said)), r.target))
		}
		select {
		case <-time.After(resetPause):
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// refused reports whether a server says that it did not do it, with a status that says it did.
func refused(said []byte) bool {
	return bytes.Contains(bytes.ReplaceAll(said, []byte(" "), nil), []byte(`"success":false`))
}

// mostSaid bounds what is kept of a response.
const mostSaid = 400

func (r *CacheReset) ask(ctx context.Context, address string) (status int, said []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, http.NoBody)
	if err != nil {
		return 0, nil, errors.New("the address is not a URL")
	}
	for name, value := range r.target.Headers {
		req.Header.Set(name, value)
	}
	key := r.secrets.Key
	if r.secrets.Live != nil {
		key = r.secrets.Live.Value()
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return 0, nil, bare(err)
	}
	defer resp.Body.Close()
	said, err = io.ReadAll(io.LimitReader(resp.Body, mostSaid))
	return resp.StatusCode, said, err
}
