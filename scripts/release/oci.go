package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/inferometer/inferometer/scripts/release/oci"
)

// registry is where the image is published.
const registry = "ghcr.io/inferometer/inferometer"

// image makes the container image of both Linux platforms, as a layout directory and as an archive of it.
func image(r *Release) ([]string, error) {
	const is = "org.opencontainers.image."
	i := oci.Image{
		// A tag has no place for what follows a plus.
		Name:    registry + ":" + strings.ReplaceAll(r.Version, "+", "-"),
		Created: r.Date,
		Papers:  map[string][]byte{},
		Annotations: map[string]string{
			is + "title": "inferometer", is + "description": summary, is + "licenses": "Apache-2.0",
			is + "version": r.Version, is + "revision": r.Commit, is + "created": r.Date.Format(time.RFC3339),
			is + "source": home, is + "url": home, is + "documentation": home + "/blob/main/deploy/README.md",
		},
	}
	licences, err := r.licences()
	if err != nil {
		return nil, err
	}
	for _, e := range licences {
		i.Papers[e.Name] = e.Data
	}
	for _, b := range r.Builds {
		if b.OS != "linux" {
			continue
		}
		data, err := os.ReadFile(b.Program)
		if err != nil {
			return nil, err
		}
		i.Programs = append(i.Programs, oci.Program{Arch: b.Arch, Data: data})
	}
	layout, err := i.Lay()
	if err != nil {
		return nil, err
	}
	name := "inferometer_" + r.Number() + "_oci"
	if err := layout.WriteDir(filepath.Join(r.Dir, name)); err != nil {
		return nil, err
	}
	return []string{name + "/", name + ".tar"}, layout.WriteArchive(filepath.Join(r.Dir, name+".tar"))
}
