package hub

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/limitio"
)

// metadata is what the hub says of a file before it is fetched.
type metadata struct {
	commit string
	etag   string
	size   int64 // -1: not said
	from   *url.URL
}

// fetch asks the hub for a file and caches it. Ask is the address's revision: the commit, if known.
func (h *Hub) fetch(ctx context.Context, s store, repo Repo, revision, ask, name string) (string, error) {
	address := h.resolve(repo, ask, name)
	meta, err := h.metadata(ctx, address)
	if errors.Is(err, ErrNoRevision) && ask != revision {
		// The commit in the cache is gone from the hub: the branch was rewritten.
		address = h.resolve(repo, revision, name)
		meta, err = h.metadata(ctx, address)
	}
	if err != nil {
		if errors.Is(err, ErrNotFound) && meta.commit != "" {
			// Both are notes for the next time; the response stands without them.
			_ = s.setMissing(meta.commit, name)
			_ = s.setRef(revision, meta.commit)
		}
		return "", err
	}
	if err := s.setRef(revision, meta.commit); err != nil {
		return "", err
	}
	if path, ok := s.find(meta.commit, name); ok {
		return path, nil
	}
	unlock, err := h.lock(ctx, s.lockFile(meta.etag))
	if err != nil {
		return "", err
	}
	defer unlock()
	if !hasBlob(s.blob(meta.etag), meta.size) {
		if err := h.download(ctx, s.blob(meta.etag), address, meta); err != nil {
			return "", err
		}
	}
	return s.link(meta.etag, meta.commit, name)
}

// hasBlob reports whether another process or revision has brought the content.
func hasBlob(path string, size int64) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (size < 0 || info.Size() == size)
}

// resolve is the address of a file on the hub.
func (h *Hub) resolve(repo Repo, revision, name string) *url.URL {
	u := *h.endpoint
	// A revision may hold slashes, which are then part of one path element.
	tail := repo.path() + "/resolve/"
	u.Path = strings.TrimRight(u.Path, "/") + "/" + tail + revision + "/" + name
	u.RawPath = strings.TrimRight(h.endpoint.EscapedPath(), "/") + "/" + tail + url.PathEscape(revision) + "/" + escapeEach(name)
	return &u
}

func escapeEach(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// metadata asks for a file's commit, ETag, size and place, with retries.
func (h *Hub) metadata(ctx context.Context, address *url.URL) (meta metadata, err error) {
	err = h.retry(ctx, func() (bool, error) {
		meta, err = h.head(ctx, address)
		return false, err
	})
	return meta, err
}

// maxHops bounds a chain of redirects.
const maxHops = 10

// head asks once. Redirects within a host (a renamed model) are followed; the content is at
// another's.
func (h *Hub) head(ctx context.Context, address *url.URL) (metadata, error) {
	meta := metadata{size: -1, from: address}
	var linkedETag, linkedSize string
	for range maxHops {
		resp, err := h.send(ctx, http.MethodHead, meta.from, 0)
		if err != nil {
			return meta, err
		}
		resp.Body.Close()
		if c := resp.Header.Get("X-Repo-Commit"); safeName(c) {
			meta.commit = c
		}
		if !isRedirect(resp.StatusCode) {
			if err := h.status(resp); err != nil {
				return meta, err
			}
			return meta.complete(resp, linkedETag, linkedSize)
		}
		next, err := resp.Location()
		if err != nil {
			return meta, errors.New("the hub redirects to no address")
		}
		elsewhere := !sameHost(next, meta.from)
		meta.from = next
		if elsewhere {
			return meta.complete(resp, linkedETag, linkedSize)
		}
		linkedETag = cmp.Or(resp.Header.Get("X-Linked-Etag"), linkedETag)
		linkedSize = cmp.Or(resp.Header.Get("X-Linked-Size"), linkedSize)
	}
	return meta, fmt.Errorf("the hub redirects more than %d times", maxHops)
}

// complete fills in what the last response says of the content, or else one on the way
// to it.
func (m metadata) complete(resp *http.Response, linkedETag, linkedSize string) (metadata, error) {
	etag := cmp.Or(resp.Header.Get("X-Linked-Etag"), resp.Header.Get("ETag"), linkedETag)
	etag = strings.Trim(strings.TrimPrefix(etag, "W/"), `"`)
	if m.commit == "" || etag == "" {
		return m, errors.New("the response lacks X-Repo-Commit or ETag: HF_ENDPOINT does not point to a Hugging Face hub, or a proxy removes its headers")
	}
	if !safeName(etag) {
		sum := sha256.Sum256([]byte(etag))
		etag = "etag-" + hex.EncodeToString(sum[:])
	}
	m.etag = etag
	if !isRedirect(resp.StatusCode) {
		m.size = resp.ContentLength
	}
	for _, said := range []string{linkedSize, resp.Header.Get("X-Linked-Size")} {
		if n, err := strconv.ParseInt(said, 10, 64); err == nil && n >= 0 {
			m.size = n
		}
	}
	return m, nil
}

// download fetches a blob. What an earlier try has left is continued.
func (h *Hub) download(ctx context.Context, blob string, address *url.URL, meta metadata) error {
	if err := os.MkdirAll(filepath.Dir(blob), 0o755); err != nil {
		return writeError(err)
	}
	part, err := os.OpenFile(blob+".incomplete", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return writeError(err)
	}
	defer part.Close()
	again := false
	err = h.retry(ctx, func() (bool, error) {
		if again {
			// The address of the content is signed and expires.
			now, err := h.head(ctx, address)
			if err != nil {
				return false, err
			}
			if now.etag != meta.etag {
				return false, errors.New("the file changed on the hub while it was fetched; run it again")
			}
			meta.from = now.from
		}
		again = true
		return h.continueAt(ctx, part, meta)
	})
	if err != nil {
		return err
	}
	// Closed first: an open file cannot be renamed everywhere.
	if err := part.Close(); err != nil {
		return writeError(err)
	}
	return writeError(os.Rename(part.Name(), blob))
}

// enoughProgress is what a try must have brought for the next one to count as the first.
const enoughProgress = 1 << 20

// continueAt fetches what a partial file lacks. It reports whether the try brought
// the file a good deal further, even where it failed in the end.
func (h *Hub) continueAt(ctx context.Context, part *os.File, meta metadata) (bool, error) {
	if h.most.Over(meta.size) {
		return false, &limitio.Error{What: "the file", Limit: h.most}
	}
	start, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return false, writeError(err)
	}
	if meta.size >= 0 && start > meta.size {
		if start, err = 0, restart(part); err != nil {
			return false, err
		}
	}
	if start != meta.size {
		n, err := h.receive(ctx, part, start, meta)
		if err != nil {
			return n >= enoughProgress, err
		}
	}
	return false, verify(part, meta)
}

