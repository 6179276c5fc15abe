package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostListing bounds what the hub may say of a repository.
const mostListing = 64 << 20

// Files lists the files of a repository at a revision, in order: without a hub those in the local
// cache. The error is an *Error as that of File.
func (h *Hub) Files(ctx context.Context, repo Repo, revision string) ([]string, error) {
	revision = cmp.Or(revision, DefaultRevision)
	var commit string
	fail := func(err error) ([]string, error) {
		return nil, h.failure(repo, revision, commit, "the list of files", err)
	}
	if err := check(repo, revision, "any"); err != nil {
		return fail(err)
	}
	s := h.store(repo)
	commit = s.commit(revision)
	held := s.held(commit)
	if h.offline {
		if len(held) == 0 {
			return fail(ErrOffline)
		}
		return held, nil
	}
	ask := cmp.Or(commit, revision)
	found, names, err := h.list(ctx, repo, ask)
	if errors.Is(err, ErrNoRevision) && ask != revision {
		found, names, err = h.list(ctx, repo, revision)
	}
	if errors.Is(err, ErrUnreachable) && len(held) > 0 {
		return held, nil
	}
	if err != nil {
		return fail(err)
	}
	if err := s.setRef(revision, found); err != nil {
		return fail(err)
	}
	return names, nil
}

// held lists the files of a commit that the cache has.
func (s store) held(commit string) []string {
	if commit == "" {
		return nil
	}
	root := filepath.Join(s.dir, "snapshots", commit)
	var names []string
	// A folder that cannot be read has nothing to offer.
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return nil
		}
		if name, err := filepath.Rel(root, path); err == nil {
			names = append(names, filepath.ToSlash(name))
		}
		return nil
	})
	slices.Sort(names)
	return names
}

// list asks the hub for the files of a repository, and for the commit.
func (h *Hub) list(ctx context.Context, repo Repo, revision string) (commit string, names []string, err error) {
	u := *h.endpoint
	tail := "/api/" + string(repo.Kind) + "s/" + repo.Name + "/revision/"
	u.Path = strings.TrimRight(u.Path, "/") + tail + revision
	u.RawPath = strings.TrimRight(h.endpoint.EscapedPath(), "/") + tail + url.PathEscape(revision)
	err = h.retry(ctx, func() (bool, error) {
		commit, names, err = h.listOnce(ctx, &u)
		return false, err
	})
	return commit, names, err
}

func (h *Hub) listOnce(ctx context.Context, u *url.URL) (commit string, names []string, err error) {
	ctx, watch := h.watch(ctx)
	defer watch.stop()
	resp, err := h.follow(ctx, u, 0)
	if err != nil {
		return "", nil, err
	}
	defer resp.Body.Close()
	if err := h.status(resp); err != nil {
		return "", nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return "", nil, fmt.Errorf("the hub answers %s", resp.Status)
	}
	data, err := io.ReadAll(io.LimitReader(&watched{r: resp.Body, watch: watch}, mostListing))
	if err != nil {
		return "", nil, h.broken(ctx, err)
	}
	var info struct {
		SHA      string `json:"sha"`
		Siblings []struct {
			Name string `json:"rfilename"`
		} `json:"siblings"`
	}
	if err := json.Unmarshal(data, &info); err != nil || !safeName(info.SHA) {
		return "", nil, errors.New("the response is not a list of files: HF_ENDPOINT does not point to a Hugging Face hub")
	}
	for _, f := range info.Siblings {
		if safePath(f.Name) {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return info.SHA, names, nil
}
