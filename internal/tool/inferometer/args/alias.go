package args

import (
	_ "embed"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/plan"
)

// alias is what other tools call a flag of ours, or one that is easily taken for it. aliases.yaml
// says what its fields are.
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

// aliases are those of the commands that measure.
var aliases = sync.OnceValue(func() (all []alias) {
	if err := yaml.Unmarshal(aliasTable, &all); err != nil {
		panic("inferometer: aliases.yaml: " + err.Error())
	}
	return all
})

// differing are the names of another meaning that a command line has, with what they mean.
type differing struct {
	text  map[string]string   // by name
	given map[string][]string // their values, which are shown nowhere
}

// addAliases adds the names of other tools to a set of flags.
func addAliases(set *pflag.FlagSet, v values, paths map[string]string, list []alias) differing {
	d := differing{text: map[string]string{}, given: map[string][]string{}}
	for _, a := range list {
		names := strings.Fields(a.Names)
		pending := slices.Contains([]string{urlAlias, hostAlias, portAlias, mostAlias, streamedAlias}, a.Flag)
		for _, name := range names {
			if len(name) == 1 && len(names) > 1 || set.Lookup(name) != nil {
				continue // a short name comes with the first long one
			}
			short := ""
			if i := slices.IndexFunc(names, func(n string) bool { return len(n) == 1 }); i >= 0 && (name == names[0]) {
				short = names[i]
			}
			own := set.Lookup(a.Flag)
			value := collect{to: v.flags, name: a.Flag, toggle: a.Bare, seconds: a.Seconds, as: name, typed: v.typed, with: a.With}
			switch {
			case a.Differs != "":
				d.text[name] = a.Differs
				value = collect{to: d.given, name: name}
			case own == nil && !pending:
				d.text[name] = "is --" + a.Flag + " of inferometer run, which this command does not have"
				value = collect{to: d.given, name: name}
			}
			f := set.VarPF(value, name, short, "")
			if paths[name] = paths[a.Flag]; a.Bare {
				f.NoOptDefVal = "true"
			}
		}
	}
	return d
}

// faults are those of the names that mean something else.
func (d differing) faults(set *pflag.FlagSet) plan.Faults {
	var list plan.Faults
	set.VisitAll(func(f *pflag.Flag) {
		if len(d.given[f.Name]) == 0 {
			return
		}
		where := "--" + f.Name
		if len(f.Name) == 1 {
			where = "-" + f.Name
		}
		text, hint, _ := strings.Cut(d.text[f.Name], ": ")
		list = append(list, plan.Fault{Where: where, Text: text, Hint: hint})
	})
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

// shown is a flag as it was typed.
func (v values) shown(name string) string {
	if as := v.typed[name]; as != "" {
		return "--" + as
	}
	return "--" + name
}
