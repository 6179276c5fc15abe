package oci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func image() Image {
	return Image{
		Name: "registry.example:5000/inferometer:v1", Created: time.Date(2026, 11, 17, 16, 0, 0, 5, time.FixedZone("", 3600)),
		Annotations: map[string]string{"org.opencontainers.image.version": "v1"},
		Papers:      map[string][]byte{"LICENSE": []byte("ours")},
		Programs:    []Program{{"amd64", []byte("for amd64")}, {"arm64", []byte("for arm64")}},
	}
}

func lay(t *testing.T) *Layout {
	t.Helper()
	l, err := image().Lay()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Every digest leads to a blob of that size, from the index down to what the program is.
func TestEveryDigestIsThere(t *testing.T) {
	dir := t.TempDir()
	if err := lay(t).WriteDir(dir); err != nil {
		t.Fatal(err)
	}
	read := func(name string, into any) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && into != nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	follow := func(d descriptor, into any) []byte {
		t.Helper()
		data := read(blob(d.Digest), into)
		if len(data) != d.Size || digest(data) != d.Digest {
			t.Errorf("%s has %d bytes and is %s, want %d", d.Digest, len(data), digest(data), d.Size)
		}
		return data
	}
	var top, list index
	read("index.json", &top)
	if len(top.Manifests) != 1 || top.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "v1" {
		t.Fatalf("index.json names %+v", top.Manifests)
	}
	follow(top.Manifests[0], &list)
	for n, arch := range []string{"amd64", "arm64"} {
		var m manifest
		var set settings
		follow(list.Manifests[n], &m)
		follow(m.Config, &set)
		if list.Manifests[n].Platform.Architecture != arch || set.Architecture != arch || set.Config.User != "65532:65532" || set.Config.Labels["org.opencontainers.image.version"] != "v1" {
			t.Errorf("%s is described as %+v, %+v", arch, list.Manifests[n], set)
		}
		packed, err := gzip.NewReader(bytes.NewReader(follow(m.Layers[0], nil)))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(packed)
		if err != nil || digest(data) != set.RootFS.DiffIDs[0] {
			t.Errorf("the layer is %s, not %v: %v", digest(data), set.RootFS.DiffIDs, err)
		}
		look(t, data, "for "+arch)
	}
	var load []loadable
	read("manifest.json", &load)
	if len(load) != 2 || load[1].RepoTags[0] != "registry.example:5000/inferometer:v1-arm64" {
		t.Errorf("manifest.json names %+v", load)
	}
}

// look checks what is in a layer. What people write to is theirs; the rest is root's.
func look(t *testing.T, layer []byte, program string) {
	t.Helper()
	var names []string
	found := map[string]string{}
	r := tar.NewReader(bytes.NewReader(layer))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		found[h.Name] = string(data)
		theirs := h.Name == "workspace/" || len(h.Name) > 5 && h.Name[:5] == "home/"
		if theirs != (h.Uid == user) || h.Uid != h.Gid || !h.ModTime.Equal(time.Date(2026, 11, 17, 15, 0, 0, 0, time.UTC)) {
			t.Errorf("%s is of %d:%d, %s", h.Name, h.Uid, h.Gid, h.ModTime)
		}
	}
	if found["usr/local/bin/inferometer"] != program {
		t.Errorf("the layer holds %q", names)
	}
	if found[docs+"/LICENSE"] != "ours" || found[docs+"/CERTIFICATES"] != origin {
		t.Errorf("the layer holds %q, and no licences", names)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(found["etc/ssl/certs/ca-certificates.crt"])) {
		t.Error("no certificates of authorities")
	}
}

// The archive is the directory, and both are the same each time.
func TestArchive(t *testing.T) {
	dir := t.TempDir()
	var first []byte
	for _, name := range []string{"a.tar", "b.tar"} {
		name = filepath.Join(dir, name)
		if err := lay(t).WriteArchive(name); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(first, data) {
			t.Error("two archives of one image differ")
		}
		first = data
	}
	files := map[string]bool{}
	for r := tar.NewReader(bytes.NewReader(first)); ; {
		h, err := r.Next()
		if err != nil {
			break
		}
		files[h.Name] = true
	}
	for _, f := range lay(t).files {
		if !files[f.name] {
			t.Errorf("the archive lacks %s", f.name)
		}
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"", "inferometer", "localhost:5000/inferometer", "inferometer:", ":v1"} {
		i := image()
		i.Name = name
		if _, err := i.Lay(); err == nil {
			t.Errorf("%q is taken as a name with a tag", name)
		}
	}
	if _, err := (Image{Name: "a:b"}).Lay(); err == nil {
		t.Error("an image without a program")
	}
}
