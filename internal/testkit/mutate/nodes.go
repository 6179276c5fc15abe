package mutate

import (
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// kinds are values of every kind, all of them empty or as good as that.
func kinds() []string { return []string{"null", "{}", "[]", "[null]", `""`, "0", "true"} }

// Nodes breaks seeds, which are YAML or JSON, where their form says so: each value in turn is
// replaced by one of every kind, and left out. A key that several seeds have is broken in the first
// of them alone, and so is one that the elements of a list have. A panic is a failure that shows the
// input.
func Nodes(t testing.TB, seeds []string, read func(text string)) {
	t.Helper()
	if len(seeds) == 0 {
		t.Fatal("there are no seeds")
	}
	n := nodes{t: t, read: read, tried: map[string]bool{}}
	for _, seed := range seeds {
		n.doc = yaml.Node{}
		if err := yaml.Unmarshal([]byte(seed), &n.doc); err != nil || len(n.doc.Content) == 0 {
			t.Fatalf("a seed that is no YAML: %v\n%s", err, seed)
		}
		if !n.below(&n.doc, "") {
			return
		}
	}
}

// nodes breaks one document after the other.
type nodes struct {
	t     testing.TB
	read  func(string)
	doc   yaml.Node
	tried map[string]bool // paths
}

// below breaks each value below a node; false: the reader has failed.
func (n *nodes) below(parent *yaml.Node, path string) bool {
	for i, was := range parent.Content {
		at := path + "[]"
		if parent.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue
			}
			at = path + "." + parent.Content[i-1].Value
		}
		if !n.tried[at] && !n.breaks(parent, i) {
			return false
		}
		n.tried[at] = true
		if !n.below(was, at) {
			return false
		}
	}
	return true
}

func (n *nodes) breaks(parent *yaml.Node, i int) bool {
	all := slices.Clone(parent.Content)
	defer func() { parent.Content = all }()
	for _, text := range kinds() {
		var odd yaml.Node
		if err := yaml.Unmarshal([]byte(text), &odd); err != nil {
			n.t.Fatal(err)
		}
		parent.Content[i] = odd.Content[0]
		if !n.survives() {
			return false
		}
	}
	switch parent.Kind {
	case yaml.MappingNode:
		parent.Content = slices.Delete(slices.Clone(all), i-1, i+1)
	case yaml.SequenceNode:
		parent.Content = slices.Delete(slices.Clone(all), i, i+1)
	}
	return n.survives()
}

func (n *nodes) survives() bool {
	text, err := yaml.Marshal(&n.doc)
	if err != nil {
		n.t.Fatal(err)
	}
	return survives(n.t, string(text), n.read)
}
