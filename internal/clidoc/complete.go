package clidoc

import (
	"cmp"
	"embed"
	"path/filepath"
	"slices"
	"strings"
)

// Completion is what may stand where a command line ends.
type Completion struct {
	Words []Verb
	Files Files // files that may stand there besides
}

// Entry is a command in a list of them.
type Entry struct {
	Name, Summary string
	Describe      func() Command
}

// Complete says what the last of the words of a command line may become. The first is the name
// that the program is called by: that of one of the commands, or its own.
func Complete(commands []Entry, words []string) Completion {
	if len(words) == 0 {
		return Completion{}
	}
	named := strings.TrimSuffix(filepath.Base(words[0]), ".exe")
	line := words[1:]
	c := find(commands, named)
	if c == nil {
		if len(line) == 0 {
			return Completion{}
		}
		if len(line) == 1 {
			return Completion{Words: starting(line[0], top(commands))}
		}
		if c = find(commands, line[0]); c == nil {
			return Completion{}
		}
		line = line[1:]
	}
	if len(line) == 0 {
		return Completion{}
	}
	if i := slices.Index(line[:len(line)-1], "--"); i >= 0 {
		if c = find(commands, c.Rest); c == nil {
			return Completion{Files: AnyFile}
		}
		line = line[i+1:]
	}
	return c.complete(line)
}

func find(commands []Entry, name string) *Command {
	i := slices.IndexFunc(commands, func(e Entry) bool { return e.Name == name && name != "" })
	if i < 0 {
		return nil
	}
	c := commands[i].Describe()
	return &c
}

// top is what may stand first.
func top(commands []Entry) []Verb {
	var all []Verb
	for _, e := range commands {
		all = append(all, Verb{e.Name, e.Summary})
	}
	return append(all, Verb{"--help", "list the commands"}, Verb{"--version", "print the version"})
}

// starting are the words that begin with what is there. Flags are shown to those who type a dash.
func starting(typed string, words []Verb) []Verb {
	return slices.DeleteFunc(slices.Clone(words), func(v Verb) bool {
		return !strings.HasPrefix(v.Name, typed) || typed == "" && strings.HasPrefix(v.Name, "-")
	})
}

// complete says what the last word of the command's arguments may become.
func (c *Command) complete(line []string) Completion {
	typed, given, plain, awaits := line[len(line)-1], map[*Flag]bool{}, 0, (*Flag)(nil)
	for _, word := range line[:len(line)-1] {
		f, value := c.flag(word)
		switch {
		case awaits != nil && !(awaits.Optional && f != nil):
			awaits = nil
		case f == nil:
			awaits = nil
			plain++
		default:
			given[f], awaits = true, nil
			if f.Arg != "" && !value {
				awaits = f
			}
		}
	}
	if awaits != nil && !(awaits.Optional && strings.HasPrefix(typed, "-")) {
		return awaits.values("", typed)
	}
	if name, value, ok := strings.Cut(typed, "="); ok && strings.HasPrefix(name, "-") {
		if f, _ := c.flag(name); f != nil && f.Arg != "" {
			return f.values(name+"=", value)
		}
		return Completion{}
	}
	if strings.HasPrefix(typed, "-") {
		return Completion{Words: c.flagsLike(typed, given)}
	}
	if plain == 0 && len(c.Verbs) > 0 {
		return Completion{Words: starting(typed, c.Verbs), Files: c.Takes.unlessVerb(c.Verbs, typed)}
	}
	return Completion{Files: c.Takes}
}

// unlessVerb is no file where a word of the command fits.
func (f Files) unlessVerb(verbs []Verb, typed string) Files {
	if len(starting(typed, verbs)) > 0 {
		return ""
	}
	return f
}

// flag is the flag that a word gives, nil where it is none, and whether its value is in it.
func (c *Command) flag(word string) (f *Flag, value bool) {
	if len(word) < 2 || word[0] != '-' {
		return nil, false
	}
	name, _, value := strings.Cut(word, "=")
	for _, f := range c.flags() {
		if f.Typed() == name || f.Short != "" && "-"+f.Short == name {
			return f, value
		}
	}
	return nil, false
}

