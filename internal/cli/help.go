package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/tool"
)

func helpManual() clidoc.Command {
	c := clidoc.Command{
		Name:  "help",
		About: "Show a page of the documentation, or the help of a command.",
		Usage: []clidoc.Usage{
			{Line: "inferometer help", Help: "list commands and topics"},
			{Line: "inferometer help TOPIC", Help: "show a page of docs/, such as gates or docs/plan.md"},
			{Line: "inferometer help COMMAND", Help: "the same as inferometer COMMAND --help"},
			{Line: "inferometer help WORDS", Help: "search the documentation"},
		},
		Examples: []string{"inferometer help gates", "inferometer help docs/capacity.md | less   also a command's name", "inferometer help mooncake trace"},
	}
	for _, t := range topLevel() {
		c.Verbs = append(c.Verbs, clidoc.Verb{Name: t.Name, Help: t.Summary})
	}
	for _, chapter := range clidoc.Chapters() {
		for _, t := range chapter.Topics {
			c.Verbs = append(c.Verbs, clidoc.Verb{Name: t.Name, Help: t.Summary})
		}
	}
	return c
}

// helpCommand shows a topic, or the help of a command.
func helpCommand(env tool.Env, args []string) int {
	switch {
	case len(args) == 0:
		fmt.Fprint(env.Stdout, help(commands(), env.HelpWidth()), topics(env.HelpWidth()))
		return tool.ExitOK
	case asksHelp(args):
		c := helpManual()
		c.Verbs = nil
		return env.PrintHelp(c, true)
	case len(args) > 1:
		return search(env, strings.Join(args, " "))
	}
	topic, certain := clidoc.FindTopic(args[0])
	for _, c := range commands() {
		if c.Name == args[0] && !certain {
			return c.Run(env, []string{"--help"})
		}
	}
	if topic == "" {
		return search(env, args[0])
	}
	width, colour := pageLook(env)
	fmt.Fprint(env.Stdout, clidoc.Page(topic, width, colour))
	return tool.ExitOK
}

// pageLook is how a page is shown: in the width of the terminal, if there is one.
func pageLook(env tool.Env) (width int, colour bool) {
	if t := env.Terminal(env.Stdout); t.TTY {
		return t.Width(), t.Color
	}
	return clidoc.Width, false
}

// mostFound is the number of places that a search lists.
const mostFound = 8

// search shows the section that is most about what was typed, and lists others.
func search(env tool.Env, query string) int {
	found := clidoc.NewIndex().Search(query)
	if len(found.Places) == 0 {
		return env.Fail("help", fmt.Errorf("no page has %q: inferometer help lists commands and topics", query), tool.ExitUsage)
	}
	width, colour := pageLook(env)
	best, others := found.Places[0], found.Places[1:]
	if found.Meant != "" {
		fmt.Fprintf(env.Stdout, "Nothing found for %q; searched for %q instead.\n\n", query, found.Meant)
	}
	fmt.Fprint(env.Stdout, best.Text(width, colour))
	fmt.Fprintf(env.Stdout, "\nThe whole page: inferometer help %s\n", best.Topic)
	if len(others) > 0 {
		fmt.Fprint(env.Stdout, "Also found:\n")
	}
	var b strings.Builder
	for _, p := range others[:min(len(others), mostFound)] {
		listed(&b, "help "+p.Topic, p.Title, 24, env.HelpWidth())
	}
	fmt.Fprint(env.Stdout, b.String())
	return tool.ExitOK
}

func topics(width int) string {
	var b strings.Builder
	b.WriteString("\nTopics, with inferometer help TOPIC:\n")
	for _, c := range clidoc.Chapters() {
		b.WriteString("\n" + c.Title + ":\n")
		for _, t := range c.Topics {
			listed(&b, t.Name, t.Summary, 18, width)
		}
	}
	return b.String()
}

// listed writes a name with its text in a column beside it.
func listed(b *strings.Builder, name, text string, column, width int) {
	lines := clidoc.Wrap(text, width-column-2)
	fmt.Fprintf(b, "  %-*s%s\n", column, name, lines[0])
	for _, l := range lines[1:] {
		fmt.Fprintf(b, "%*s%s\n", column+2, "", l)
	}
}

func manManual() clidoc.Command {
	return clidoc.Command{
		Name:     "man",
		About:    "Write man pages of the program and of each command.",
		Usage:    []clidoc.Usage{{Line: "inferometer man DIR"}},
		Examples: []string{"inferometer man ~/.local/share/man/man1"},
		Page:     "install", Takes: clidoc.Directories,
	}
}

func manCommand(env tool.Env, args []string) int {
	if asksHelp(args) {
		return env.PrintHelp(manManual(), true)
	}
	if len(args) != 1 || strings.HasPrefix(args[0], "-") || args[0] == "" {
		return env.Fail("man", errors.New("name a directory: inferometer man DIR"), tool.ExitUsage)
	}
	day, _, _ := strings.Cut(env.Build.Date, "T")
	release := clidoc.Release{Version: env.Version, Day: day}
	codes := []clidoc.Verb{
		{Name: "0", Help: "success"}, {Name: "1", Help: "the run failed, or its figures cannot be trusted"},
		{Name: "2", Help: "bad usage or input: nothing was sent"}, {Name: "3", Help: "a gate was missed: --fail-if, or the objectives of capacity"},
		{Name: "4", Help: "too little was measured to judge the result"},
	}
	list := entries()
	pages := map[string]string{programName + ".1": clidoc.ManOf(programName, "measure generative-AI inference servers", list, clidoc.Chapters(), codes, release)}
	for _, e := range list {
		c := e.Describe()
		if c.Name == "help" {
			c.Verbs = nil // the page of the program lists them
		}
		pages[programName+"-"+c.Name+".1"] = c.Man(programName, release)
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return env.Fail("man", fmt.Errorf("creating the directory: %w", err), tool.ExitRun)
	}
	for name, text := range pages {
		if err := atomicfile.Bytes(filepath.Join(args[0], name), []byte(text)); err != nil {
			return env.Fail("man", fmt.Errorf("writing a man page: %w", err), tool.ExitRun)
		}
	}
	fmt.Fprintf(env.Stdout, "%d man pages written to %s\n", len(pages), args[0])
	return tool.ExitOK
}
