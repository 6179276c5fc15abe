package target

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/plan"
)

func write(t *testing.T, name, text string, at time.Time) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

// A file is read again when it has changed, and when a server refuses what it held; what cannot be read changes nothing.
func TestKeyOfAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "key")
		write(t, name, "first-key\n", time.Unix(1, 0))
		c, err := newFileKey(name, limitio.Limit{})
		if err != nil || c.Value() != "first-key" {
			t.Fatalf("%v, %q", err, c.Value())
		}
		ctx, end := context.WithCancel(t.Context())
		var said []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.Watch(ctx, func(text string) { said = append(said, text) })
		}()
		step := func(wait time.Duration, want string) {
			t.Helper()
			time.Sleep(wait)
			synctest.Wait()
			if c.Value() != want {
				t.Errorf("the key is %q, want %q", c.Value(), want)
			}
		}
		step(3*time.Second, "first-key")
		write(t, name, "second-key\n", time.Unix(2, 0))
		step(time.Second, "second-key")
		write(t, name, "third-key-\n", time.Unix(2, 0)) // as long, and as old
		c.Refused("first-key")
		step(500*time.Millisecond, "second-key")
		c.Refused("second-key")
		step(time.Millisecond, "third-key-")
		write(t, name, "", time.Unix(3, 0))
		step(5*time.Second, "third-key-")
		if len(said) != 1 || !strings.Contains(said[0], "is empty: the key stays as it is") {
			t.Errorf("told %q", said)
		}
		write(t, name, "fourth-key", time.Unix(4, 0))
		step(2*time.Second, "fourth-key")
		if want := []string{"first-key", "second-key", "third-key-", "fourth-key"}; !slices.Equal(c.secrets(), want) {
			t.Errorf("hides %q", c.secrets())
		}
		end()
		<-done
	})
}

func TestFilesWithoutAKey(t *testing.T) {
	for text, want := range map[string]string{"": "is empty", "a\nb": "more than one line"} {
		name := filepath.Join(t.TempDir(), "key")
		write(t, name, text, time.Unix(1, 0))
		if _, err := newFileKey(name, limitio.Limit{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := newFileKey("absent", limitio.Limit{}); err == nil || !strings.Contains(err.Error(), "reading the API key") {
		t.Error(err)
	}
}

func TestToken(t *testing.T) {
	var form map[string][]string
	fail := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		id, secret, _ := r.BasicAuth()
		form = r.Form
		if fail || id != "me" || secret != "hush-hush" {
			http.Error(w, `{"error": "invalid_client", "error_description": "not hush-hush"}`, http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "token-1234", "token_type": "Bearer", "expires_in": 100})
	}))
	defer s.Close()
	o := plan.OAuth{TokenURL: s.URL, ClientID: "me", Scopes: []string{"a", "b"}, Audience: "models"}
	c, err := newToken(t.Context(), o, "hush-hush")
	if err != nil || c.Value() != "token-1234" {
		t.Fatalf("%v, %v", err, c)
	}
	if form["scope"][0] != "a b" || form["audience"][0] != "models" || form["grant_type"][0] != "client_credentials" {
		t.Errorf("asked with %v", form)
	}
	_, again, changed, _ := c.next(t.Context(), false)
	if wait := time.Until(again); changed || wait < 80*time.Second || wait > 90*time.Second {
		t.Errorf("asks again in %v (changed: %v), want a tenth before the token expires", wait, changed)
	}
	if !slices.Contains(c.secrets(), "hush-hush") {
		t.Error("the client's secret is not hidden")
	}
	fail = true
	if _, err := newToken(t.Context(), o, "hush-hush"); err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "HTTP status 401") {
		t.Errorf("%v", err)
	}
}