// flagsLike are the flags that begin with what is typed, but for those that stand there already.
func (c *Command) flagsLike(typed string, given map[*Flag]bool) []Verb {
	var all []Verb
	for _, f := range c.flags() {
		if given[f] && !f.repeatable() {
			continue
		}
		if v := (Verb{f.Typed(), brief(f.Help)}); strings.HasPrefix(v.Name, typed) {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b Verb) int { return cmp.Compare(a.Name, b.Name) })
	return slices.Compact(all)
}

// values are those that a flag may have, each behind what stands in front of it.
func (f *Flag) values(before, typed string) Completion {
	if strings.Contains(f.Arg, "LIST") {
		if i := strings.LastIndexByte(typed, ','); i >= 0 {
			before, typed = before+typed[:i+1], typed[i+1:]
		}
	}
	a := Completion{Files: f.files()}
	for _, v := range f.Values {
		if strings.HasPrefix(v, typed) {
			a.Words = append(a.Words, Verb{Name: before + v})
		}
	}
	return a
}

// brief is the beginning of a flag's help, for a list beside the command line.
func brief(help string) string {
	for _, end := range []string{"; ", " (", ": "} {
		if i := strings.Index(help, end); i > 4 {
			help = help[:i]
		}
	}
	const most = 70
	if len(help) > most {
		i := strings.LastIndexByte(help[:most], ' ')
		help = strings.TrimRight(help[:max(i, 0)], " ,") + " …"
	}
	return help
}

// Without is an answer whose words lack a beginning that all of them have.
func (a Completion) Without(beginning string) Completion {
	words := slices.Clone(a.Words)
	for i := range words {
		rest, ok := strings.CutPrefix(words[i].Name, beginning)
		if !ok {
			return a
		}
		words[i].Name = rest
	}
	return Completion{Words: words, Files: a.Files}
}

// String is an answer as the scripts of the shells read it: a word on each line, with what it is
// behind a tab, and at last a line with what files there may be.
func (a Completion) String() string {
	var b strings.Builder
	for _, w := range a.Words {
		b.WriteString(w.Name)
		if w.Help != "" {
			b.WriteString("\t" + strings.Join(strings.Fields(w.Help), " "))
		}
		b.WriteByte('\n')
	}
	switch a.Files {
	case "":
		b.WriteString(":none\n")
	case AnyFile:
		b.WriteString(":files\n")
	case Directories:
		b.WriteString(":dirs\n")
	default:
		b.WriteString(":files " + string(a.Files) + "\n")
	}
	return b.String()
}

// Split takes a line apart as a shell does: at blanks, but for those that are quoted. Where the
// line ends in a blank, the last word is empty.
func Split(line string, escape rune) []string {
	words, in, quote := []string{""}, false, rune(0)
	last := func(r rune) { words[len(words)-1] += string(r); in = true }
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			escaped = false
			last(r)
		case r == escape && quote != '\'':
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			last(r)
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if in {
				words, in = append(words, ""), false
			}
		default:
			last(r)
		}
	}
	return words
}

//go:embed scripts
var scripts embed.FS

// Shells are those that completion has a script for.
func Shells() []Verb {
	return []Verb{
		{"bash", "source <(inferometer completion bash)"}, {"zsh", "source <(inferometer completion zsh)"},
		{"fish", "inferometer completion fish | source"}, {"powershell", "inferometer completion powershell | Out-String | Invoke-Expression"},
	}
}

// Script is what a shell runs to complete the arguments of programs; false: there is none for it.
// It knows no command and no flag: it calls the program with what is typed.
func Script(shell string, programs []string) (string, bool) {
	text, err := scripts.ReadFile("scripts/" + shell)
	if err != nil || strings.ContainsAny(shell, "./") {
		return "", false
	}
	between := " "
	if shell == "powershell" {
		between = ", "
	}
	return strings.ReplaceAll(string(text), "NAMES", strings.Join(programs, between)), true
}
