package hub

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/remote/hub/hubtest"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

const (
	commitA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	commitB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// settings makes an environment of a map.
func settings(m map[string]string) func(string) string {
	return func(name string) string { return m[name] }
}

// open makes a hub on a stand-in with a cache of its own. The waits between tries
// are noted and not waited.
func open(t *testing.T, s *hubtest.Server, extra map[string]string) (*Hub, *[]time.Duration) {
	t.Helper()
	env := map[string]string{"HF_ENDPOINT": s.URL, "HF_HOME": t.TempDir()}
	for k, v := range extra {
		env[k] = v
	}
	h, err := New(settings(env), nil)
	if err != nil {
		t.Fatal(err)
	}
	waits := &[]time.Duration{}
	h.sleep = func(ctx context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return ctx.Err()
	}
	return h, waits
}

func wantFile(t *testing.T, h *Hub, repo Repo, revision, name, content string) string {
	t.Helper()
	path, err := h.File(t.Context(), repo, revision, name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != content {
		t.Fatalf("%s holds %d bytes %.20q, want %d bytes %.20q", name, len(data), data, len(content), content)
	}
	return path
}

func wantAsked(t *testing.T, s *hubtest.Server, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.Asked()); diff != "" {
		t.Errorf("what the hub was asked for (-want +got):\n%s", diff)
	}
}

func TestFileLayout(t *testing.T) {
	s := hubtest.New(t)
	big := strings.Repeat("0123456789", 1000)
	s.Add("org/name", commitA, map[string]hubtest.FakeFile{
		"tokenizer.json": {Data: big, Large: true},
		"sub/small.txt":  {Data: "small"},
	})
	h, _ := open(t, s, map[string]string{"HF_TOKEN": "hf_sesame"})
	repo := Model("org/name")

	path := wantFile(t, h, repo, "", "tokenizer.json", big)
	dir := filepath.Join(h.cache, "models--org--name")
	if want := filepath.Join(dir, "snapshots", commitA, "tokenizer.json"); path != want {
		t.Errorf("path %s, want %s", path, want)
	}
	wantAsked(t, s,
		"HEAD hub /org/name/resolve/main/tokenizer.json token",
		"GET content /"+hubtest.Sum(big))
	ref, err := os.ReadFile(filepath.Join(dir, "refs", "main"))
	if err != nil || string(ref) != commitA {
		t.Errorf("refs/main is %q, %v", ref, err)
	}
	if runtime.GOOS != "windows" {
		link, err := os.Readlink(path)
		if want := filepath.Join("..", "..", "blobs", hubtest.Sum(big)); err != nil || link != want {
			t.Errorf("snapshot links to %s, %v; want %s", link, err, want)
		}
	}

	// A second time nothing is asked; another file comes from the same commit.
	wantFile(t, h, repo, "main", "tokenizer.json", big)
	wantAsked(t, s)
	wantFile(t, h, repo, "main", "sub/small.txt", "small")
	wantAsked(t, s,
		"HEAD hub /org/name/resolve/"+commitA+"/sub/small.txt token",
		"GET hub /org/name/resolve/"+commitA+"/sub/small.txt token")
	if _, err := os.Stat(filepath.Join(dir, "blobs", hubtest.GitSum("small"))); err != nil {
		t.Error(err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "blobs", "*.incomplete"))
	if left != nil {
		t.Errorf("left over: %v", left)
	}
}

func TestRevisions(t *testing.T) {
	s := hubtest.New(t)
	r := s.Add("org/name", commitA, map[string]hubtest.FakeFile{"f": {Data: "old"}, "same": {Data: "same"}})
	r.Commits[commitB] = map[string]hubtest.FakeFile{"f": {Data: "new"}, "same": {Data: "same"}}
	r.Refs["refs/pr/1"] = commitB
	h, _ := open(t, s, nil)
	repo := Model("org/name")
	wantFile(t, h, repo, "main", "f", "old")
	wantFile(t, h, repo, "refs/pr/1", "f", "new")
	s.Asked()
	wantFile(t, h, repo, commitB, "f", "new") // known by its commit too
	wantAsked(t, s)

	wantFile(t, h, repo, "main", "same", "same")
	s.Asked()
	wantFile(t, h, repo, "refs/pr/1", "same", "same") // the blob is there already
	wantAsked(t, s, "HEAD hub /org/name/resolve/"+commitB+"/same")

	// The branch moves: the cache stays with what it has, until its commit is gone.
	r.Refs["main"] = commitB
	wantFile(t, h, repo, "main", "f", "old")
	delete(r.Commits, commitA)
	r.Commits[commitB]["late"] = hubtest.FakeFile{Data: "late"}
	wantFile(t, h, repo, "main", "late", "late")
}

func TestRevisionInAddress(t *testing.T) {
	s := hubtest.New(t)
	s.Add("datasets/org/name", commitA, map[string]hubtest.FakeFile{"a b/ü#1.txt": {Data: "x"}}).Refs["refs/pr/1"] = commitA
	h, _ := open(t, s, nil)
	path := wantFile(t, h, Dataset("org/name"), "refs/pr/1", "a b/ü#1.txt", "x")
	wantAsked(t, s,
		"HEAD hub /datasets/org/name/resolve/refs%2Fpr%2F1/a%20b/%C3%BC%231.txt",
		"GET hub /datasets/org/name/resolve/refs%2Fpr%2F1/a%20b/%C3%BC%231.txt")
	if want := filepath.Join(h.cache, "datasets--org--name", "snapshots", commitA, "a b", "ü#1.txt"); path != want {
		t.Errorf("path %s, want %s", path, want)
	}
}

func TestMovedRepository(t *testing.T) {
	s := hubtest.New(t)
	s.Add("openai-community/gpt2", commitA, map[string]hubtest.FakeFile{"vocab.json": {Data: "{}"}})
	s.Add("gpt2", commitA, nil).Moved = "openai-community/gpt2"
	h, _ := open(t, s, map[string]string{"HF_TOKEN": "t"})
	path := wantFile(t, h, Model("gpt2"), "", "vocab.json", "{}")
	if !strings.Contains(path, "models--gpt2") {
		t.Errorf("kept as %s, want it under the name that was asked for", path)
	}
	wantAsked(t, s,
		"HEAD hub /gpt2/resolve/main/vocab.json token",
		"HEAD hub /openai-community/gpt2/resolve/main/vocab.json token",
		"GET hub /openai-community/gpt2/resolve/main/vocab.json token")
}

func TestMissingFileIsRemembered(t *testing.T) {
	s := hubtest.New(t)
	s.Add("org/name", commitA, map[string]hubtest.FakeFile{"f": {Data: "x"}})
	h, _ := open(t, s, nil)
	for range 2 {
		_, err := h.File(t.Context(), Model("org/name"), "", "chat_template.jinja")
		if !errors.Is(err, ErrNotFound) {
			t.Fatalf("got %v, want ErrNotFound", err)
		}
	}
	wantAsked(t, s, "HEAD hub /org/name/resolve/main/chat_template.jinja")
	if _, err := os.Stat(filepath.Join(h.cache, "models--org--name", ".no_exist", commitA, "chat_template.jinja")); err != nil {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	s := hubtest.New(t)
	s.Add("org/open", commitA, map[string]hubtest.FakeFile{"f": {Data: "x"}}).Token = "hf_right"
	gated := s.Add("org/gated", commitA, map[string]hubtest.FakeFile{"f": {Data: "x"}})
	gated.Gated = true
	for _, tc := range []struct {
		name, repo, revision, file string
		env                        map[string]string
		want                       error
		says                       []string
	}{
		{"gated without token", "org/gated", "", "f", nil, ErrGated,
			[]string{"model org/gated is gated", "accept its licence at " + s.URL + "/org/gated", "set HF_TOKEN", "huggingface-cli login", "local file or directory"}},
		{"gated with token", "org/gated", "", "f", map[string]string{"HF_TOKEN": "hf_sesame"}, ErrGated,
			[]string{"accept its licence at " + s.URL + "/org/gated", "account that the token in use belongs to"}},
		{"bad token", "org/open", "", "f", map[string]string{"HF_TOKEN": "hf_sesame"}, ErrRefused,
			[]string{"does not accept the token", "HF_TOKEN", "huggingface-cli login"}},
		{"no repository", "org/nothing", "", "f", nil, ErrNoRepo,
			[]string{"no model org/nothing", "check the spelling", "set HF_TOKEN", "local file or directory"}},
		{"no revision", "org/open", "v9", "f", nil, ErrNoRevision, []string{"model org/open has no revision v9", "branch, a tag or a full commit"}},
		{"no file", "org/open", "", "g", nil, ErrNotFound, []string{"model org/open has no file g at revision main"}},
		{"offline", "org/open", "", "f", map[string]string{"HF_HUB_OFFLINE": "1"}, ErrOffline,
			[]string{"f of model org/open at revision main is not in the local cache", "HF_HUB_OFFLINE", "local file or directory"}},
		{"bad name", "../etc", "", "f", nil, nil, []string{`"../etc" is not the name of a model`, "owner/name"}},
		{"bad file", "org/open", "", "../../f", nil, nil, []string{`"../../f" is not the path of a file`}},
		{"bad revision", "org/open", "../x", "f", nil, nil, []string{`"../x" is not a revision`}},
		{"unreachable", "org/open", "", "f", map[string]string{"HF_ENDPOINT": "http://user:pw@127.0.0.1:1"}, ErrUnreachable,
			[]string{"cannot be reached", "HF_ENDPOINT", "local file or directory"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h, waits := open(t, s, tc.env)
			_, err := h.File(t.Context(), Model(tc.repo), tc.revision, tc.file)
			if err == nil || (tc.want != nil && !errors.Is(err, tc.want)) {
				t.Fatalf("got %v, want %v", err, tc.want)
			}
			for _, part := range tc.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("message %q lacks %q", err, part)
				}
			}
			for _, secret := range []string{"hf_sesame", "pw"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("message %q holds a secret", err)
				}
			}
			if len(*waits) > 0 {
				t.Errorf("tried again after %v", *waits)
			}
		})
	}
}

