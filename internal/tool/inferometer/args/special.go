package args

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
)

// special puts the flags that need more than their value.
func (b *builder) special() {
	p := &b.draft.Plan
	for flag, path := range map[string]string{"no-stream": "target.streaming", "no-preflight": "target.preflight"} {
		if b.given(flag) {
			b.draft.Put(path, "--"+flag, strconv.FormatBool(!b.is(flag)))
		}
	}
	names := map[string]bool{}
	for _, h := range b.flags["header"] {
		b.header(h, names)
	}
	if b.given("temperature") {
		b.temperature(b.last("temperature"))
	}
	for _, e := range b.flags["extra"] {
		b.extra(e)
	}
	if b.given("input-file") {
		b.draft.Put("data.source", "--input-file", plan.SourceFile)
		if !b.given("input-tokens") {
			b.draft.Forget("data.input")
		}
	} else if b.given("input-tokens") && p.Data.File != "" {
		p.Data.File = ""
		b.draft.Forget("data.file")
		b.draft.Put("data.source", "--input-tokens", plan.SourceSynthetic)
	}
	b.sourceAddresses()
	b.triton()
	b.scrape()
	b.list("oauth-scope", "target.oauth.scopes", &p.Target.OAuth.Scopes)
	b.list("gpu", "cost.devices", &p.Cost.Devices)
	if !b.is("ab") { // else they are about the comparison
		b.gates(p)
	}
	if b.given("keep") {
		what := b.last("keep")
		if !slices.Contains(kept(), what) {
			b.draft.Faults = append(b.draft.Faults, unknownWord("--keep", "choice", what, kept()))
		}
		b.draft.Put("output.keep_raw", "--keep", strconv.FormatBool(what == "raw"))
		b.draft.Put("output.no_texts", "--keep", strconv.FormatBool(what == "none"))
	}
	switch unknown := plan.UnknownPlaceholder(p.Output.Dir); {
	case unknown != "":
		b.draft.Fault("output.dir", "unknown placeholder "+unknown, "one of "+strings.Join(plan.Placeholders(), ", "))
	case p.Name == "" && strings.Contains(p.Output.Dir, plan.PlaceName):
		b.draft.Fault("output.dir", "the run has no name for "+plan.PlaceName, "give it one with --name")
	}
	b.named("budget", "budgets", "such as cpu=90%")
	b.named("limit", "limits", "such as file=2GiB")
}

// list puts each value of a flag, instead of what the plan file lists.
func (b *builder) list(flag, path string, to *[]string) {
	if b.given(flag) {
		b.draft.Forget(path)
		*to = nil
	}
	for i, value := range b.flags[flag] {
		b.draft.Put(fmt.Sprintf("%s[%d]", path, i), "--"+flag, value)
	}
}

// scrape puts the pages of metrics, which are looked for where none is given.
func (b *builder) scrape() {
	p := &b.draft.Plan
	if b.last("scrape") == "none" {
		b.draft.Forget("probes.scrape")
		p.Probes.Scrape, p.Probes.Find = nil, false
		return
	}
	b.list("scrape", "probes.scrape", &p.Probes.Scrape)
	if len(p.Probes.Scrape) == 0 && !b.demo() && !b.draft.Given("probes.find_metrics") {
		p.Probes.Find = true
	}
}

// sourceAddresses puts the addresses that connections come from, instead of those of the plan file.
func (b *builder) sourceAddresses() {
	const flag, path = "source-address", "target.source_addresses"
	if !b.given(flag) {
		return
	}
	b.draft.Forget(path)
	b.draft.Plan.Target.SourceAddresses = nil
	for i, one := range strings.Split(strings.Join(b.flags[flag], ","), ",") {
		b.draft.Put(fmt.Sprintf("%s[%d]", path, i), "--"+flag, strings.TrimSpace(one))
	}
}

// named puts the values of a flag that is NAME=VALUE into a section of the plan.
func (b *builder) named(flag, section, hint string) {
	for _, s := range b.flags[flag] {
		name, value, ok := strings.Cut(s, "=")
		if name = strings.ReplaceAll(strings.TrimSpace(name), "-", "_"); !ok || name == "" || strings.ContainsAny(name, ".[]") {
			b.fault("--"+flag, strconv.Quote(shorten(s))+" is not NAME=VALUE", hint)
			continue
		}
		b.draft.Put(section+"."+name, "--"+flag+" "+shorten(name), strings.TrimSpace(value))
	}
}

