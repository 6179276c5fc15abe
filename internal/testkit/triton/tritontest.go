// Package triton starts a real Triton Inference Server for tests. The server is
// installed by scripts/triton.sh; its models lie in testdata/models.
//
// Starting one takes some seconds, so a package that needs it starts one and runs
// its tests as subtests:
//
//	func TestReal(t *testing.T) {
//		server := tritontest.Start(t, "vllm_model")
//		t.Run("...", func(t *testing.T) { ... server.GRPC ... })
//	}
package triton

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Variable names the environment variable with the directory of the installation.
// Where it is set, as make does, a missing installation fails a test; where it is
// not, the test is skipped.
const Variable = "INFEROMETER_TRITON"

//go:embed testdata/models
var models embed.FS

// Models are the names of all models that there are.
func Models() []string {
	entries, err := models.ReadDir("testdata/models")
	if err != nil {
		panic(err) // the directory is part of the binary
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// launcher is the program that runs the server. It ends the test where there is none.
func launcher(t testing.TB) string {
	t.Helper()
	if dir, ok := os.LookupEnv(Variable); ok {
		name := filepath.Join(dir, "tritonserver")
		if _, err := os.Stat(name); err != nil {
			t.Fatalf("%s says that Triton is installed in %s, and it is not: %v; scripts/triton.sh installs it", Variable, dir, err)
		}
		return name
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		name := filepath.Join(dir, ".peers", "triton", "tritonserver")
		if _, err := os.Stat(name); err == nil {
			return name
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skip("needs a real Triton server, which scripts/triton.sh installs and make test brings along")
		}
		dir = up
	}
}

// repository writes all models into a directory of the test's own: the server leaves
// compiled files beside them.
func repository(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	sub, err := fs.Sub(models, "testdata/models")
	if err == nil {
		err = os.CopyFS(dir, sub)
	}
	if err != nil {
		t.Fatalf("writing the model repository: %v", err)
	}
	return dir
}
