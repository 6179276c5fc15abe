package args

import (
	_ "embed"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/plan"
)

// alias is what other tools call a flag of ours, or a like one. aliases.yaml explains its fields.
type alias struct {
	Names, Flag, Tools  string
	Bare, Seconds       bool
	With, Note, Differs string
}

// aliasTable are all aliases.
//
//go:embed aliases.yaml
var aliasTable []byte

// The names under which the parts of a URL and a bound are kept until it is known what they mean.
const (
	urlAlias      = "url"
	hostAlias     = "host"
	portAlias     = "port"
	mostAlias     = "max-concurrency"
	requestRate   = "request-rate"
	streamedAlias = "streaming"
)

var aliases = sync.OnceValue(func() (all []alias) {
	if err := yaml.Unmarshal(aliasTable, &all); err != nil {
		panic("inferometer: aliases.yaml: " + err.Error())
	}
	return all
})

// addAliases adds the names of other tools to those of flags.
func addAliases(known []entry, paths map[string]string, list []alias) []entry {
	has := func(name string) bool {
		return slices.ContainsFunc(known, func(e entry) bool { return e.name == name })
	}
	for _, a := range list {
		names := strings.Fields(a.Names)
		pending := slices.Contains([]string{urlAlias, hostAlias, portAlias, mostAlias, streamedAlias}, a.Flag)
		ours := has(a.Flag)
		for _, name := range names {
			if len(name) == 1 && len(names) > 1 || has(name) {
				continue // a short name comes with the first long one
			}
			e := entry{name: name, to: a.Flag, toggle: a.Bare, alias: true, seconds: a.Seconds, with: a.With, differs: a.Differs}
			if i := slices.IndexFunc(names, func(n string) bool { return len(n) == 1 }); i >= 0 && (name == names[0]) {
				e.short = names[i]
			}
			if a.Differs == "" && !ours && !pending {
				e.differs = "is --" + a.Flag + " of inferometer run, which this command does not have"
			}
			known, paths[name] = append(known, e), paths[a.Flag]
		}
	}
	return known
}

// faultsOf are those of the names that mean something else, each with how it does.
func faultsOf(differing map[string]string) plan.Faults {
	var list plan.Faults
	for _, name := range slices.Sorted(maps.Keys(differing)) {
		where := "--" + name
		if len(name) == 1 {
			where = "-" + name
		}
		text, hint, _ := strings.Cut(differing[name], ": ")
		list = append(list, plan.Fault{Where: where, Text: text, Hint: hint})
	}
	return list
}

// resolveAliases decides what the names of other tools mean whose meaning depends on other flags.
func (v *values) resolveAliases() plan.Faults {
	var faults plan.Faults
	v.args = append(v.args, v.flags[urlAlias]...)
	host, port := v.last(hostAlias), v.last(portAlias)
	switch {
	case host == "" && port == "":
	case port == "":
		faults = append(faults, plan.Fault{Where: "--host", Text: "needs --port", Hint: "or give the URL: http://" + shorten(host) + ":8000"})
	default:
		scheme, name, ok := strings.Cut(host, "://")
		if !ok {
			scheme, name = "http", host
		}
		if name == "" {
			name = "127.0.0.1"
		}
		v.args = append(v.args, scheme+"://"+net.JoinHostPort(strings.Trim(name, "[]"), port))
	}
	if v.given(streamedAlias) && v.given("no-stream") && v.is(streamedAlias) == v.is("no-stream") {
		faults = append(faults, plan.Fault{Where: "--streaming", Text: "contradicts --no-stream", Hint: "keep one of them"})
	} else if v.given(streamedAlias) {
		v.flags["no-stream"] = []string{strconv.FormatBool(!v.is(streamedAlias))}
	}
	most := v.flags[mostAlias]
	if v.typed["rate"] == requestRate && v.last("rate") == "inf" {
		delete(v.flags, "rate")
		if len(most) == 0 && !v.given("concurrency") {
			faults = append(faults, plan.Fault{Where: "--request-rate", Text: "inf sends all requests at once", Hint: "set how many are in flight with --concurrency N"})
		}
	}
	bounds := "concurrency"
	if v.given("rate") {
		bounds = "max-in-flight"
	}
	if len(most) > 0 {
		v.flags[bounds] = append(v.flags[bounds], most...)
		v.typed[bounds] = mostAlias
		if len(v.flags[bounds]) > 1 {
			faults = append(faults, plan.Fault{Where: "--max-concurrency", Text: fmt.Sprintf("is --%s, which is given %s", bounds, times(len(v.flags[bounds]))), Hint: "keep one of them"})
		}
	}
	return faults
}

func (v values) shown(name string) string {
	if as := v.typed[name]; as != "" {
		return "--" + as
	}
	return "--" + name
}
