package oci

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is whom the image runs as, for clusters that let nobody run as root.
const user = 65532

func owner(id int) string { return fmt.Sprintf("%d:%d", id, id) }

// tools are the names under which the program is other tools. The first is what runs where no command is given.
func tools() []string { return []string{"inference-perf", "genai-perf", "perf_analyzer", "llm_perf"} }

const (
	passwd = "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"
	group  = "root:x:0:\nnonroot:x:65532:\n"
	docs   = "usr/share/doc/inferometer"
	origin = "The certificates in /etc/ssl/certs are those of the Mozilla CA Certificate Program (Mozilla Public License 2.0),\nas golang.org/x/crypto/x509roots/fallback publishes them (BSD-3-Clause, Copyright The Go Authors).\n"
)

// root packs all that the image holds: what the Containerfile's stage nonroot does.
func root(date time.Time, program []byte, papers map[string][]byte) ([]byte, error) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	var errs []error
	put := func(kind byte, name string, mode int64, id int, link string, data []byte) {
		header := &tar.Header{Typeflag: kind, Name: name, Mode: mode, Uid: id, Gid: id, Linkname: link, Size: int64(len(data)), ModTime: date}
		errs = append(errs, w.WriteHeader(header))
		_, err := w.Write(data)
		errs = append(errs, err)
	}
	dir := func(name string, mode int64, id int) { put(tar.TypeDir, name+"/", mode, id, "", nil) }
	text := func(name, data string) { put(tar.TypeReg, name, 0o644, 0, "", []byte(data)) }

	for _, name := range []string{"etc", "etc/ssl", "etc/ssl/certs"} {
		dir(name, 0o755, 0)
	}
	text("etc/group", group)
	text("etc/passwd", passwd)
	text("etc/ssl/certs/ca-certificates.crt", certificates())
	dir("home", 0o755, 0)
	for _, name := range []string{"home/nonroot", "home/nonroot/.cache", "home/nonroot/.cache/huggingface"} {
		dir(name, 0o755, user)
	}
	dir("tmp", 0o1777, 0)
	for _, name := range []string{"usr", "usr/local", "usr/local/bin"} {
		dir(name, 0o755, 0)
	}
	put(tar.TypeReg, "usr/local/bin/inferometer", 0o755, 0, "", program)
	for _, name := range tools() {
		put(tar.TypeSymlink, "usr/local/bin/"+name, 0o777, 0, "inferometer", nil)
	}
	for _, name := range []string{"usr/share", "usr/share/doc", docs} {
		dir(name, 0o755, 0)
	}
	text(docs+"/CERTIFICATES", origin)
	for _, name := range slices.Sorted(maps.Keys(papers)) {
		text(docs+"/"+name, string(papers[name]))
	}
	dir("workspace", 0o755, user)
	errs = append(errs, w.Close())
	return packed.Bytes(), errors.Join(errs...)
}

// certificates are the authorities that Mozilla trusts, as the Go team publishes them: a module, so that go.sum says
// which. Those that are trusted for older certificates only are left out: a file of certificates cannot say so.
func certificates() string {
	var list bytes.Buffer
	for r := range bundle.Roots() {
		if r.Constraint == nil {
			list.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate}))
		}
	}
	return list.String()
}
