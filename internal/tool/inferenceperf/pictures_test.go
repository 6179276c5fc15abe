package inferenceperf

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/inferometer/inferometer/internal/tool/inferenceperf/args"
)

var update = flag.Bool("update", false, "draw the pictures of the documents anew")

// A browser shows nothing of an SVG file that is not well-formed.
func TestPicturesAreWellFormed(t *testing.T) {
	files, err := filepath.Glob("../../../docs/images/*.svg")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d pictures: %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err == nil {
			err = xml.Unmarshal(text, new(struct{}))
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The charts in the documents are those that --analyze draws of the reports beside them.
func TestPictures(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round the last digits otherwise")
	}
	const images = "../../../docs/images"
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(images, "reports"))); err != nil {
		t.Fatal(err)
	}
	if _, err := Analyze(&args.Action{Dirs: []string{dir}}, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"latency_vs_qps.svg", "throughput_vs_qps.svg", "throughput_vs_latency.svg", "goodput_vs_qps.svg"} {
		drawn, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		kept := filepath.Join(images, name)
		if *update {
			if err := os.WriteFile(kept, drawn, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(kept); err != nil || !bytes.Equal(want, drawn) {
			t.Errorf("%s is not what is drawn of the reports: %v; go test ./internal/tool/inferenceperf -run TestPictures -update draws it", kept, err)
		}
	}
}
