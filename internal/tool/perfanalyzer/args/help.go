package args

import (
	"fmt"
	"strings"
)

// Help is the text of --help.
func Help() string {
	var b strings.Builder
	b.WriteString("Measure a server as Perf Analyzer does: each load level in windows, until they are stable.\n\nUsage: perf_analyzer -m NAME [options]\n")
	group := ""
	for _, o := range new(settings).options() {
		if o.group != group {
			group = o.group
			b.WriteString("\n" + group + ":\n")
		}
		name := o.name()
		if o.long != "" && o.short != 0 {
			name = "-" + string(o.short) + ", " + name
		}
		if o.arg != "" {
			name += " " + o.arg
		}
		fmt.Fprintf(&b, "  %s\n        %s\n", name, o.help)
	}
	return b.String()
}
