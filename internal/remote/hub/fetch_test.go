package hub

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/remote/hub/hubtest"
)

// large is the content of a file on the other host.
var large = strings.Repeat("all work and no play ", 5000)

// withLarge is a stand-in with one model that has one large file.
func withLarge(t *testing.T) *hubtest.Server {
	s := hubtest.New(t)
	s.Add("org/name", commitA, map[string]hubtest.FakeFile{"f": {Data: large, Large: true}})
	return s
}

// isContent reports whether a request is for the content of the large file.
func isContent(r *http.Request) bool { return r.URL.Path == "/"+hubtest.Sum(large) }

// cutShort answers with a beginning of the content and then breaks the connection.
func cutShort(w http.ResponseWriter, n int) {
	w.Header().Set("Content-Length", "105000")
	_, _ = io.WriteString(w, large[:n])
	panic(http.ErrAbortHandler)
}

func TestResumeAfterCut(t *testing.T) {
	s := withLarge(t)
	var cut atomic.Bool
	s.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		if isContent(r) && cut.CompareAndSwap(false, true) {
			cutShort(w, 70000)
		}
		return false
	})
	h, waits := open(t, s, nil)
	wantFile(t, h, Model("org/name"), "", "f", large)
	asked := s.Asked()
	last := asked[len(asked)-1]
	if len(asked) != 4 || !strings.HasPrefix(last, "GET content") || !strings.Contains(last, " bytes=") {
		t.Errorf("asked %q; want the rest by a range", asked)
	}
	if diff := cmp.Diff([]time.Duration{time.Second}, *waits); diff != "" {
		t.Error(diff)
	}
}

func TestResumeOfEarlierProcess(t *testing.T) {
	blob := func(h *Hub) string {
		path := filepath.Join(h.cache, "models--org--name", "blobs", hubtest.Sum(large)+".incomplete")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	head := "HEAD hub /org/name/resolve/main/f"
	again := "HEAD hub /org/name/resolve/main/f"
	get := "GET content /" + hubtest.Sum(large)
	for _, tc := range []struct {
		name, left string
		asked      []string
		waits      int
	}{
		{"part", large[:1000], []string{head, get + " bytes=1000-"}, 0},
		{"all", large, []string{head}, 0},
		{"too much", large + "x", []string{head, get}, 0},
		{"something else", strings.Repeat("x", 1000), []string{head, get + " bytes=1000-", again, get}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := withLarge(t)
			h, waits := open(t, s, nil)
			if err := os.WriteFile(blob(h), []byte(tc.left), 0o644); err != nil {
				t.Fatal(err)
			}
			wantFile(t, h, Model("org/name"), "", "f", large)
			wantAsked(t, s, tc.asked...)
			if len(*waits) != tc.waits {
				t.Errorf("waited %v", *waits)
			}
		})
	}
}

func TestServerWithoutRanges(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusRequestedRangeNotSatisfiable, http.StatusPartialContent} {
		s := withLarge(t)
		s.Fault(func(w http.ResponseWriter, r *http.Request) bool {
			if !isContent(r) || r.Header.Get("Range") == "" {
				return false
			}
			if status == http.StatusPartialContent {
				w.Header().Set("Content-Range", "bytes 5-10/105000")
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, large)
			return true
		})
		h, _ := open(t, s, nil)
		dir := filepath.Join(h.cache, "models--org--name", "blobs")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, hubtest.Sum(large)+".incomplete"), []byte(large[:10]), 0o644); err != nil {
			t.Fatal(err)
		}
		wantFile(t, h, Model("org/name"), "", "f", large)
	}
}

