package args

import (
	_ "embed"
	"slices"
	"sync"

	"github.com/inferometer/inferometer/internal/clidoc"
)

// flagTable are the flags of all commands.
//
//go:embed flags.yaml
var flagTable []byte

var flagRows = sync.OnceValue(func() []clidoc.Row { return clidoc.Rows(flagTable) })

func flagsOf(title string) []option {
	var all []option
	for _, r := range flagRows() {
		if r.Title == title {
			all = append(all, option{name: r.Name, short: r.Short, arg: r.Arg, help: r.Help, path: r.Path, values: slices.Clone(r.Values)})
		}
	}
	return all
}

func groupsOf(titles ...string) []group {
	groups := make([]group, len(titles))
	for i, title := range titles {
		groups[i] = group{title, flagsOf(title)}
	}
	return groups
}

func runGroups() []group {
	return groupsOf("Load", "Several runs", "Levels and windows", "Server", "Prompts", "Workload", "Server metrics", "Cost and energy", "Triton",
		"Goals and validity", "Workers", "Telemetry", "Output")
}

// kept is what records may hold of responses.
func kept() []string { return []string{"none", "text", "raw"} }
