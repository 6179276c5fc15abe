package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/remote/google"
)

// GCS is a bucket of Google Cloud Storage.
type GCS struct {
	bucket string
	base   string
	client *http.Client
	token  func() (string, error) // nil means none is needed
}

// NewGCS makes a store of a bucket, with application-default credentials. The variable
// STORAGE_EMULATOR_HOST names a stand-in that needs none.
func NewGCS(ctx context.Context, g plan.GCS, o Options) (*GCS, error) {
	o = o.filled()
	s := &GCS{bucket: g.Bucket, base: "https://storage.googleapis.com", client: o.Client}
	if host := o.Getenv("STORAGE_EMULATOR_HOST"); host != "" {
		if !strings.Contains(host, "://") {
			host = "http://" + host
		}
		s.base = strings.TrimRight(host, "/")
		return s, nil
	}
	c, err := google.Find(ctx, google.ScopeStorage, o.Getenv)
	if err != nil {
		return nil, err
	}
	s.token = c.Token
	return s, nil
}

// URL names a key.
func (s *GCS) URL(key string) string { return "gs://" + s.bucket + "/" + key }

// Put copies a file unless its key is taken.
func (s *GCS) Put(ctx context.Context, key, file string) (existed bool, err error) {
	return persist(ctx, func() (bool, error) { return s.put(ctx, key, file) })
}

// put leaves it to the service to make sure that the key is free.
func (s *GCS) put(ctx context.Context, key, file string) (existed bool, err error) {
	f, size, err := open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	req, err := s.upload(ctx, f, url.Values{"uploadType": {"media"}, "name": {key}, "ifGenerationMatch": {"0"}})
	if err != nil {
		return false, err
	}
	if size == 0 {
		req.Body = http.NoBody
	}
	req.ContentLength = size
	req.Header.Set("Content-Type", contentType(key))
	status, body, err := send(s.client, req)
	switch {
	case err != nil || status == http.StatusOK:
		return false, err
	case status == http.StatusPreconditionFailed:
		return true, nil
	}
	return false, gcsRefused(status, body)
}

// Check begins a resumable upload, which takes the same permission as Put, and stores nothing.
func (s *GCS) Check(ctx context.Context, key string) error {
	_, err := persist(ctx, func() (bool, error) { return false, s.check(ctx, key) })
	return err
}

func (s *GCS) check(ctx context.Context, key string) error {
	req, err := s.upload(ctx, nil, url.Values{"uploadType": {"resumable"}, "name": {key}})
	if err != nil {
		return err
	}
	status, body, err := send(s.client, req)
	if err != nil || status/100 == 2 {
		return err
	}
	return gcsRefused(status, body)
}

// upload makes the request that begins an upload, with the token.
func (s *GCS) upload(ctx context.Context, body io.Reader, query url.Values) (*http.Request, error) {
	u := s.base + "/upload/storage/v1/b/" + url.PathEscape(s.bucket) + "/o?" + query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u, body)
	if err != nil || s.token == nil {
		return req, err
	}
	token, err := s.token()
	req.Header.Set("Authorization", "Bearer "+token)
	return req, err
}

// gcsRefused reads why the service did not do as it was told.
func gcsRefused(status int, body []byte) error {
	var why struct {
		Error struct{ Message string }
	}
	_ = json.Unmarshal(body, &why) // without it the status has to do
	err := fmt.Errorf("the store answers with HTTP status %d %.200s", status, why.Error.Message)
	switch {
	case status == http.StatusNotFound:
		return fmt.Errorf("%w: create the bucket first", err)
	case passing(status):
		return &temporary{err}
	}
	return err
}

// temporary is a failure that another attempt may not meet.
type temporary struct{ error }

// Unwrap gives the cause.
func (e *temporary) Unwrap() error { return e.error }

const (
	tries      = 5
	firstPause = 200 * time.Millisecond
)

// persist tries again where a failure may pass.
func persist(ctx context.Context, try func() (bool, error)) (bool, error) {
	pause := firstPause
	for n := 1; ; n++ {
		done, err := try()
		var passing *temporary
		if err == nil || !errors.As(err, &passing) {
			return done, err
		}
		if n == tries {
			return false, fmt.Errorf("tried %d times: %w", n, err)
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return false, err
		}
	}
}

// send sends a request. An error that may pass says so.
func send(c *http.Client, req *http.Request) (status int, body []byte, err error) {
	resp, err := c.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return 0, nil, &temporary{err}
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return 0, nil, &temporary{fmt.Errorf("the response was cut short: %w", err)}
	}
	return resp.StatusCode, body, nil
}

// passing reports whether a status may be another one soon.
func passing(status int) bool {
	return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}
