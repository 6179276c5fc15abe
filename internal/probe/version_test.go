package probe

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
)

func TestUsed(t *testing.T) {
	// at is a model of which no version was asked for, that answered n requests.
	at := func(name, version string, n uint64, parts ...record.ModelStats) record.ModelStats {
		m := model(name, n, parts...)
		m.Version, m.AnyVersion = version, true
		return m
	}
	asked := func(name, version string, n uint64) record.ModelStats {
		m := at(name, version, n)
		m.AnyVersion = false
		return m
	}
	for _, c := range []struct {
		name    string
		all     []record.ModelStats
		want    []record.ModelStats
		several []string
	}{
		{"one version", []record.ModelStats{at("m", "1", 5)}, []record.ModelStats{at("m", "1", 5)}, nil},
		{"the one that moved", []record.ModelStats{at("m", "1", 0), at("m", "2", 5), at("m", "3", 0)}, []record.ModelStats{at("m", "2", 5)}, nil},
		{"two moved: the highest, by number", []record.ModelStats{at("m", "10", 5), at("m", "9", 7), at("m", "11", 0)}, []record.ModelStats{at("m", "10", 5)}, []string{"m"}},
		// differs: pa-unasked-version
		{"none moved", []record.ModelStats{at("m", "1", 0), at("m", "3", 0), at("m", "2", 0)}, []record.ModelStats{at("m", "3", 0)}, nil},
		{"asked for", []record.ModelStats{asked("m", "1", 5), asked("m", "3", 5)}, []record.ModelStats{asked("m", "1", 5), asked("m", "3", 5)}, nil},
		{
			"parts", []record.ModelStats{at("whole", "1", 0, at("part", "1", 2), at("part", "2", 9)), at("whole", "2", 4, at("part", "1", 2), at("part", "2", 9), asked("other", "1", 4))},
			[]record.ModelStats{at("whole", "2", 4, at("part", "2", 9), asked("other", "1", 4))},
			[]string{"part"},
		},
	} {
		got, several := Used(c.all)
		if diff := cmp.Diff(c.want, got); diff != "" || !cmp.Equal(several, c.several) {
			t.Errorf("%s: several %v, -want +got:\n%s", c.name, several, diff)
		}
	}
}