func TestRetries(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status int
		after  string
		times  int
		waits  []time.Duration
		fails  string
	}{
		{"busy once", 503, "", 1, []time.Duration{time.Second}, ""},
		{"twice", 500, "", 2, []time.Duration{time.Second, 2 * time.Second}, ""},
		{"asked to wait", 429, "7", 1, []time.Duration{7 * time.Second}, ""},
		{"asked to wait less", 429, "0", 1, []time.Duration{time.Second}, ""},
		{"asked to wait long", 429, "3600", 1, nil, "wait 1h0m0s"},
		{"for good", 502, "", 100, []time.Duration{1e9, 2e9, 4e9, 8e9}, "502 Bad Gateway: upstream [hidden] (tried 5 times)"},
		{"not worth it", 400, "", 100, nil, "400 Bad Request"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := hubtest.New(t)
			s.Add("org/name", commitA, map[string]hubtest.FakeFile{"f": {Data: "x"}})
			left := int64(tc.times)
			s.Fault(func(w http.ResponseWriter, r *http.Request) bool {
				if atomic.AddInt64(&left, -1) < 0 {
					return false
				}
				w.Header().Set("Retry-After", tc.after)
				w.Header().Set("X-Error-Message", "upstream "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
				w.WriteHeader(tc.status)
				return true
			})
			h, waits := open(t, s, map[string]string{"HF_TOKEN": "hf_sesame"})
			_, err := h.File(t.Context(), Model("org/name"), "", "f")
			if (err != nil) != (tc.fails != "") || (err != nil && !strings.Contains(err.Error(), tc.fails)) {
				t.Errorf("got %v, want %q", err, tc.fails)
			}
			if !slices.Equal(*waits, tc.waits) {
				t.Errorf("waited %v, want %v", *waits, tc.waits)
			}
		})
	}
}

func TestRetryAfterDate(t *testing.T) {
	resp := &http.Response{Header: http.Header{"Retry-After": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}}}
	if d := retryAfter(resp); d < 59*time.Minute || d > time.Hour {
		t.Errorf("an hour from now is %v from now", d)
	}
}

func TestExpiredAddress(t *testing.T) {
	s := withLarge(t)
	var once atomic.Bool
	s.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		if isContent(r) && once.CompareAndSwap(false, true) {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	})
	h, _ := open(t, s, nil)
	wantFile(t, h, Model("org/name"), "", "f", large)
}

func TestSlowHub(t *testing.T) {
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		t.Run(method, func(t *testing.T) {
			s := withLarge(t)
			var stuck atomic.Int64
			release := make(chan struct{})
			t.Cleanup(func() { close(release) })
			s.Fault(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != method || stuck.Add(1) > 1 {
					return false
				}
				if method == http.MethodGet {
					_, _ = io.WriteString(w, large[:100])
					w.(http.Flusher).Flush()
				}
				select {
				case <-release:
				case <-r.Context().Done():
				}
				panic(http.ErrAbortHandler)
			})
			h, waits := open(t, s, nil)
			// Short until the silence is noticed, then long: the rest takes what the machine takes.
			h.stall = 20 * time.Millisecond
			pause := h.sleep
			h.sleep = func(ctx context.Context, d time.Duration) error {
				if h.stall *= 2; stuck.Load() > 0 {
					h.stall = time.Minute
				}
				return pause(ctx, d)
			}
			wantFile(t, h, Model("org/name"), "", "f", large)
			if len(*waits) == 0 {
				t.Error("the silence was not noticed")
			}
		})
	}
}

func TestWrongContent(t *testing.T) {
	s := withLarge(t)
	s.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		if isContent(r) {
			_, _ = io.WriteString(w, strings.ToUpper(large))
		}
		return isContent(r)
	})
	h, _ := open(t, s, nil)
	_, err := h.File(t.Context(), Model("org/name"), "", "f")
	if err == nil || !strings.Contains(err.Error(), "its SHA-256 differs") || strings.Contains(err.Error(), "Signature") {
		t.Errorf("got %v", err)
	}
	if _, ok := h.Cached(Model("org/name"), "", "f"); ok {
		t.Error("the wrong content was kept")
	}
}

func TestBrokenConnectionHidesAddress(t *testing.T) {
	s := withLarge(t)
	s.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		if isContent(r) {
			panic(http.ErrAbortHandler)
		}
		return false
	})
	h, _ := open(t, s, nil)
	_, err := h.File(t.Context(), Model("org/name"), "", "f")
	if err == nil || !strings.Contains(err.Error(), "connection to the hub broke") || strings.Contains(err.Error(), "secret-of-the-address") {
		t.Errorf("got %v", err)
	}
}

