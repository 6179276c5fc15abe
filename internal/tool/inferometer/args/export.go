package args

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
)

// ProfileExport is the format of Perf Analyzer's profile_export.json.
const ProfileExport = "profile-export"

// ExportFormats are the files that `inferometer export` can write.
func ExportFormats() []string { return []string{"parquet", "csv", "jsonl", ProfileExport} }

// Stdout is the name of a file that stands for the standard output.
const Stdout = "-"

// ExportAction is what an `export` command line asks for.
type ExportAction struct {
	Dir       string // output directory of a run, or what another tool wrote
	Format    string // of ExportFormats
	Events    bool   // a row for each event
	Out       string // file to write; empty: one in Dir
	Tokenizer string // to count the tokens of a run that another tool measured; empty: the run's own
	Help      bool   // print the help and stop
}

func exportGroups() []group { return []group{{"Flags", flagsOf("Export")}} }

// Export reads the arguments of `inferometer export`. The error is a plan.Faults.
func Export(args []string) (*ExportAction, error) {
	v, faults := parse(exportGroups(), args)
	if v.is("help") {
		return &ExportAction{Help: true}, nil
	}
	a := &ExportAction{Format: v.last("format"), Events: v.is("events"), Out: v.last("out"), Tokenizer: v.last("tokenizer")}
	switch len(v.args) {
	case 0:
		faults = append(faults, plan.Fault{Text: "no directory given", Hint: "name the output directory of a run: inferometer export DIR"})
	case 1:
		a.Dir = v.args[0]
	default:
		faults = append(faults, plan.Fault{Text: fmt.Sprintf("%d directories given", len(v.args)), Hint: "give one"})
	}
	if a.Format == "" && a.Out != "" && a.Out != Stdout {
		a.Format = formatOf(a.Out)
	}
	if a.Format == "" {
		a.Format = ExportFormats()[0]
	}
	if !slices.Contains(ExportFormats(), a.Format) {
		faults = append(faults, unknownWord("--format", "format", a.Format, ExportFormats()))
	}
	if a.Events && a.Format == ProfileExport {
		faults = append(faults, plan.Fault{Where: "--events", Text: "cannot be combined with --format " + ProfileExport, Hint: "its requests hold their events"})
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return a, nil
}

// formatOf is the format that a file's name stands for; empty: none.
func formatOf(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".parquet":
		return "parquet"
	case ".csv":
		return "csv"
	case ".jsonl", ".ndjson":
		return "jsonl"
	case ".json":
		return ProfileExport
	}
	return ""
}

// export is what a run writes besides its own files; nil means nothing.
func (b *builder) export() *ExportAction {
	if !b.given("export") {
		return nil
	}
	a := &ExportAction{Out: b.last("export"), Format: formatOf(b.last("export"))}
	if a.Format == "" {
		b.fault("--export", fmt.Sprintf("the suffix of %q names no format", shorten(a.Out)), "use .parquet, .csv, .jsonl, or .json for "+ProfileExport)
	}
	return a
}
