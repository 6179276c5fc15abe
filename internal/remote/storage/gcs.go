package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"inferometer/internal/plan"
	"inferometer/internal/remote/google"
)

// GCS is a bucket of Google Cloud Storage.
type GCS struct {
	bucket string
	base   string
	client *http.Client
	token  func(ctx context.Context) (string, error) // nil: none is needed
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
	c, err := google.Find(ctx, google.ScopeStorage, google.Options{Getenv: o.Getenv})
	if err != nil {
		return nil, err
	}
	s.token = c.Token
	return s, nil
}

// URL names a key.
func (s *GCS) URL(key string) string { return "gs://" + s.bucket + "/" + key }

// Put copies a file unless its key is taken, which the service itself makes sure of.
func (s *GCS) Put(ctx context.Context, key, file string) (existed bool, err error) {
	f, size, err := open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	u := s.base + "/upload/storage/v1/b/" + url.PathEscape(s.bucket) + "/o?" +
		url.Values{"uploadType": {"media"}, "name": {key}, "ifGenerationMatch": {"0"}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u, f)
	if err != nil {
		return false, err
	}
	if size == 0 {
		req.Body = http.NoBody
	}
	req.ContentLength = size
	req.Header.Set("Content-Type", contentType(key))
	if err := s.authorize(req); err != nil {
		return false, err
	}
	resp, body, err := send(s.client, req)
	if err != nil {
		return false, err
	}
	switch resp.StatusCode {
	case http.StatusOK:
		return false, nil
	case http.StatusPreconditionFailed:
		return true, nil
	}
	return false, gcsRefused(resp.StatusCode, body)
}

// Check begins a resumable upload, which takes the same permission as Put, and leaves it at
// that: nothing is stored.
func (s *GCS) Check(ctx context.Context, key string) error {
	u := s.base + "/upload/storage/v1/b/" + url.PathEscape(s.bucket) + "/o?" + url.Values{"uploadType": {"resumable"}, "name": {key}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u, nil)
	if err != nil {
		return err
	}
	if err := s.authorize(req); err != nil {
		return err
	}
	resp, body, err := send(s.client, req)
	if err != nil || resp.StatusCode/100 == 2 {
		return err
	}
	return gcsRefused(resp.StatusCode, body)
}

// authorize puts the token on a request.
func (s *GCS) authorize(req *http.Request) error {
	if s.token == nil {
		return nil
	}
	token, err := s.token(req.Context())
	if err == nil {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return err
}

// gcsRefused reads why the service did not do as it was told.
func gcsRefused(status int, body []byte) error {
	var why struct {
		Error struct{ Message string }
	}
	_ = json.Unmarshal(body, &why) // without it the status has to do
	err := refusal(status, fmt.Sprintf("%.200s", why.Error.Message))
	if status == http.StatusNotFound {
		return fmt.Errorf("%w: make the bucket first", err)
	}
	return err
}
