package internal

import (
	"slices"
	"testing"
)

// Whoever only reads saved runs has nothing in it that sends.
func TestReadersSendNothing(t *testing.T) {
	imported := map[string]map[string]bool{}
	for _, s := range sources(t) {
		if imported[s.pkg] == nil {
			imported[s.pkg] = map[string]bool{}
		}
		for _, i := range imports(s.tree) {
			imported[s.pkg][shortName(i)] = true
		}
	}
	for _, reader := range []string{"run/saved", "run/search", "compare", "sample", "pagedata", "gate"} {
		if imported[reader] == nil {
			t.Errorf("there is no package %s", reader)
		}
		reached := map[string]bool{}
		for next := []string{reader}; len(next) > 0; next = next[1:] {
			for name := range imported[next[0]] {
				if !reached[name] {
					reached[name], next = true, append(next, name)
				}
				if slices.Contains([]string{"run", "engine", "endpoint", "prompt", "wire/timedconn", "mock"}, name) {
					t.Errorf("%s reaches %s, by %s", reader, name, next[0])
				}
			}
		}
	}
}
