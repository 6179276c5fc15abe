package args

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// template is the config file that create-template writes: every key with its default.
//
//go:embed template.yaml
var template []byte

// setting is one key of a config file.
type setting struct {
	path    string // within the file, with dots between
	flag    string // that says the same on a command line; empty: see readKey
	without string // its default, as the template has it
}

// configKeys are the keys of a config file, in the order of the template. The sections
// analyze and process, and the model's name, stand apart.
var configKeys = sync.OnceValue(func() (all []setting) {
	flagOf := map[string]string{}
	for _, f := range flags() {
		flagOf[f.config] = f.name
	}
	var walk func(n *yaml.Node, path string)
	walk = func(n *yaml.Node, path string) {
		for i := 0; i < len(n.Content); i += 2 {
			at, value := path+n.Content[i].Value, n.Content[i+1]
			switch {
			case slices.Contains([]string{"model_names", "analyze", "process"}, at):
			case value.Kind == yaml.MappingNode && value.Style&yaml.FlowStyle == 0:
				walk(value, at+".")
			default:
				all = append(all, setting{at, flagOf[at], value.Value})
			}
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(template, &doc); err != nil {
		panic("genai-perf: template.yaml: " + err.Error())
	}
	walk(doc.Content[0], "")
	return all
})

// TemplateText is the config file that create-template writes, with comments if asked for.
func TemplateText(comments bool) string {
	if comments {
		return string(template)
	}
	comment := func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }
	lines := strings.SplitAfter(string(template), "\n")
	var b strings.Builder
	for i, line := range lines {
		if aboutKey := comment(line) && i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != "" && !comment(lines[i+1]); !aboutKey {
			b.WriteString(line)
		}
	}
	return b.String()
}
