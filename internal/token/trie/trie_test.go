package trie

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"
)

// find walks a whole key.
func find(t *Trie, key string) int32 {
	node, value := Root, int32(-1)
	for i := range len(key) {
		if node, value = t.Next(node, key[i]); node < 0 {
			return -1
		}
	}
	return value
}

func TestTrie(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	want := map[string]int32{"": -1}
	var keys []string
	var values []int32
	for i := range 20000 {
		key := make([]byte, rng.IntN(9))
		for j := range key {
			key[j] = byte(rng.IntN(1 << (1 + i%8)))
		}
		if _, ok := want[string(key)]; ok {
			continue
		}
		want[string(key)] = int32(i)
		keys = append(keys, string(key))
		values = append(values, int32(i))
	}
	tr := New(keys, values)
	for key, value := range want {
		if got := find(tr, key); got != value {
			t.Fatalf("%q has the value %d, want %d", key, got, value)
		}
		other := key + fmt.Sprint(len(key))
		if _, ok := want[other]; !ok && find(tr, other) != -1 {
			t.Fatalf("%q, which is not a key, has the value %d", other, find(tr, other))
		}
	}
	t.Logf("%d units for %d keys", len(tr.units), len(keys))
}

func TestEmptyTrie(t *testing.T) {
	tr := New(nil, nil)
	for c := range 256 {
		if node, value := tr.Next(Root, byte(c)); node != -1 || value != -1 {
			t.Fatalf("the empty trie has a node %d with value %d under the byte %d", node, value, c)
		}
	}
}

// TestLongKey has a key that no recursion gets to the end of.
func TestLongKey(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(16 << 20))
	key := strings.Repeat("ab", 200_000)
	tr := New([]string{key, "ab"}, []int32{7, 3})
	node, value := Root, int32(-1)
	for i := range len(key) {
		if node, value = tr.Next(node, key[i]); node < 0 {
			t.Fatalf("the key ends after %d of its %d bytes", i, len(key))
		}
		if i == 1 && value != 3 {
			t.Errorf("the short key has the value %d", value)
		}
	}
	if value != 7 {
		t.Errorf("the long key has the value %d", value)
	}
}
