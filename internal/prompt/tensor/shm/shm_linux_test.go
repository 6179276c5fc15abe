package shm

import (
	"os"
	"strings"
	"testing"
)

// There may be no shared memory in a container.
func needsMemory(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(directory); err != nil {
		t.Skipf("no shared memory here: %v", err)
	}
}

func TestRegion(t *testing.T) {
	needsMemory(t)
	r, err := Create("in/put é", 5000)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !strings.HasPrefix(r.Key, "/inferometer-") || strings.ContainsAny(r.Key[1:], "/ ") || r.Size() != 5000 {
		t.Errorf("key %q, %d bytes", r.Key, r.Size())
	}
	// Somebody else who opens it sees what is written here, and the other way round.
	other, err := os.OpenFile(directory+r.Key, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if info, err := other.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others than its owner may open it: %v, %v", info.Mode(), err)
	}
	copy(r.data[100:], "hello")
	got := make([]byte, 5)
	if _, err := other.ReadAt(got, 100); err != nil || string(got) != "hello" {
		t.Errorf("read %q %v", got, err)
	}
	if _, err := other.WriteAt([]byte("world"), 4995); err != nil {
		t.Fatal(err)
	}
	if string(r.data[4995:]) != "world" {
		t.Errorf("mapped: %q", r.data[4995:])
	}

	if err := r.Unlink(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(directory + r.Key); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
	if string(r.data[100:105]) != "hello" {
		t.Error("the memory went with the name")
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSetLeavesNothing(t *testing.T) {
	needsMemory(t)
	var set Regions
	var keys []string
	for range 3 { // of one name: their keys differ
		r, err := set.Create("x", 10)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, r.Key)
	}
	full, err := set.Put("full", []byte("abc"))
	if err != nil || string(full.data) != "abc" {
		t.Errorf("got %v %v", full, err)
	}
	keys = append(keys, full.Key)
	if keys[0] == keys[1] || len(set.regions) != 4 {
		t.Errorf("keys %v", keys)
	}
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if _, err := os.Stat(directory + k); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", k, err)
		}
	}
	if _, err := set.Create("y", 1); err == nil {
		t.Error("a closed set makes regions")
	}
}

func TestNoRoom(t *testing.T) {
	needsMemory(t)
	before, _ := os.ReadDir(directory)
	if r, err := Create("vast", mostSize); err == nil {
		r.Close()
		t.Skip("a TiB of shared memory is there")
	} else if !strings.Contains(err.Error(), "has no room") {
		t.Errorf("got %v", err)
	}
	if after, _ := os.ReadDir(directory); len(after) > len(before) {
		t.Errorf("%d files before, %d after", len(before), len(after))
	}
	for _, size := range []int64{0, -1, mostSize + 1} {
		if _, err := Create("x", size); err == nil {
			t.Errorf("a region of %d bytes", size)
		}
	}
}
