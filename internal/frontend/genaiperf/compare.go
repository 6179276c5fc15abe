package genaiperf

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// compare reads the flags of compare.
func (b *builder) compare(read func(name string) ([]byte, error)) (*Action, error) {
	s := &b.a.Settings
	b.a.Command, s.Plots = Compare, true
	s.Faithful, s.Tokenizer, s.TokenizerGiven = b.given("faithful"), b.text("tokenizer", ""), true
	s.TokenizerRevision = b.text("tokenizer-revision", "")
	u, files := b.last("files")
	switch {
	case files && b.given("plot-config"):
		b.fault("--config", "contradicts "+u.as, "give one of the two")
	case files:
		b.a.Files = u.text
	case b.given("plot-config"):
		b.plotConfig(read)
	default:
		b.fault("compare", "the runs are missing", "give their profile exports with -f FILE FILE…")
	}
	for key, uses := range b.used {
		if !slices.Contains([]string{"files", "plot-config", "faithful", "tokenizer", "tokenizer-revision", "verbose", "release"}, key) {
			b.fault(uses[0].as, "has no meaning for compare", "it takes -f, --config and --tokenizer")
		}
	}
	if len(b.faults) > 0 {
		return nil, b.faults
	}
	return b.a, nil
}

// plotConfig takes the runs out of a file that describes charts: those of all charts,
// each once. The charts are the usual ones.
func (b *builder) plotConfig(read func(name string) ([]byte, error)) {
	name := b.text("plot-config", "")
	if read == nil {
		b.fault("--config", "files are not read here", "")
		return
	}
	text, err := read(name)
	if err != nil {
		b.fault("--config", err.Error(), "")
		return
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		b.fault("--config", fmt.Sprintf("%s is no YAML: %v", name, err), "")
		return
	}
	if len(root.Content) > 0 && root.Content[0].Kind == yaml.MappingNode {
		for _, chart := range root.Content[0].Content {
			var c struct{ Paths []string }
			if chart.Kind != yaml.MappingNode {
				continue
			}
			if err := chart.Decode(&c); err != nil {
				b.fault("--config", fmt.Sprintf("%s:%d: %v", name, chart.Line, err), "paths is a list of profile exports")
				return
			}
			for _, path := range c.Paths {
				if !slices.Contains(b.a.Files, path) {
					b.a.Files = append(b.a.Files, path)
				}
			}
		}
	}
	if len(b.a.Files) == 0 {
		b.fault("--config", name+" names no run", "each chart in it has a list of paths, of profile exports")
		return
	}
	b.note("--config: the usual charts are drawn of the runs that %s names; its titles, metrics and sizes are not looked at", name)
}
