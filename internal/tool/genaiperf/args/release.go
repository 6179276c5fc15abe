package args

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/lib/pattern"
)

// The releases whose command lines are told apart. What came between Release2404 and
// ReleaseLast is read as the last one; its reports and defaults are its own.
const (
	Release2403 = "24.03"
	Release2404 = "24.04"
	ReleaseLast = "latest"
)

func bit(release string) int {
	switch release {
	case Release2403:
		return in2403
	case Release2404:
		return in2404
	default:
		return inLast
	}
}

// A release is named by its year and month, or by the number of its package.
var (
	yearMonth = pattern.New(`^2[0-9]\.(0[1-9]|1[0-2])$`)
	packaged  = pattern.New(`^0\.0\.([89]|1[0-9])(\.?[a-z].*)?$`)
)

func forced(name string) (string, error) {
	switch {
	case name == Release2403 || name == Release2404 || name == ReleaseLast:
		return name, nil
	case packaged().MatchString(name), yearMonth().MatchString(name) && name > Release2404:
		return ReleaseLast, nil
	}
	return "", fmt.Errorf("unknown release %q: give %s, %s, a later one such as 25.03, a package version from 0.0.8 on, or %s", shorten(name), Release2403, Release2404, ReleaseLast)
}

// recognise tells the release from a command line. A sub-command is a sign of a late release, a
// flag of one release of that one; of several that fit it is the earliest.
func (v *values) recognise() string {
	if v.command != "" {
		return ReleaseLast
	}
	only := 0
	all := always
	for _, uses := range v.used {
		for _, u := range uses {
			all &= u.flag.releases
			if u.flag.releases == in2403 || u.flag.releases == in2404 || u.flag.releases == inLast {
				only |= u.flag.releases
			}
		}
	}
	switch {
	case only&in2403 != 0:
		return Release2403
	case only&in2404 != 0:
		return Release2404
	case only&inLast != 0:
		return ReleaseLast
	case all&in2403 != 0:
		return Release2403
	default:
		return Release2404
	}
}

// middle reports whether a command line printed as the last release's is of one between 24.04 and
// 25.04, with earlier defaults: it has --service-kind, which 25.04 took away, or no sub-command,
// which 24.08 asks for, or the user names such a release.
func (v *values) middle() bool {
	if v.given("release") {
		name := v.named()
		return yearMonth().MatchString(name) && name > Release2404 && name < "25.04"
	}
	return v.given("service-kind") || v.command == ""
}

// scheduled reports whether a payload file is a schedule without any flag: before 25.06,
// which brought --fixed-schedule, it was.
func (v *values) scheduled() bool {
	if v.given("release") {
		name := v.named()
		return yearMonth().MatchString(name) && name < "25.06"
	}
	return v.middle()
}

// foreign notes flags that the release did not have: they mean what they do in their own.
func (v *values) foreign(release string) []string {
	var notes []string
	for _, f := range flags() {
		u, ok := v.last(f.key)
		if !ok || u.flag.name != f.name || f.releases&bit(release) != 0 {
			continue
		}
		notes = append(notes, fmt.Sprintf("%s is a flag of %s; the rest of this command line is read as %s", u.as, had(f.releases), name(release)))
	}
	return notes
}

// had names the releases that had a flag.
func had(releases int) string {
	switch releases {
	case in2403:
		return Release2403
	case in2404:
		return Release2404
	case later:
		return Release2404 + " and later"
	case early:
		return Release2403 + " and " + Release2404
	default:
		return "later releases"
	}
}

func name(release string) string {
	if release == ReleaseLast {
		return "the latest release"
	}
	return release
}