// receive appends the rest of the content to a partial file.
func (h *Hub) receive(ctx context.Context, part *os.File, start int64, meta metadata) (int64, error) {
	ctx, watch := h.watch(ctx)
	defer watch.stop()
	resp, err := h.follow(ctx, meta.from, start)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && start > 0:
		if err := restart(part); err != nil {
			return 0, err
		}
		return 0, &temporary{err: errors.New("the hub does not continue the file where it stopped")}
	case resp.StatusCode == http.StatusPartialContent && rangeStart(resp) != start,
		resp.StatusCode == http.StatusOK && start > 0:
		// The server sends another part than asked for: all of it is taken anew.
		if err := restart(part); err != nil {
			return 0, err
		}
		if resp.StatusCode == http.StatusPartialContent {
			return 0, &temporary{err: errors.New("the hub sends another part of the file than requested")}
		}
		start = 0
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusPartialContent:
		return 0, h.status(resp)
	}
	body := io.Reader(&watched{r: resp.Body, watch: watch})
	if meta.size >= 0 {
		body = io.LimitReader(body, meta.size-start+1) // one more shows a file that is too long
	} else if h.most.Bytes > 0 {
		body = io.LimitReader(body, h.most.Bytes-start+1)
	}
	n, err := copyTo(part, body)
	var lost *temporary
	if errors.As(err, &lost) {
		return n, h.broken(ctx, lost.err)
	}
	if err == nil && h.most.Over(start+n) {
		err = errors.Join(&limitio.Error{What: "the file", Limit: h.most}, restart(part))
	}
	if err != nil {
		return n, err
	}
	if meta.size >= 0 && start+n != meta.size {
		err := fmt.Errorf("%d bytes arrived of %d", start+n, meta.size)
		if start+n > meta.size {
			err = errors.Join(fmt.Errorf("more than %d bytes arrived", meta.size), restart(part))
		}
		return n, &temporary{err: err}
	}
	return n, nil
}

// copyTo copies everything; a failure to write is told from a failure to read.
func copyTo(part *os.File, body io.Reader) (int64, error) {
	buf := make([]byte, 128<<10)
	var total int64
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, e := part.Write(buf[:n]); e != nil {
				return total, writeError(e)
			}
			total += int64(n)
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, &temporary{err: err}
		}
	}
}

func restart(part *os.File) error {
	if err := part.Truncate(0); err != nil {
		return writeError(err)
	}
	_, err := part.Seek(0, io.SeekStart)
	return writeError(err)
}

// rangeStart is where the part begins that a response holds; -1 where it does not say.
func rangeStart(resp *http.Response) int64 {
	s, ok := strings.CutPrefix(resp.Header.Get("Content-Range"), "bytes ")
	s, _, _ = strings.Cut(s, "-")
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || !ok {
		return -1
	}
	return n
}

// verify compares a complete file with the hash that names it: the ETag of a large
// file is its SHA-256. Other ETags say nothing that can be checked.
func verify(part *os.File, meta metadata) error {
	if len(meta.etag) != 64 || !isHex(meta.etag) {
		return nil
	}
	if _, err := part.Seek(0, io.SeekStart); err != nil {
		return writeError(err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, part); err != nil {
		return writeError(err)
	}
	if hex.EncodeToString(sum.Sum(nil)) == meta.etag {
		return nil
	}
	if err := restart(part); err != nil {
		return err
	}
	return &temporary{err: errors.New("the downloaded file is corrupt: its SHA-256 differs from the hub's")}
}