func TestOfflineUsesCache(t *testing.T) {
	s := hubtest.New(t)
	s.Add("org/name", commitA, map[string]hubtest.FakeFile{"f": {Data: "x"}})
	h, _ := open(t, s, nil)
	wantFile(t, h, Model("org/name"), "", "f", "x")
	s.Asked()
	off, err := New(settings(map[string]string{"HF_HUB_CACHE": h.cache, "TRANSFORMERS_OFFLINE": "yes", "HF_ENDPOINT": s.URL}), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, off, Model("org/name"), "", "f", "x")
	if _, ok := off.Cached(Model("org/name"), "", "g"); ok {
		t.Error("Cached finds a file that is not there")
	}
	if _, ok := off.Cached(Model("org/name"), "", "f"); !ok {
		t.Error("Cached does not find a file that is there")
	}
	wantAsked(t, s)
}

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("home/.cache/huggingface/token", "from-login\n")
	write("xdg/huggingface/token", " from-xdg ")
	other := write("other", "from-path\r\n")
	home := filepath.Join(dir, "home")
	for _, tc := range []struct {
		name                   string
		env                    map[string]string
		cache, token, endpoint string
	}{
		{"login", map[string]string{"HOME": home}, filepath.Join(home, ".cache", "huggingface", "hub"), "from-login", DefaultEndpoint},
		{"xdg", map[string]string{"HOME": home, "XDG_CACHE_HOME": filepath.Join(dir, "xdg")}, filepath.Join(dir, "xdg", "huggingface", "hub"), "from-xdg", DefaultEndpoint},
		{"home", map[string]string{"HOME": home, "HF_HOME": "~/.cache/huggingface", "XDG_CACHE_HOME": "/x"}, filepath.Join(home, ".cache", "huggingface", "hub"), "from-login", DefaultEndpoint},
		{"cache", map[string]string{"HOME": home, "HF_HUB_CACHE": "$HOME/c", "HUGGINGFACE_HUB_CACHE": "/old"}, filepath.Join(home, "c"), "from-login", DefaultEndpoint},
		{"old cache", map[string]string{"HUGGINGFACE_HUB_CACHE": filepath.Join(dir, "old")}, filepath.Join(dir, "old"), "", DefaultEndpoint},
		{"token", map[string]string{"HOME": home, "HF_TOKEN": " given\n", "HUGGING_FACE_HUB_TOKEN": "old"}, filepath.Join(home, ".cache", "huggingface", "hub"), "given", DefaultEndpoint},
		{"token path", map[string]string{"HOME": home, "HF_TOKEN_PATH": other}, filepath.Join(home, ".cache", "huggingface", "hub"), "from-path", DefaultEndpoint},
		{"no token", map[string]string{"HOME": home, "HF_TOKEN": "x", "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}, filepath.Join(home, ".cache", "huggingface", "hub"), "", DefaultEndpoint},
		{"endpoint", map[string]string{"HOME": home, "HF_ENDPOINT": "https://mirror.example/hf/"}, filepath.Join(home, ".cache", "huggingface", "hub"), "from-login", "https://mirror.example/hf"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h, err := New(settings(tc.env), nil)
			if err != nil {
				t.Fatal(err)
			}
			if h.cache != tc.cache || h.token != tc.token || h.Endpoint() != tc.endpoint {
				t.Errorf("cache %s, token %q, endpoint %s; want %s, %q, %s", h.cache, h.token, h.Endpoint(), tc.cache, tc.token, tc.endpoint)
			}
		})
	}
	for name, env := range map[string]map[string]string{
		"HF_HUB_CACHE":            {},
		"HF_ENDPOINT":             {"HOME": home, "HF_ENDPOINT": "huggingface.co"},
		"HF_HUB_DOWNLOAD_TIMEOUT": {"HOME": home, "HF_HUB_DOWNLOAD_TIMEOUT": "soon"},
	} {
		if _, err := New(settings(env), nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: error %v does not name %s", env, err, name)
		}
	}
}

