package probe

import (
	"slices"
	"strconv"

	"github.com/inferometer/inferometer/internal/record"
)

// Used takes, of each model that was asked for in no version, the version that did the
// work: the highest of those whose counters moved, and the highest of all where none did.
// So do the parts of ensembles. several are the models of which more than one version
// moved, so that it cannot be known whose work the rest is. all is what Difference gives.
func Used(all []record.ModelStats) (used []record.ModelStats, several []string) {
	for i := range all {
		m := all[i]
		if m.AnyVersion {
			best, moved := highest(all, m.Name)
			if best != i {
				continue
			}
			if moved > 1 && !slices.Contains(several, m.Name) {
				several = append(several, m.Name)
			}
		}
		parts, more := Used(m.Composing)
		m.Composing = parts
		for _, name := range more {
			if !slices.Contains(several, name) {
				several = append(several, name)
			}
		}
		used = append(used, m)
	}
	return used, several
}

// highest is the place of the version of a model that did the work, and how many did any.
func highest(all []record.ModelStats, name string) (best, moved int) {
	best = -1
	for i := range all {
		m := &all[i]
		if m.Name != name || !m.AnyVersion {
			continue
		}
		moves := m.Queue.Count+m.Success.Count+m.Fail.Count > 0
		switch {
		case moves && (moved == 0 || version(m) > version(&all[best])):
			best = i
		case moved == 0 && !moves && (best < 0 || version(m) > version(&all[best])):
			best = i
		}
		if moves {
			moved++
		}
	}
	return best, moved
}

// version is a model's as a number; -1: it is none.
func version(m *record.ModelStats) int64 {
	v, err := strconv.ParseInt(m.Version, 10, 64)
	if err != nil {
		return -1
	}
	return v
}
