package binary

import (
	"os/exec"
	"strings"
	"testing"
)

func TestProgram(t *testing.T) {
	out, err := exec.Command(Program(t), "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "inferometer ") {
		t.Fatalf("version: %v: %s", err, out)
	}
}
