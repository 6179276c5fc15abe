package args

import (
	_ "embed"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// Help is which help a command line asks for.
type Help int

// The two helps of a command with many flags.
const (
	NoHelp Help = iota
	ShortHelp
	FullHelp
)

// help is which help the flags ask for.
func (v values) help() Help {
	switch {
	case v.is("help-all"):
		return FullHelp
	case v.is("help"):
		return ShortHelp
	}
	return NoHelp
}

func described(groups []group) []clidoc.Group {
	choices := planfile.Choices()
	var list []clidoc.Group
	for _, g := range groups {
		to := clidoc.Group{Title: g.title}
		for _, o := range g.options {
			f := clidoc.Flag{Name: o.name, Short: o.short, Arg: o.arg, Help: o.help, Values: o.values}
			if o.path != "" && o.arg != "" && f.Values == nil {
				f.Values = choices(o.path)
			}
			f.Takes = filesOf(o.name)
			to.Flags = append(to.Flags, f)
		}
		list = append(list, to)
	}
	return list
}

// filesOf is what files a flag names whose value may be something else.
func filesOf(name string) clidoc.Files {
	switch name {
	case "tokenizer", "input-data", "dataset", "trace":
		return clidoc.AnyFile
	}
	return ""
}

// commandTable says what the commands are.
//
//go:embed commands.yaml
var commandTable []byte

func manual(name string, groups []group) clidoc.Command {
	var all map[string]clidoc.Command
	if err := yaml.Unmarshal(commandTable, &all); err != nil {
		panic("inferometer: commands.yaml: " + err.Error())
	}
	c := all[name]
	c.Name, c.Groups = name, described(groups)
	return c
}

// RunManual describes `inferometer run`.
func RunManual() clidoc.Command { return manual("run", runGroups()) }

// ReportManual describes `inferometer report`.
func ReportManual() clidoc.Command { return manual("report", reportGroups()) }

// PlanManual describes `inferometer plan`. Its flags are those of run.
func PlanManual() clidoc.Command { return manual("plan", runGroups()) }

// CompareManual describes `inferometer compare`.
func CompareManual() clidoc.Command { return manual("compare", compareGroups()) }

// ExportManual describes `inferometer export`.
func ExportManual() clidoc.Command { return manual("export", exportGroups()) }

// CapacityManual describes `inferometer capacity`.
func CapacityManual() clidoc.Command { return manual("capacity", capacityGroups()) }

// StudyManual describes `inferometer study`.
func StudyManual() clidoc.Command { return manual("study", studyGroups()) }
