package args

import (
	"strings"

	"github.com/inferometer/inferometer/internal/clidoc"
)

// Manual describes the command, for man pages and completion.
func Manual() clidoc.Command {
	c := clidoc.Command{
		Name:  "inference-perf",
		About: "Measure an inference server with an inference-perf config file.",
		Usage: []clidoc.Usage{{Line: "inference-perf [--config_file FILE] [--KEY.KEY VALUE ...]"}, {Line: "inference-perf --analyze DIR... [--unified_analysis_dir DIR]"}},
		Text:  "Every key of the config is a flag; lists and mappings are JSON.",
		Page:  "inference-perf", Takes: clidoc.Directories,
	}
	own := clidoc.Group{Title: "Flags"}
	for _, f := range general() {
		one := described(&f)
		switch f.name {
		case "--config_file":
			one.Arg, one.Takes = "FILE", clidoc.PlanFiles
		case analyzeFlag, "--unified_analysis_dir":
			one.Arg, one.Takes = "DIR", clidoc.Directories
		}
		own.Flags = append(own.Flags, one)
	}
	keys := clidoc.Group{Title: "Keys of the config"}
	for _, f := range flagsOf(root(), nil) {
		if f.form.kind != object {
			keys.Flags = append(keys.Flags, described(&f))
		}
	}
	c.Groups = []clidoc.Group{own, keys}
	return c
}

func described(f *flag) clidoc.Flag {
	one := clidoc.Flag{Name: strings.TrimPrefix(f.name, "--"), Short: f.short, Help: f.help}
	if f.bare {
		return one
	}
	one.Arg = strings.TrimSpace(f.form.placeholder())
	if one.Arg == "" {
		one.Arg = "TEXT"
	}
	switch f.form.kind {
	case choice:
		one.Values = f.form.words
	case boolean:
		one.Values = []string{"true", "false"}
	}
	return one
}
