package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/tool"
)

// recorded fills in what the linker was not told with what go build recorded.
func recorded(b tool.Build) tool.Build {
	if b.Version != "" && b.Commit != "" && b.Date != "" {
		return b
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	ofGo := buildOf(info)
	return tool.Build{Version: cmp.Or(b.Version, ofGo.Version), Commit: cmp.Or(b.Commit, ofGo.Commit), Date: cmp.Or(b.Date, ofGo.Date)}
}

// buildOf is what go build recorded: the version of a module that was fetched, or the commit
// of a clone.
func buildOf(info *debug.BuildInfo) tool.Build {
	b := tool.Build{Version: "dev"}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
		b.Commit, b.Date = ofPseudoVersion(v)
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		}
	}
	return b
}

// ofPseudoVersion is the commit and the date in a version such as
// v0.1.1-0.20261117160000-0c3b66af1234, which go install gives to a commit without a tag.
func ofPseudoVersion(version string) (commit, date string) {
	m := regexp.MustCompile(`[-.]([0-9]{14})-([0-9a-f]{12})(\+.*)?$`).FindStringSubmatch(version)
	if m == nil {
		return "", ""
	}
	at, err := time.Parse("20060102150405", m[1])
	if err != nil {
		return "", ""
	}
	return m[2], at.Format(time.RFC3339)
}

func versionManual() clidoc.Command {
	return clidoc.Command{
		Name:   "version",
		About:  "Print the version, the commit that it was built from and that commit's date.",
		Usage:  []clidoc.Usage{{Line: "inferometer version [--json]"}},
		Groups: []clidoc.Group{{Title: "Flags", Flags: []clidoc.Flag{{Name: "json", Help: "print them as JSON, with the commit in full"}}}},
	}
}

func versionCommand(env tool.Env, args []string) int {
	switch {
	case len(args) == 0:
		fmt.Fprintln(env.Stdout, versionLine(env.Build))
		return tool.ExitOK
	case len(args) == 1 && args[0] == "--json":
		return versionJSON(env)
	case asksHelp(args):
		return env.PrintHelp(versionManual(), true)
	}
	return env.Fail("version", errors.New("takes no arguments but --json"), tool.ExitUsage)
}

func versionLine(b tool.Build) string {
	var parts []string
	if b.Commit != "" {
		parts = append(parts, "commit "+b.Commit[:min(8, len(b.Commit))])
	}
	if b.Date != "" {
		day, _, _ := strings.Cut(b.Date, "T")
		parts = append(parts, day)
	}
	parts = append(parts, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
	return fmt.Sprintf("inferometer %s (%s)", b.Version, strings.Join(parts, ", "))
}

func versionJSON(env tool.Env) int {
	b := env.Build
	text, err := json.MarshalIndent(struct {
		Version string `json:"version"`
		Commit  string `json:"commit,omitempty"`
		Date    string `json:"date,omitempty"`
		Go      string `json:"go"`
		OS      string `json:"os"`
		Arch    string `json:"arch"`
	}{b.Version, b.Commit, b.Date, runtime.Version(), runtime.GOOS, runtime.GOARCH}, "", "  ")
	if err != nil {
		return env.Fail("version", err, tool.ExitRun)
	}
	fmt.Fprintf(env.Stdout, "%s\n", text)
	return tool.ExitOK
}
