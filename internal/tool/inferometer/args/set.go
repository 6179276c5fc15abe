package args

import (
	"maps"
	"strconv"
	"strings"
)

// assignments reads each --set. One of a field that a flag sets is that flag, so that both mean the same
// beside the other flags; the others are put by the function that is returned, when those are.
func (b *builder) assignments(groups []group) (rest func()) {
	flags := map[string]string{} // path → flag
	for _, g := range groups {
		for _, o := range g.options {
			if o.path != "" {
				flags[o.path] = o.name
			}
		}
	}
	if b.fromFile && len(b.draft.Plan.Stages) > 1 { // those flags are for a plan of one stage
		maps.DeleteFunc(flags, func(path, _ string) bool { return strings.HasPrefix(path, "stages[0]") })
	}
	var others [][2]string
	for _, text := range b.flags["set"] {
		path, value, ok := strings.Cut(text, "=")
		if path = strings.TrimSpace(path); !ok || path == "" {
			b.fault("--set", strconv.Quote(shorten(text))+" is not FIELD=VALUE", "such as stages[0].gap=5s; docs/plan-fields.md has all fields")
			continue
		}
		name := flags[path]
		structured := strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[")
		if name == "" || structured {
			others = append(others, [2]string{path, value})
			continue
		}
		b.flags[name] = append(b.flags[name], value)
		b.typed[name] = "set " + path
		if n := len(b.flags[name]); n > 1 {
			b.fault("--set "+path, "is --"+name+", which is given "+times(n), "keep one of them")
		}
	}
	return func() {
		for _, o := range others {
			b.draft.Assign(o[0], "--set "+shorten(o[0]), o[1])
		}
	}
}
