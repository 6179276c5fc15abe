package vllmbench

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/run/target"
	"github.com/inferometer/inferometer/internal/tool"
)

// rehearsal is a source that repeats its first prompt in every stage, without the number it goes by.
type rehearsal struct{ prompt.Source }

// Prompt implements prompt.Source.
func (r rehearsal) Prompt(ctx context.Context, at prompt.Position) (prompt.Prompt, error) {
	p, err := r.Source.Prompt(ctx, prompt.Position{Stage: at.Stage})
	p.Headers = nil
	return p, err
}

// SetStage implements prompt.StageStarter.
func (r rehearsal) SetStage(int) bool { return true }

// side asks the server for what is no load.
type side struct {
	client  *http.Client
	base    string
	headers map[string]string
	key     string
}

const mostPage = 64 << 20

func newSide(t *plan.Target, s target.Secrets, getenv func(string) string) *side {
	return &side{client: target.OpenTokenServer(t, s, getenv).Client, base: strings.TrimRight(t.URLs[0], "/"), headers: t.Headers, key: s.Key}
}

// page is the server's page of metrics; nil: it has none.
func (s *side) page() []byte {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/metrics", nil)
	if err != nil {
		return nil
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostPage))
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	return text
}

// post asks for something, and reports whether it was done.
func (s *side) post(ctx context.Context, path string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, bytes.NewReader(nil))
	if err != nil {
		return false
	}
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	for name, value := range s.headers {
		req.Header.Set(name, value)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// firstModel asks a server for its first model.
func firstModel(env tool.Env) func(base string, headers map[string]string, insecure bool) (name, root string, err error) {
	return func(base string, headers map[string]string, insecure bool) (name, root string, err error) {
		t := plan.Target{URLs: []string{base}, Headers: headers, Proxy: plan.ProxyEnvironment}
		s := newSide(&t, target.Secrets{TLS: &tls.Config{InsecureSkipVerify: insecure}}, env.Getenv)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/v1/models", nil)
		if err != nil {
			return "", "", errors.New("the server's URL cannot be read")
		}
		for name, value := range headers {
			req.Header.Set(name, value)
		}
		resp, err := s.client.Do(req)
		if err != nil {
			return "", "", fmt.Errorf("%s does not answer", plan.SafeURL(base))
		}
		defer resp.Body.Close()
		var list struct {
			Data []struct{ ID, Root string }
		}
		text, err := io.ReadAll(io.LimitReader(resp.Body, mostPage))
		if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(text, &list) != nil || len(list.Data) == 0 {
			return "", "", fmt.Errorf("%s lists no model (%s)", plan.SafeURL(base), resp.Status)
		}
		return list.Data[0].ID, list.Data[0].Root, nil
	}
}

func python(v float64) string { return number.Python(v) }
