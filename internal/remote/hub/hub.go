// Package hub gets files of models and datasets from the Hugging Face hub. It
// shares the local cache with the Python library huggingface_hub: the same
// variables, the same layout, the same locks, so that a file that either of the
// two has fetched is fetched once.
//
// The cache comes first: a file that the cache holds for a revision is used
// without asking the hub whether the branch has moved since, so that a run can be
// repeated and needs no network. All files of one revision come from one commit.
package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/limitio"
)

// DefaultEndpoint is the hub that is asked when HF_ENDPOINT names no other.
const DefaultEndpoint = "https://huggingface.co"

// DefaultRevision is the branch that an empty revision means.
const DefaultRevision = "main"

// Hub finds files in the local cache and fetches them from the hub. It is safe for
// concurrent use and, with other processes, on one cache.
type Hub struct {
	client   *http.Client
	endpoint *url.URL
	cache    string
	token    string
	offline  bool
	most     limitio.Limit // of a file
	links    bool          // snapshots are links to blobs; copies where it is false

	tries int                                        // of one request, in all
	stall time.Duration                              // the longest silence of the hub
	sleep func(context.Context, time.Duration) error // between two tries
}

// New reads the settings from the environment: HF_ENDPOINT, HF_HUB_CACHE (or
// HUGGINGFACE_HUB_CACHE), HF_HOME, XDG_CACHE_HOME, HF_HUB_OFFLINE (or
// TRANSFORMERS_OFFLINE), HF_TOKEN (or HUGGING_FACE_HUB_TOKEN), HF_TOKEN_PATH,
// HF_HUB_DISABLE_IMPLICIT_TOKEN, HF_HUB_DISABLE_SYMLINKS, HF_HUB_DOWNLOAD_TIMEOUT.
// A nil client means http.DefaultClient. The client's own redirect policy and
// timeout are not used.
func New(env func(string) string, client *http.Client) (*Hub, error) {
	if client == nil {
		client = http.DefaultClient
	}
	own := *client
	own.Timeout = 0
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

	h := &Hub{
		client:  &own,
		offline: isTrue(first(env, "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")),
		links:   !isTrue(env("HF_HUB_DISABLE_SYMLINKS")),
		tries:   5,
		stall:   30 * time.Second,
		sleep:   sleep,
	}
	if s := env("HF_HUB_DOWNLOAD_TIMEOUT"); s != "" {
		d, err := time.ParseDuration(s + "s")
		if err != nil || d <= 0 {
			return nil, fmt.Errorf("HF_HUB_DOWNLOAD_TIMEOUT is %q; give a number of seconds", s)
		}
		h.stall = d
	}
	var err error
	if h.endpoint, err = endpoint(env("HF_ENDPOINT")); err != nil {
		return nil, err
	}
	home, err := homeDir(env)
	if err != nil && first(env, "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE") == "" {
		return nil, err
	}
	h.cache = cmp.Or(expand(env, first(env, "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")), filepath.Join(home, "hub"))
	if h.cache, err = filepath.Abs(h.cache); err != nil {
		return nil, fmt.Errorf("finding the Hugging Face cache: %w; set HF_HUB_CACHE to an absolute path", err)
	}
	h.token = token(env, home)
	return h, nil
}

// Limit bounds the files that are fetched.
func (h *Hub) Limit(l limitio.Limit) *Hub {
	h.most = l
	return h
}

// Endpoint is the address of the hub, without a password.
func (h *Hub) Endpoint() string { return h.endpoint.Redacted() }

// Offline reports whether the environment forbids asking the hub.
func (h *Hub) Offline() bool { return h.offline }

// File returns the path of a file of a repository at a revision (a branch, a tag or a commit; "" is
// main). The error is an *Error that is ErrNotFound, ErrNoRepo, ErrNoRevision, ErrGated, ErrOffline
// or another.
func (h *Hub) File(ctx context.Context, repo Repo, revision, name string) (string, error) {
	revision = cmp.Or(revision, DefaultRevision)
	var commit string
	fail := func(err error) (string, error) {
		return "", h.failure(repo, revision, commit, name, err)
	}
	if err := check(repo, revision, name); err != nil {
		return fail(err)
	}
	store := h.store(repo)
	commit = store.commit(revision)
	if path, ok := store.find(commit, name); ok {
		return path, nil
	}
	if store.missing(commit, name) {
		return fail(ErrNotFound)
	}
	if h.offline {
		return fail(ErrOffline)
	}
	// Once the cache has a commit for a branch, what is missing comes from that commit.
	path, err := h.fetch(ctx, store, repo, revision, cmp.Or(commit, revision), name)
	if err != nil {
		return fail(err)
	}
	return path, nil
}