func TestSubPathOfEndpoint(t *testing.T) {
	h, err := New(settings(map[string]string{"HOME": "/h", "HF_ENDPOINT": "https://mirror.example/a%2Fb/"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := h.resolve(Model("o/n"), "main", "f").String()
	if want := "https://mirror.example/a%2Fb/o/n/resolve/main/f"; got != want {
		t.Errorf("address %s, want %s", got, want)
	}
}

func TestNotAHub(t *testing.T) {
	s := hubtest.New(t)
	s.Fault(func(w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(http.StatusOK)
		return true
	})
	h, _ := open(t, s, nil)
	_, err := h.File(t.Context(), Model("o/n"), "", "f")
	if err == nil || !strings.Contains(err.Error(), "HF_ENDPOINT does not point to a Hugging Face hub") {
		t.Errorf("got %v", err)
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"main", "../x", "a/../b", "refs/pr/1", "C:\\x", "a//b", ".", "", "a/./b", "/etc/passwd", "x\x00y"} {
		f.Add(s)
	}
	root := f.TempDir()
	mutate.Fuzz(f, func(t *testing.T, s string) {
		if safePath(s) {
			path := filepath.Join(root, filepath.FromSlash(s))
			if rel, err := filepath.Rel(root, path); err != nil || !filepath.IsLocal(rel) || rel == "." {
				t.Fatalf("%q leads to %s", s, path)
			}
		}
		if safeName(s) && filepath.Dir(filepath.Join(root, s)) != root {
			t.Fatalf("%q is no plain name", s)
		}
		if ValidName(s) && !safePath(s) {
			t.Fatalf("%q is a valid name that leads elsewhere", s)
		}
	})
}
