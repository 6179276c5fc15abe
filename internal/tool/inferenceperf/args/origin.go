package args

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/pattern"
	"github.com/inferometer/inferometer/internal/message"
)

// originTable is what parts of a plan are called in a config.
//
//go:embed origin.yaml
var originTable []byte

type originNames struct {
	Places  [][2]string                  // the places of the config that parts of the plan come from
	Keys    map[string]map[string]string // of sections of the config, that have other names in a plan
	Named   [][2]string                  // what messages name that has no place where its part of the plan comes from
	Lacking []string                     // what the config has nothing like
}

var origins = sync.OnceValue(func() (names originNames) {
	if err := yaml.Unmarshal(originTable, &names); err != nil {
		panic("inference-perf: origin.yaml: " + err.Error())
	}
	return names
})

// anywhere is the section of keys that have the same names wherever they stand.
const anywhere = ""

var index = pattern.New(`\[\d+\]`)

// rename gives the keys of a path the names that they have in the config.
func rename(path string) string {
	keys, tables := strings.Split(path, "."), origins().Keys
	out := keys[0]
	for _, key := range keys[1:] {
		name, at, indexed := strings.Cut(key, "[")
		to, ok := tables[index().ReplaceAllString(out, "")][name]
		if !ok {
			to, ok = tables[anywhere][name]
		}
		if !ok {
			to = name
		}
		out += "." + to
		if indexed {
			out += "[" + at
		}
	}
	return out
}

// Names are those of the config, its places and its stages, from 0 as in the reports' files.
func (a *Action) Names() message.Names {
	names := message.Table(named())
	return message.Names{
		Of: func(path string) (string, bool) {
			if name, ok := names(path); ok {
				return name, true
			}
			_, at := a.origin(path)
			return at, true
		},
		Place: func(path string) (where, at string) { return flagged(a.origin(path)) },
		Stage: func(i int) string { return fmt.Sprintf("stage_%d", a.Options.StageNumber(i)) },
	}
}

// named is what messages name that has no place in the config where its part of the plan comes
// from; an empty name: the config has nothing like it.
func named() [][2]string {
	rows := slices.Clone(origins().Named)
	for _, path := range origins().Lacking {
		rows = append(rows, [2]string{path, ""})
	}
	return rows
}

// locate is the place of the config that a path of the plan comes from, and its path there.
func (b *builder) locate(path string) (where, at string) {
	at = b.origin(path)
	return b.whereIs(at), at
}

// origin is the path of the config that a path of the plan comes from.
func (b *builder) origin(at string) string { return rename(b.section(at)) }

func (b *builder) section(at string) string {
	rows := [][2]string{{"data.output", b.outputKey()}, {"data.replay", "data." + b.value("data.type").text()}}
	for i, br := range b.plan.Breakers { // those in force, which are some of those that are defined
		k := slices.IndexFunc(b.value("circuit_breakers").items(), func(v *value) bool { return v.child("name").text() == br.Name })
		rows = append(rows, [2]string{fmt.Sprintf("breakers[%d]", i), fmt.Sprintf("circuit_breakers[%d]", k)})
	}
	for i, number := range b.action.Options.Stages {
		rows = append(rows, [2]string{fmt.Sprintf("stages[%d]", i), fmt.Sprintf("load.stages[%d]", number)})
	}
	for _, o := range append(rows, origins().Places...) {
		if within(at, o[0]) {
			return o[1] + at[len(o[0]):]
		}
	}
	return at
}