// header adds a header. names are those of the flags before it, in small letters.
func (b *builder) header(h string, names map[string]bool) {
	name, value, ok := strings.Cut(h, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || name == "" {
		// The text is not repeated: it may be a key.
		b.fault("--header", "is not NAME: VALUE", "such as --header 'X-Team: blue'")
		return
	}
	lower := strings.ToLower(name)
	if names[lower] {
		b.fault("--header", strconv.Quote(shorten(name))+" is given twice", "put both values into one, with a comma between them")
		return
	}
	names[lower] = true
	// What the file says under another spelling is the same header.
	maps.DeleteFunc(b.draft.Plan.Target.Headers, func(other, _ string) bool { return strings.EqualFold(other, name) })
	if b.draft.Plan.Target.Headers == nil {
		b.draft.Plan.Target.Headers = map[string]string{}
	}
	b.draft.Plan.Target.Headers[name] = value
	b.draft.Set("target.headers."+name, "--header")
}

func (b *builder) temperature(s string) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v <= 100) {
		b.fault("--temperature", "must be a number from 0, is "+strconv.Quote(shorten(s)), "")
		return
	}
	b.body("temperature", v, "--temperature")
}

func (b *builder) extra(s string) {
	name, text, ok := strings.Cut(s, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		b.fault("--extra", "is not KEY=JSON", "such as --extra top_k=40")
		return
	}
	value, err := decodeJSON(text)
	if err != nil {
		b.fault("--extra "+shorten(name), "the value is not JSON: "+reason(err), `text needs its quotes: --extra 'user="me"'`)
		return
	}
	b.body(name, value, "--extra "+shorten(name))
}

func (b *builder) body(name string, value any, where string) {
	if b.draft.Plan.Target.Body == nil {
		b.draft.Plan.Target.Body = map[string]any{}
	}
	b.draft.Plan.Target.Body[name] = value
	b.draft.Set("target.body."+name, where)
}

// decodeJSON reads one JSON value, integers as such.
func decodeJSON(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("it ends too early")
		}
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it has text after its end")
	}
	return numbers(v), nil
}

// numbers turns each json.Number into an int where it is one, else a float64.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := strconv.Atoi(v.String()); err == nil {
			return i
		}
		f, err := v.Float64()
		if err != nil {
			return v.String()
		}
		return f
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return v
}

func (v values) conditions() plan.Conditions {
	return plan.Conditions{FailIf: v.flags["fail-if"], FailUnless: v.flags["fail-unless"]}
}

// gates puts the gates of the command line behind those of the plan file.
func (b *builder) gates(p *plan.Plan) {
	for _, text := range b.flags["fail-if"] {
		b.draft.Put(fmt.Sprintf("fail_if[%d]", len(p.FailIf)), "--fail-if", text)
	}
	for _, text := range b.flags["fail-unless"] {
		b.draft.Put(fmt.Sprintf("fail_unless[%d]", len(p.FailUnless)), "--fail-unless", text)
	}
}

// assignments reads each --set. One of a field that a flag sets is that flag, so that both mean the same
// beside the other flags; the others are put by the function that is returned, when those are.
func (b *builder) assignments(groups []group) (rest func()) {
	flags := map[string]string{} // path → flag
	for _, g := range groups {
		for _, o := range g.options {
			if o.path != "" {
				flags[o.path] = o.name
			}
		}
	}
	if b.fromFile && len(b.draft.Plan.Stages) > 1 { // those flags are for a plan of one stage
		maps.DeleteFunc(flags, func(path, _ string) bool { return strings.HasPrefix(path, "stages[0]") })
	}
	var others [][2]string
	for _, text := range b.flags["set"] {
		path, value, ok := strings.Cut(text, "=")
		if path = strings.TrimSpace(path); !ok || path == "" {
			b.fault("--set", strconv.Quote(shorten(text))+" is not FIELD=VALUE", "such as stages[0].gap=5s; docs/plan-fields.md has all fields")
			continue
		}
		name := flags[path]
		structured := strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[")
		if name == "" || structured {
			others = append(others, [2]string{path, value})
			continue
		}
		b.flags[name] = append(b.flags[name], value)
		b.typed[name] = "set " + path
		if n := len(b.flags[name]); n > 1 {
			b.fault("--set "+path, "is --"+name+", which is given "+times(n), "keep one of them")
		}
	}
	return func() {
		for _, o := range others {
			b.draft.Assign(o[0], "--set "+shorten(o[0]), o[1])
		}
	}
}
