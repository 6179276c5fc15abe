package main

import (
	"io"
	"strings"

	"github.com/google/rpmpack"
)

// rpm makes packages for Fedora, Red Hat, SUSE and their kin.
func rpm(r *Release) ([]string, error) { return r.onLinux(".rpm", r.writeRPM) }

func (r *Release) writeRPM(to string, b Build) error {
	files, err := r.installed(b, "usr/share/zsh/site-functions")
	if err != nil {
		return err
	}
	made, err := rpmpack.NewRPM(rpmpack.RPMMetaData{
		Name: "inferometer", Version: r.systemVersion(), Release: "1", Epoch: rpmpack.NoEpoch,
		Arch:    map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[b.Arch],
		Summary: tagline, Description: description, URL: home, Licence: "Apache-2.0",
		Vendor: "Inferometer", Packager: maintainer, Group: "Applications/System",
		BuildHost: "localhost", BuildTime: r.Date, // that of whoever makes it would be in the file
	})
	if err != nil {
		return err
	}
	for _, f := range files {
		kind := rpmpack.GenericFile
		if strings.HasPrefix(f.Name, "usr/share/doc/") || strings.HasPrefix(f.Name, "usr/share/man/") {
			kind = rpmpack.DocFile
		}
		made.AddFile(rpmpack.RPMFile{Name: "/" + f.Name, Body: f.Data, Mode: uint(f.Mode.Perm()), Owner: "root", Group: "root", MTime: seconds(r.Date), Type: kind})
	}
	// The directory that nobody else owns goes with the package.
	made.AddFile(rpmpack.RPMFile{Name: "/usr/share/doc/inferometer", Mode: 0o40755, Owner: "root", Group: "root", MTime: seconds(r.Date)})
	return create(to, func(w io.Writer) error { return made.Write(w) })
}
