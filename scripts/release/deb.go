package main

import (
	"archive/tar"
	"bytes"
	"crypto/md5"
	"fmt"
	"io"
	"strings"
	"time"
)

// deb makes packages for Debian, Ubuntu and their kin.
func deb(r *Release) ([]string, error) { return r.onLinux(".deb", r.writeDeb) }

func (r *Release) writeDeb(to string, b Build) error {
	files, err := r.installed(b, "usr/share/zsh/vendor-completions")
	if err != nil {
		return err
	}
	var size int
	var sums bytes.Buffer
	for _, f := range files {
		size += len(f.Data)
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.Data), f.Name)
	}
	about := fmt.Sprintf("Package: inferometer\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nInstalled-Size: %d\nSection: utils\nPriority: optional\nHomepage: %s\nDescription: %s\n %s\n",
		r.systemVersion(), b.Arch, maintainer, (size+1023)/1024, home, tagline, strings.ReplaceAll(description, "\n", "\n "))
	control, err := dpkgTar(r.Date, []entry{{"control", 0o644, []byte(about)}, {"md5sums", 0o644, sums.Bytes()}})
	if err != nil {
		return err
	}
	data, err := dpkgTar(r.Date, files)
	if err != nil {
		return err
	}
	return create(to, func(w io.Writer) error {
		return writeAr(w, r.Date, []entry{
			{"debian-binary", 0o644, []byte("2.0\n")},
			{"control.tar.gz", 0o644, control},
			{"data.tar.gz", 0o644, data},
		})
	})
}

// dpkgTar packs files of root, with the directories that they lie in and with names that begin as dpkg's do.
func dpkgTar(date time.Time, files []entry) ([]byte, error) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	put := func(kind byte, name string, mode int64, data []byte) error {
		err := w.WriteHeader(&tar.Header{
			Format: tar.FormatGNU, Typeflag: kind, Name: "./" + name, Mode: mode, Size: int64(len(data)), ModTime: date, Uname: "root", Gname: "root",
		})
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}
	if err := put(tar.TypeDir, "", 0o755, nil); err != nil {
		return nil, err
	}
	for _, dir := range directories(files) {
		if err := put(tar.TypeDir, dir+"/", 0o755, nil); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		if err := put(tar.TypeReg, f.Name, int64(f.Mode.Perm()), f.Data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return squeeze(packed.Bytes())
}

// writeAr writes members as ar does, which is what a deb is.
func writeAr(w io.Writer, date time.Time, members []entry) error {
	if _, err := io.WriteString(w, "!<arch>\n"); err != nil {
		return err
	}
	for _, m := range members {
		if _, err := fmt.Fprintf(w, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.Name, date.Unix(), 0, 0, 0o100000|m.Mode.Perm(), len(m.Data)); err != nil {
			return err
		}
		data := m.Data
		if len(data)%2 == 1 {
			data = append(data[:len(data):len(data)], '\n')
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return nil
}
