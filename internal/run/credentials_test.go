package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
)

// guarded is a server in front of another that lets requests pass with the keys that accepts.
func guarded(t *testing.T, s *server, accepts func(key string) bool) string {
	t.Helper()
	address, _ := gatewayTo(t, s, func(w http.ResponseWriter, r *http.Request) bool {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if accepts(key) {
			return false
		}
		http.Error(w, fmt.Sprintf(`{"error": {"message": "the key %s is not valid"}}`, key), http.StatusUnauthorized)
		return true
	})
	return address
}

// holdsNone makes sure that no file of a run has a secret in it.
func holdsNone(t *testing.T, dir string, secrets ...string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%v, files %q", err, files)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".zst") {
			r, err := zstd.NewReader(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if text, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
			r.Close()
		}
		for _, secret := range secrets {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s holds %s", filepath.Base(name), secret)
			}
		}
	}
}

// A key that is replaced while a run goes on costs the requests that went with the old one, and those alone.
func TestKeyFileIsReadAgain(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	change := func(key string) {
		if err := os.WriteFile(name, []byte(key), 0o600); err != nil {
			t.Error(err)
		}
	}
	change("first-key-11")
	s := serve(t, func(c *config.Server) { c.Latency.TTFT, c.HTTP2 = 5*time.Millisecond, true })
	var mu sync.Mutex
	passed, refused := 0, 0
	address := guarded(t, s, func(key string) bool {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case passed < 10 && key == "first-key-11", key == "second-key-22":
			passed++
			return true
		case key == "first-key-11":
			if refused++; refused == 2 {
				change("second-key-22")
			}
		default:
			t.Errorf("a request came with the key %q", key)
		}
		return false
	})
	p := closedPlan(t, address, 2, 200)
	p.Target.APIKey.File, p.Output.KeepRaw = name, true
	res := mustRun(t, p)
	c := res.Stages[0].Counts
	if c.Failed < 1 || c.Failed > 190 || int64(refused) != c.Failed || c.OK != 200-c.Failed {
		t.Errorf("counts %+v, %d refused", c, refused)
	}
	last := readKept(t, p.Output.Dir).recs[199]
	if last.Failure != nil {
		t.Errorf("the last request: %+v", last.Failure)
	}
	holdsNone(t, p.Output.Dir, "first-key-11", "second-key-22")
}

// Tokens are renewed before they expire: no request is refused.
func TestOAuthTokens(t *testing.T) {
	var mu sync.Mutex
	given := map[string]time.Time{}
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if _, secret, _ := r.BasicAuth(); secret != "hush-hush-hush" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		token := fmt.Sprintf("token-%06d", len(given))
		given[token] = time.Now().Add(time.Second)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 1})
	}))
	defer tokens.Close()
	s := serve(t, func(c *config.Server) { c.Latency.TTFT = 5 * time.Millisecond })
	address := guarded(t, s, func(key string) bool {
		mu.Lock()
		defer mu.Unlock()
		// A request that was sent a moment before its token expires may come a moment later.
		return time.Now().Before(given[key].Add(500 * time.Millisecond))
	})
	p := closedPlan(t, address, 2, 0)
	p.Stages[0].Duration = plan.Duration(2500 * time.Millisecond)
	p.Target.OAuth = plan.OAuth{TokenURL: tokens.URL, ClientID: "me", ClientSecret: plan.Secret{Env: "SECRET"}}
	o := options(io.Discard)
	o.Kit.Getenv = func(name string) string { return map[string]string{"SECRET": "hush-hush-hush"}[name] }
	res, err := Run(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	if c := res.Stages[0].Counts; c.Failed > 0 || len(given) < 3 {
		t.Errorf("counts %+v, %d tokens", c, len(given))
	}
	holdsNone(t, p.Output.Dir, "hush-hush-hush", "token-0000")
}
