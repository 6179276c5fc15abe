// Package hubtest is a stand-in for the Hugging Face hub, for tests. It has what matters to a
// client: commits, ETags, large files on another host, gated and missing repositories, byte ranges.
// It can fail as networks do.
package hubtest

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a stand-in hub with a second host for large files.
type Server struct {
	URL string // of the hub, for HF_ENDPOINT

	hub, content *httptest.Server

	mu    sync.Mutex
	repos map[string]*FakeRepo
	asked []string
	fault func(w http.ResponseWriter, r *http.Request) bool
}

// FakeRepo is one repository. Its name has "datasets/" before it where it is a dataset.
type FakeRepo struct {
	Commits map[string]map[string]FakeFile // by commit, then by path
	Refs    map[string]string              // commit by branch
	Gated   bool                           // needs Token
	Token   string
	Moved   string // the new name
}

// FakeFile is the content of a file. A large one lies on the other host, under its SHA-256.
type FakeFile struct {
	Data  string
	Large bool
}

// New starts a stand-in that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{repos: map[string]*FakeRepo{}}
	s.hub = httptest.NewServer(http.HandlerFunc(s.serveHub))
	s.content = httptest.NewServer(http.HandlerFunc(s.serveContent))
	s.URL = s.hub.URL
	t.Cleanup(s.hub.Close)
	t.Cleanup(s.content.Close)
	return s
}

// Add puts a repository on the stand-in with one commit, which main points to.
func (s *Server) Add(name, commit string, files map[string]FakeFile) *FakeRepo {
	r := &FakeRepo{Commits: map[string]map[string]FakeFile{commit: files}, Refs: map[string]string{"main": commit}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repos[name] = r
	return r
}

// Fault sets what looks at every request first: true means that it has answered.
func (s *Server) Fault(f func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Asked returns what was asked since the last call: method, host (hub or content), path, range,
// token or none.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.asked
	s.asked = nil
	return a
}

// intercept keeps a request and lets the fault answer it.
func (s *Server) intercept(host string, w http.ResponseWriter, r *http.Request) bool {
	line := r.Method + " " + host + " " + r.URL.EscapedPath()
	if v := r.Header.Get("Range"); v != "" {
		line += " " + v
	}
	if r.Header.Get("Authorization") != "" {
		line += " token"
	}
	s.mu.Lock()
	s.asked = append(s.asked, line)
	fault := s.fault
	s.mu.Unlock()
	return fault != nil && fault(w, r)
}

func (s *Server) serveHub(w http.ResponseWriter, r *http.Request) {
	if s.intercept("hub", w, r) {
		return
	}
	address, listing := strings.CutPrefix(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "api/")
	name, rest, ok := strings.Cut(address, "/resolve/")
	rev, path, ok2 := strings.Cut(rest, "/")
	if listing {
		name, rev, ok = strings.Cut(strings.TrimPrefix(address, "models/"), "/revision/")
		ok2 = true
	}
	rev, err := url.PathUnescape(rev)
	path, err2 := url.PathUnescape(path)
	if !ok || !ok2 || err != nil || err2 != nil {
		refuse(w, http.StatusBadRequest, "", "not an address of a file")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	repo := s.repos[name]
	auth := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case repo == nil:
		refuse(w, http.StatusUnauthorized, "RepoNotFound", "Repository not found")
		return
	case repo.Moved != "":
		http.Redirect(w, r, strings.Replace(r.URL.EscapedPath(), name, repo.Moved, 1), http.StatusTemporaryRedirect)
		return
	case auth != "" && repo.Token != "" && auth != repo.Token:
		refuse(w, http.StatusUnauthorized, "", "Invalid credentials in Authorization header")
		return
	case repo.Gated && auth == "":
		refuse(w, http.StatusUnauthorized, "GatedRepo", "Access to model "+name+" is restricted")
		return
	case repo.Gated && repo.Token == "":
		refuse(w, http.StatusForbidden, "GatedRepo", "Access to model "+name+" is restricted and you are not in the authorized list")
		return
	}
	commit := rev
	if c, ok := repo.Refs[rev]; ok {
		commit = c
	}
	files, ok := repo.Commits[commit]
	if !ok {
		refuse(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id: "+rev)
		return
	}
	w.Header().Set("X-Repo-Commit", commit)
	if listing {
		list(w, name, commit, files)
		return
	}
	f, ok := files[path]
	if !ok {
		refuse(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
		return
	}
	if !f.Large {
		w.Header().Set("ETag", `"`+GitSum(f.Data)+`"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(f.Data))
		return
	}
	sum := Sum(f.Data)
	w.Header().Set("X-Linked-Etag", `"`+sum+`"`)
	w.Header().Set("X-Linked-Size", strconv.Itoa(len(f.Data)))
	w.Header().Set("ETag", `"the-redirect"`)
	http.Redirect(w, r, s.content.URL+"/"+sum+"?Signature=secret-of-the-address", http.StatusFound)
}

func list(w http.ResponseWriter, name, commit string, files map[string]FakeFile) {
	siblings := []map[string]string{}
	for path := range files {
		siblings = append(siblings, map[string]string{"rfilename": path})
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"id": strings.TrimPrefix(name, "datasets/"), "sha": commit, "siblings": siblings})
}

func (s *Server) serveContent(w http.ResponseWriter, r *http.Request) {
	if s.intercept("content", w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, repo := range s.repos {
		for _, files := range repo.Commits {
			for _, f := range files {
				if f.Large && "/"+Sum(f.Data) == r.URL.Path {
					http.ServeContent(w, r, "", time.Time{}, strings.NewReader(f.Data))
					return
				}
			}
		}
	}
	http.NotFound(w, r)
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	if code != "" {
		w.Header().Set("X-Error-Code", code)
	}
	w.Header().Set("X-Error-Message", message)
	w.WriteHeader(status)
}

// Sum is the ETag of a large file.
func Sum(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}

// GitSum is the ETag of a small file: the hash that git gives it.
func GitSum(data string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(data), data))
	return hex.EncodeToString(sum[:])
}
