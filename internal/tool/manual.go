package tool

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/clidoc"
)

// PrintHelp prints the help of a command: with the flags that people use, or all of them.
func (e Env) PrintHelp(c clidoc.Command, all bool) int {
	c.Groups = append(c.Groups, e.Besides...)
	fmt.Fprint(e.Stdout, c.Help(e.HelpWidth(), all))
	return ExitOK
}

// HelpWidth is how many columns help has.
func (e Env) HelpWidth() int {
	if e.Terminal != nil {
		if t := e.Terminal(e.Stdout); t.TTY {
			return min(clidoc.Width, t.Width())
		}
	}
	return clidoc.Width
}

// with is a tool whose command line takes flags besides its own.
func with(t Tool, flags func() clidoc.Group) Tool {
	run, described := t.Run, t.Manual
	t.Run = func(env Env, line []string) int {
		env.Besides = append(env.Besides, flags())
		return run(env, line)
	}
	if described != nil {
		t.Manual = func() clidoc.Command {
			c := described()
			c.Groups = append(c.Groups, flags())
			return c
		}
	}
	return t
}