func TestCancel(t *testing.T) {
	s := withLarge(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		if isContent(r) {
			cutShort(w, 50000)
		}
		return false
	})
	h, _ := open(t, s, nil)
	h.sleep = func(context.Context, time.Duration) error {
		cancel()
		return sleep(ctx, time.Hour)
	}
	if _, err := h.File(ctx, Model("org/name"), "", "f"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want it canceled", err)
	}
}

func TestManyAtOnce(t *testing.T) {
	s := withLarge(t)
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		h, err := New(settings(map[string]string{"HF_ENDPOINT": s.URL, "HF_HOME": dir}), nil)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			path, err := h.File(t.Context(), Model("org/name"), "", "f")
			if err != nil {
				t.Error(err)
				return
			}
			if data, err := os.ReadFile(path); err != nil || string(data) != large {
				t.Errorf("%d bytes, %v", len(data), err)
			}
		})
	}
	wg.Wait()
	gets := 0
	for _, line := range s.Asked() {
		if strings.HasPrefix(line, "GET") {
			gets++
		}
	}
	if gets != 1 {
		t.Errorf("the content was fetched %d times", gets)
	}
}

func TestCopiesWithoutLinks(t *testing.T) {
	s := withLarge(t)
	h, _ := open(t, s, map[string]string{"HF_HUB_DISABLE_SYMLINKS": "1"})
	path := wantFile(t, h, Model("org/name"), "", "f", large)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v; want a plain file", info.Mode(), err)
	}
}

// TestRedirectWithinHub is how the hub answers for small files: a redirect to another
// of its own addresses, whose response counts.
func TestRedirectWithinHub(t *testing.T) {
	s := hubtest.New(t)
	s.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("X-Repo-Commit", commitA)
		if !strings.HasPrefix(r.URL.Path, "/api/") {
			w.Header().Set("X-Linked-Etag", `"first"`)
			w.Header().Set("X-Linked-Size", "5")
			http.Redirect(w, r, "/api/resolve-cache/f?etag=1", http.StatusTemporaryRedirect)
			return true
		}
		w.Header().Set("ETag", `"second"`)
		_, _ = io.WriteString(w, "small")
		return true
	})
	h, _ := open(t, s, map[string]string{"HF_TOKEN": "t"})
	wantFile(t, h, Model("o/n"), "", "f", "small")
	if _, err := os.Stat(filepath.Join(h.cache, "models--o--n", "blobs", "second")); err != nil {
		t.Error(err)
	}
	wantAsked(t, s, "HEAD hub /o/n/resolve/main/f token", "HEAD hub /api/resolve-cache/f token", "GET hub /api/resolve-cache/f token")
}

func TestStrangeHeaders(t *testing.T) {
	s := hubtest.New(t)
	for name, header := range map[string]http.Header{
		"weak etag":     {"Etag": {`W/"abc"`}, "X-Repo-Commit": {commitA}},
		"etag with way": {"Etag": {`"../../../escape"`}, "X-Repo-Commit": {commitA}},
	} {
		s.Fault(func(w http.ResponseWriter, r *http.Request) bool {
			for k, v := range header {
				w.Header()[k] = v
			}
			_, _ = io.WriteString(w, name)
			return true
		})
		h, _ := open(t, s, nil)
		wantFile(t, h, Model("o/n"), "", "f", name)
		blobs, _ := filepath.Glob(filepath.Join(h.cache, "models--o--n", "blobs", "*"))
		if len(blobs) != 1 {
			t.Errorf("%s: blobs %v", name, blobs)
		}
	}
	s.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("ETag", `"x"`)
		w.Header().Set("X-Repo-Commit", "../../up")
		return true
	})
	h, _ := open(t, s, nil)
	if _, err := h.File(t.Context(), Model("o/n"), "", "f"); err == nil {
		t.Error("a commit that leads out of the cache was accepted")
	}
}
