//go:build linux

package deploy

import (
	"crypto/x509"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
)

// TestImage builds both images of the Containerfile and runs them as
//
//	docker run -v $(pwd)/config.yml:/workspace/config.yml --mount type=bind,src=…,dst=/root/.cache/huggingface/ IMAGE
//
// does: no arguments, the config in the work directory, the tokenizer out of the cache.
func TestImage(t *testing.T) {
	images, err := build(t, "../Containerfile", "VERSION="+release, "COMMIT=0123456789abcdef0123456789abcdef01234567", "DATE=2026-11-17T16:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	server := serve(t)
	for _, c := range []struct{ name, home, user string }{
		{"root", "/root", "root"}, {"nonroot", "/home/nonroot", "nonroot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := images[c.name]
			if i == nil {
				t.Fatal("the Containerfile has no such stage")
			}
			i.look(t)
			if (c.name == "root") != (i.uid == 0) {
				t.Errorf("it runs as user %d", i.uid)
			}
			out, code := i.run(t, nil)
			if code != 2 || !strings.Contains(out, "config.yml") {
				t.Errorf("without a config: exit code %d\n%s", code, out)
			}
			i.mount(t, writeConfig(t, server), "/workspace/config.yml")
			i.mount(t, cache(t), c.home+"/.cache/huggingface/")
			out, code = i.run(t, []string{"HF_HUB_OFFLINE=1"})
			if code != 0 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			i.reported(t, i.at("/workspace/reports"), out)
			i.commands(t)
		})
	}
}

// release is the version of the images that tests build.
const release = "v1.2.3-test"

// An image without a version is not built.
func TestImageHasAVersion(t *testing.T) {
	if _, err := build(t, "../Containerfile"); err == nil || !strings.Contains(err.Error(), "--build-arg VERSION") {
		t.Errorf("built, or for another reason not: %v", err)
	}
}

// commands checks that the image runs what it is told to, by the names of all tools.
func (i *image) commands(t *testing.T) {
	t.Helper()
	for command, want := range map[string]string{
		"inference-perf --config_file nowhere.yml": "nowhere.yml",
		"inference-perf --version":                 "inference-perf",
		"genai-perf --version":                     "genai-perf",
		"perf_analyzer --version":                  "Perf Analyzer",
		"llm_perf --help":                          "llm_perf",
		"inferometer --version":                    "inferometer " + release + " (commit 01234567, 2026-11-17, ",
	} {
		if out, _ := i.run(t, nil, strings.Fields(command)...); !strings.Contains(out, want) {
			t.Errorf("%s: %s", command, out)
		}
	}
}

// look checks what is in an image, and what is not.
func (i *image) look(t *testing.T) {
	t.Helper()
	program, err := elf.Open(i.at("/usr/local/bin/inferometer"))
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if libs, _ := program.ImportedLibraries(); len(libs) > 0 || program.Section(".interp") != nil {
		t.Errorf("the program is not static: %v", libs)
	}
	roots, err := os.ReadFile(i.at("/etc/ssl/certs/ca-certificates.crt"))
	if err != nil || !x509.NewCertPool().AppendCertsFromPEM(roots) {
		t.Errorf("no certificates of authorities: %v", err)
	}
	if info, err := os.Stat(i.at("/tmp")); err != nil || info.Mode() != fs.ModeDir|fs.ModeSticky|0o777 {
		t.Errorf("/tmp is not for all: %v, %v", info.Mode(), err)
	}
	programs := 0
	err = filepath.WalkDir(i.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			programs++
		}
		return nil
	})
	if err != nil || programs != 1 {
		t.Errorf("%d programs in the image, want that one alone: %v", programs, err)
	}
}

// reported checks that the run's reports are there, and whose they are.
func (i *image) reported(t *testing.T, dir, out string) {
	t.Helper()
	name := filepath.Join(dir, "summary_lifecycle_metrics.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var report struct {
		Successes struct{ Count int }
		Failures  struct{ Count int }
	}
	if err := json.Unmarshal(text, &report); err != nil || report.Successes.Count != 20 || report.Failures.Count != 0 {
		t.Errorf("%d went well, %d failed, want 20 and 0: %v\n%s", report.Successes.Count, report.Failures.Count, err, out)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; os.Getuid() == 0 && int(owner) != i.uid {
		t.Errorf("the reports belong to %d, want %d", owner, i.uid)
	}
}

// serve starts the mock.
func serve(t *testing.T) string {
	t.Helper()
	c := config.Default()
	c.Latency.TTFT, c.Latency.ITL = 2*time.Millisecond, 100*time.Microsecond
	s, err := mock.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	return "http://" + l.Addr().String()
}

// tokenizer is the name of a tokenizer that only the cache has.
const tokenizer = "example/letters"

func writeConfig(t *testing.T, server string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.yml")
	text := fmt.Sprintf(`api: {type: completion, streaming: true}
data:
  type: random
  input_distribution: {type: fixed, mean: 16, std_dev: 0, min: 16, max: 16}
  output_distribution: {type: fixed, mean: 8, std_dev: 0, min: 8, max: 8}
load:
  type: constant
  interval: 0
  stages: [{rate: 20, duration: 1}]
server: {type: vllm, base_url: %q, ignore_eos: true}
tokenizer: {pretrained_model_name_or_path: %s}
storage: {local_storage: {path: reports}}
`, server, tokenizer)
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// cache is a Hugging Face home with one tokenizer, which knows printable ASCII.
func cache(t *testing.T) string {
	t.Helper()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	vocabulary := map[string]int{"Ġ": 0}
	for c := '!'; c <= '~'; c++ {
		vocabulary[string(c)] = len(vocabulary)
	}
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
	text, err := json.Marshal(map[string]any{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": []any{}, "normalizer": nil,
		"pre_tokenizer": level, "post_processor": nil, "decoder": level,
		"model": map[string]any{"type": "BPE", "vocab": vocabulary, "merges": []string{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	repo := filepath.Join(home, "hub", "models--"+strings.ReplaceAll(tokenizer, "/", "--"))
	for name, data := range map[string]string{"refs/main": commit, "snapshots/" + commit + "/tokenizer.json": string(text)} {
		name = filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return home
}
