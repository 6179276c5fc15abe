package cli

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/inferometer/inferometer/internal/tool"
)

// What go build records is the version, the commit and the date, of a clone and of a module
// that was fetched.
func TestBuildOfGo(t *testing.T) {
	vcs := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0c3b66afe0b6"}, {Key: "vcs.time", Value: "2026-11-17T16:00:00Z"}}
	for _, c := range []struct {
		name, version string
		settings      []debug.BuildSetting
		want          tool.Build
	}{
		{name: "nothing", want: tool.Build{Version: "dev"}},
		{name: "a test", version: "(devel)", want: tool.Build{Version: "dev"}},
		{name: "a clone", version: "(devel)", settings: vcs, want: tool.Build{Version: "dev", Commit: "0c3b66afe0b6", Date: "2026-11-17T16:00:00Z"}},
		{name: "go install of a tag", version: "v0.1.0", want: tool.Build{Version: "v0.1.0"}},
		{name: "go install of a commit", version: "v0.0.0-20261117160000-0c3b66af1234", want: tool.Build{Version: "v0.0.0-20261117160000-0c3b66af1234", Commit: "0c3b66af1234", Date: "2026-11-17T16:00:00Z"}},
		{name: "of one behind a tag", version: "v0.1.1-0.20261117160000-0c3b66af1234+dirty", want: tool.Build{Version: "v0.1.1-0.20261117160000-0c3b66af1234+dirty", Commit: "0c3b66af1234", Date: "2026-11-17T16:00:00Z"}},
		{name: "no such date", version: "v0.1.1-0.20269917160000-0c3b66af1234", want: tool.Build{Version: "v0.1.1-0.20269917160000-0c3b66af1234"}},
	} {
		if got := buildOf(&debug.BuildInfo{Main: debug.Module{Version: c.version}, Settings: c.settings}); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// The linker's word goes before that of go build, and what is not known is left out.
func TestVersionLine(t *testing.T) {
	told := tool.Build{Version: "v0.1.0", Commit: "0c3b66af1234567890", Date: "2026-11-17T16:00:00Z"}
	if got := recorded(told); got != told {
		t.Errorf("%+v became %+v", told, got)
	}
	system := runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")"
	for _, c := range []struct {
		build tool.Build
		want  string
	}{
		{told, "inferometer v0.1.0 (commit 0c3b66af, 2026-11-17, " + system},
		{tool.Build{Version: "dev"}, "inferometer dev (" + system},
		{tool.Build{Version: "v1", Commit: "abc"}, "inferometer v1 (commit abc, " + system},
	} {
		if got := versionLine(c.build); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