// Cached returns the path of a file that the local cache holds already.
func (h *Hub) Cached(repo Repo, revision, name string) (string, bool) {
	revision = cmp.Or(revision, DefaultRevision)
	if check(repo, revision, name) != nil {
		return "", false
	}
	store := h.store(repo)
	return store.find(store.commit(revision), name)
}

// Repo is a repository on the hub.
type Repo struct {
	// Kind is KindModel, KindDataset or KindSpace.
	Kind RepoType
	// Name is the owner and the name, "owner/name"; some old models have no owner.
	Name string
}

// RepoType is what a repository holds.
type RepoType string

// The kinds of repositories.
const (
	KindModel   RepoType = "model"
	KindDataset RepoType = "dataset"
	KindSpace   RepoType = "space"
)

// Model is the repository of a model.
func Model(name string) Repo { return Repo{Kind: KindModel, Name: name} }

// Dataset is the repository of a dataset.
func Dataset(name string) Repo { return Repo{Kind: KindDataset, Name: name} }

// path is where the repository stands on the hub.
func (r Repo) path() string {
	if r.Kind == KindModel {
		return r.Name
	}
	return string(r.Kind) + "s/" + r.Name
}

// folder is the name of the repository's folder in the cache.
func (r Repo) folder() string {
	return string(r.Kind) + "s--" + strings.ReplaceAll(r.Name, "/", "--")
}

// ValidName reports whether name can be a repository's: one or two words of letters, digits, '-',
// '_', '.'.
func ValidName(name string) bool {
	if len(name) > 96 || strings.Contains(name, "--") || strings.Contains(name, "..") || strings.HasSuffix(name, ".git") {
		return false
	}
	return regexp.MustCompile(`^(\w[\w.-]*/)?\w([\w.-]*\w)?$`).MatchString(name)
}

func check(repo Repo, revision, name string) error {
	switch {
	case !slices.Contains([]RepoType{KindModel, KindDataset, KindSpace}, repo.Kind):
		return fmt.Errorf("the hub has no repositories of kind %q", repo.Kind)
	case !ValidName(repo.Name):
		return fmt.Errorf("%q is not the name of a %s on the hub; names look like owner/name", repo.Name, repo.Kind)
	case !safePath(revision):
		return fmt.Errorf("%q is not a revision; give a branch, a tag or a commit", revision)
	case !safePath(name):
		return fmt.Errorf("%q is not the path of a file in a repository", name)
	}
	return nil
}

// safePath reports whether a path with slashes stays below the folder it is put in.
func safePath(p string) bool {
	return p != "" && !strings.ContainsAny(p, "\\:\x00") && filepath.IsLocal(filepath.FromSlash(p)) &&
		!strings.Contains("/"+p+"/", "//") && !strings.Contains("/"+p+"/", "/./") && !strings.Contains("/"+p+"/", "/../")
}

func endpoint(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(cmp.Or(s, DefaultEndpoint), "/"))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("HF_ENDPOINT is not a web address; give one like " + DefaultEndpoint)
	}
	return u, nil
}

// homeDir is the folder that holds the cache and the login.
func homeDir(env func(string) string) (string, error) {
	if dir := env("HF_HOME"); dir != "" {
		return expand(env, dir), nil
	}
	if dir := env("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(expand(env, dir), "huggingface"), nil
	}
	home := userHome(env)
	if home == "" {
		return "", errors.New("no place for the Hugging Face cache: set HF_HOME or HF_HUB_CACHE to a folder")
	}
	return filepath.Join(home, ".cache", "huggingface"), nil
}

func userHome(env func(string) string) string { return first(env, "HOME", "USERPROFILE") }

// expand replaces $NAME and a leading ~, as huggingface_hub does.
func expand(env func(string) string, path string) string {
	path = os.Expand(path, env)
	if home := userHome(env); home != "" && (path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~\`)) {
		path = filepath.Join(home, path[1:])
	}
	return path
}

// token is what the user has logged in with; "" where there is nothing.
func token(env func(string) string, home string) string {
	if isTrue(env("HF_HUB_DISABLE_IMPLICIT_TOKEN")) {
		return ""
	}
	if t := clean(first(env, "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")); t != "" {
		return t
	}
	// No file, or one that cannot be read, means not logged in.
	data, _ := os.ReadFile(cmp.Or(expand(env, env("HF_TOKEN_PATH")), filepath.Join(home, "token")))
	return clean(string(data))
}

// clean drops line ends and spaces around a token. What no header can carry is
// no token.
func clean(t string) string {
	t = strings.TrimSpace(t)
	for _, c := range []byte(t) {
		if c <= ' ' || c >= 0x7f {
			return ""
		}
	}
	return t
}

func first(env func(string) string, names ...string) string {
	for _, n := range names {
		if v := env(n); v != "" {
			return v
		}
	}
	return ""
}

func isTrue(s string) bool {
	return slices.Contains([]string{"1", "ON", "YES", "TRUE"}, strings.ToUpper(s))
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
