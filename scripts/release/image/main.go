// Command image packs a program that is already built as the image that a release has, for this machine's
// architecture alone: an archive that `ctr images import`, `kind load image-archive` and `skopeo copy oci-archive:` take.
//
//	go run -C scripts/release ./image PROGRAM NAME:TAG OUT.tar     (full paths: -C changes the directory)
package main

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/inferometer/inferometer/scripts/release/oci"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: image PROGRAM NAME:TAG OUT.tar")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func pack(program, name, out string) error {
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	image := oci.Image{Name: name, Created: time.Unix(0, 0).UTC(), Programs: []oci.Program{{Arch: runtime.GOARCH, Data: data}}}
	layout, err := image.Lay()
	if err != nil {
		return err
	}
	return layout.WriteArchive(out)
}
