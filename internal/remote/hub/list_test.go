package hub

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/remote/hub/hubtest"
)

func wantFiles(t *testing.T, h *Hub, repo Repo, revision string, want ...string) {
	t.Helper()
	got, err := h.Files(t.Context(), repo, revision)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestFiles(t *testing.T) {
	s := hubtest.New(t)
	s.Add("datasets/org/data", commitA, map[string]hubtest.FakeFile{"data/train-1.parquet": {Data: "one"}, "README.md": {}, "../../escape": {}})
	s.Add("org/model", commitB, map[string]hubtest.FakeFile{"config.json": {}}).Refs["refs/pr/1"] = commitB
	s.Add("datasets/org/old", commitA, nil).Moved = "datasets/org/data"
	h, _ := open(t, s, map[string]string{"HF_TOKEN": "hf_sesame"})
	wantFiles(t, h, Dataset("org/data"), "", "README.md", "data/train-1.parquet")
	wantAsked(t, s, "GET hub /api/datasets/org/data/revision/main token")
	wantFiles(t, h, Model("org/model"), "refs/pr/1", "config.json")
	wantAsked(t, s, "GET hub /api/models/org/model/revision/refs%2Fpr%2F1 token")
	wantFiles(t, h, Dataset("org/old"), "", "README.md", "data/train-1.parquet")
	s.Asked()

	// What follows comes from the commit that was listed.
	s.Add("datasets/org/data", commitB, map[string]hubtest.FakeFile{"later": {}}).Commits[commitA] = map[string]hubtest.FakeFile{"data/train-1.parquet": {Data: "one"}}
	wantFile(t, h, Dataset("org/data"), "", "data/train-1.parquet", "one")
	wantFiles(t, h, Dataset("org/data"), "", "data/train-1.parquet")
}

func TestFilesOfTheCache(t *testing.T) {
	s := hubtest.New(t)
	s.Add("datasets/org/data", commitA, map[string]hubtest.FakeFile{"a/b.json": {Data: "1"}, "c.json": {Data: "2"}, "d.json": {Data: "3"}})
	home := t.TempDir()
	h, _ := open(t, s, map[string]string{"HF_HOME": home})
	wantFile(t, h, Dataset("org/data"), "", "a/b.json", "1")
	wantFile(t, h, Dataset("org/data"), "", "c.json", "2")
	off, _ := open(t, s, map[string]string{"HF_HOME": home, "HF_HUB_OFFLINE": "1"})
	s.Asked()
	wantFiles(t, off, Dataset("org/data"), "", "a/b.json", "c.json")
	gone, _ := open(t, s, map[string]string{"HF_HOME": home, "HF_ENDPOINT": "http://127.0.0.1:1"})
	wantFiles(t, gone, Dataset("org/data"), "", "a/b.json", "c.json")
	wantAsked(t, s)
	if _, err := off.Files(t.Context(), Dataset("org/other"), ""); !errors.Is(err, ErrOffline) {
		t.Errorf("%v", err)
	}
}

func TestFilesRefused(t *testing.T) {
	s := hubtest.New(t)
	s.Add("datasets/org/gated", commitA, nil).Gated = true
	s.Add("datasets/org/data", commitA, nil)
	h, waits := open(t, s, nil)
	for repo, want := range map[string]error{"org/gated": ErrGated, "org/none": ErrNoRepo} {
		if _, err := h.Files(t.Context(), Dataset(repo), ""); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", repo, err, want)
		}
	}
	if _, err := h.Files(t.Context(), Dataset("org/data"), "nope"); !errors.Is(err, ErrNoRevision) {
		t.Errorf("%v", err)
	}
	if _, err := h.Files(t.Context(), Dataset("../../etc"), ""); err == nil {
		t.Error("a name that is none is taken")
	}
	n := 0
	s.Fault(func(w http.ResponseWriter, _ *http.Request) bool {
		n++
		if n < 3 {
			w.WriteHeader(http.StatusBadGateway)
		} else {
			w.Write([]byte("<html>"))
		}
		return true
	})
	if _, err := h.Files(t.Context(), Dataset("org/data"), ""); err == nil || len(*waits) != 2 {
		t.Errorf("%v after %d waits", err, len(*waits))
	}
}
