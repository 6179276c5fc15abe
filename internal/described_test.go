package internal

import "testing"

// Each package says what it is for.
func TestEveryPackageIsDescribed(t *testing.T) {
	described := map[string]bool{}
	for _, s := range sources(t) {
		described[s.pkg] = described[s.pkg] || s.tree.Doc != nil
	}
	for pkg, ok := range described {
		if !ok {
			t.Errorf("package %s has no comment that says what it is", pkg)
		}
	}
}
