package args

import (
	"fmt"
	"strings"

	"github.com/inferometer/inferometer/internal/clidoc"
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

// Manual describes the command, for man pages and completion.
func Manual() clidoc.Command {
	c := clidoc.Command{
		Name:  "perf_analyzer",
		About: "Measure a server as Perf Analyzer does: each load level in windows, until they are stable.",
		Usage: []clidoc.Usage{{Line: "perf_analyzer -m NAME [options]"}},
		Page:  "perf_analyzer",
	}
	for _, o := range new(settings).options() {
		if n := len(c.Groups); n == 0 || c.Groups[n-1].Title != o.group {
			c.Groups = append(c.Groups, clidoc.Group{Title: o.group})
		}
		f := clidoc.Flag{Name: o.long, Arg: o.arg, Help: o.help}
		switch {
		case o.long == "":
			f.Name, f.Single = string(o.short), true
		case o.short != 0:
			f.Short = string(o.short)
		}
		g := &c.Groups[len(c.Groups)-1]
		g.Flags = append(g.Flags, f)
	}
	return c
}
