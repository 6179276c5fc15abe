//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/table"
)

func upTo(n int) []int {
	var out []int
	for i := range n {
		out = append(out, i)
	}
	return out
}

func TestSplitFor(t *testing.T) {
	for _, tt := range []struct {
		cores, client int
		server, first int // number of the server's cores, and the first of the client's
		ok            bool
	}{
		{2, 1, 1, 1, true}, {2, 2, 0, 0, false}, {3, 1, 1, 1, true}, {4, 2, 1, 1, true}, {8, 8, 0, 0, false},
		{9, 8, 0, 0, false}, {10, 8, 2, 2, true}, {16, 8, 7, 7, true}, {16, 14, 2, 2, true}, {16, 15, 0, 0, false}, {16, 0, 0, 0, false},
	} {
		got, ok := splitFor(upTo(tt.cores), tt.client)
		if ok != tt.ok || ok && (len(got.server) != tt.server || len(got.client) != tt.client || got.client[0] != tt.first) {
			t.Errorf("%d of %d cores: %+v, %v", tt.client, tt.cores, got, ok)
		}
	}
}

func TestScale(t *testing.T) {
	for cores, want := range map[int][]int{2: {1}, 4: {1, 2}, 8: {1, 2, 4}, 16: {1, 2, 4, 8}, 64: {1, 2, 4, 8}} {
		deal, err := host.DealCores(upTo(cores))
		if err != nil {
			t.Fatal(err)
		}
		got := (&bench{cores: deal}).scale()
		var l table.Line
		if fmt.Sprint(got.counts()) != fmt.Sprint(want) || got.judged(&l, manyCores) != (cores >= 16) {
			t.Errorf("%d cores: %+v", cores, got)
		}
		if cores < 16 && (l.State() != "met" || len(l.Notes) != 1) {
			t.Errorf("%d cores: %+v", cores, l)
		}
	}
}

func TestRealCores(t *testing.T) {
	root := t.TempDir()
	for i := range 4 {
		dir := filepath.Join(root, fmt.Sprintf("cpu%d", i), "topology")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "thread_siblings_list"), fmt.Appendf(nil, "%d-%d\n", i/2*2, i/2*2+1), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if n := realCores([]int{0, 1, 2, 3}, root); n != 2 {
		t.Errorf("%d real cores, want 2", n)
	}
	if n := realCores([]int{0, 7}, root); n != 0 {
		t.Errorf("%d real cores, want 0: one is unknown", n)
	}
}

func TestSpin(t *testing.T) {
	for _, kind := range []string{host.SpinArithmetic, host.SpinLoopback} {
		var out bytes.Buffer
		if err := host.SpinMain([]string{"-work", kind, "-duration", "1ms"}, &out); err != nil {
			t.Fatal(err)
		}
		var r host.SpinResult
		if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.PerSecond <= 0 {
			t.Errorf("%s: %q, %v", kind, &out, err)
		}
	}
	if err := host.SpinMain([]string{"-work", "thinking"}, &bytes.Buffer{}); err == nil {
		t.Error("unknown work was accepted")
	}
}
