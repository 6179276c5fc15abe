package agents

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/numpy"
	"github.com/inferometer/inferometer/internal/lib/pattern"
	"github.com/inferometer/inferometer/internal/prompt"
)

//go:embed themes.json
var themesFile []byte

// theme is what a session is about: the texts that it is made of. Words are our own; in
// number, in length and in what is filled in they are as those of the tool that drew such
// sessions first, so that the same session is as long.
type theme struct {
	Name        string
	Verbs       []string
	Entities    []entity
	Objective   string
	Followups   []string
	Connectives []string // ahead of a follow-up
	Intro       []string
	Recap       string
	Default     string // result of a tool that has come up for the second time
	Tools       []tool
	Filler      []string
	Payload     []string
}

// entity is a kind of thing that a theme knows.
type entity struct {
	Name   string
	Values []string
}

// tool is something that an agent of a theme can call.
type tool struct {
	Name, About, Result string
	Parameters          json.RawMessage
	Long                map[string]int // words of long texts among them
	schema              schema
}

// schema is what calls need to know of a tool's parameters, all of which are texts.
type schema struct {
	Properties map[string]struct{ Enum []string }
	Required   []string
}

// heads are the system prompts of agents; which of the first one's is drawn.
type heads struct {
	Root []string
	Sub  string
}

func readThemes() (all map[string]*theme, h heads, err error) {
	var file struct {
		Heads  heads
		Themes []*theme
	}
	if err := json.Unmarshal(themesFile, &file); err != nil {
		return nil, h, fmt.Errorf("reading the built-in themes: %w", err)
	}
	all = map[string]*theme{}
	for _, t := range file.Themes {
		all[t.Name] = t
		for i := range t.Tools {
			if err := json.Unmarshal(t.Tools[i].Parameters, &t.Tools[i].schema); err != nil {
				return nil, h, fmt.Errorf("reading the parameters of %s: %w", t.Tools[i].Name, err)
			}
		}
	}
	return all, file.Heads, nil
}

// catalog are n tools; where there are fewer they come again under other names.
func (t *theme) catalog(n int) []tool {
	var out []tool
	for i := range n {
		one := t.Tools[i%len(t.Tools)]
		if i >= len(t.Tools) {
			one.Name += "_" + strconv.Itoa(i)
			one.Result = t.Default
		}
		out = append(out, one)
	}
	return out
}

func promptTools(list []tool) []prompt.Tool {
	var out []prompt.Tool
	for _, t := range list {
		out = append(out, prompt.Tool{Name: t.Name, Description: t.About, Parameters: t.Parameters})
	}
	return out
}

func pick(r *numpy.Generator, list []string) string { return list[r.Below(len(list))] }

func (t *theme) values(kind string) []string {
	i := slices.IndexFunc(t.Entities, func(e entity) bool { return e.Name == kind })
	if i < 0 {
		return nil
	}
	return t.Entities[i].Values
}

// drawSubject draws one of each kind of thing that a theme knows; a session keeps to them.
func (b *builder) drawSubject() map[string]string {
	out := map[string]string{}
	r := numpy.New(b.seed, placeFocus)
	for _, e := range b.theme.Entities {
		out[e.Name] = pick(r, e.Values)
	}
	r = numpy.New(b.seed, placeSubject)
	for _, kind := range []string{"service", "db_instance", "symptom", "region"} {
		if v := b.theme.values(kind); v != nil {
			out[kind] = pick(r, v)
		}
	}
	return out
}

var slot = pattern.New(`\{[a-z_]+\d*\}`)

// render fills in a template with what is known and with what is drawn for each slot. The
// same slot has the same value wherever it stands.
func (b *builder) render(template string, known map[string]string, path ...uint32) string {
	made := map[string]string{}
	return slot().ReplaceAllStringFunc(template, func(s string) string {
		v, ok := made[s]
		if !ok {
			name := s[1 : len(s)-1]
			if v = known[name]; v == "" {
				v = b.theme.value(name, numpy.New(b.seed, childPath(path, uint32(len(made)))...))
			}
			made[s] = v
		}
		return v
	})
}

// value draws what a slot holds: a thing of the theme, a time, milliseconds, a high or low
// percentage, a status, a count or a number.
func (t *theme) value(name string, r *numpy.Generator) string {
	if v := t.values(name); v != nil {
		return pick(r, v)
	}
	switch strings.TrimRight(name, "0123456789") {
	case "entity":
		var all []string
		for _, e := range t.Entities {
			all = append(all, e.Values...)
		}
		return pick(r, all)
	case "t":
		h, m, s := r.Below(24), r.Below(60), r.Below(60)
		return fmt.Sprintf("%02d:%02d:%02d", h, m, s)
	case "ms":
		return strconv.Itoa(1 + r.Below(2000))
	case "pct":
		return fmt.Sprintf("%.1f", float64(800+r.Below(201))/10)
	case "low":
		return fmt.Sprintf("%.1f", float64(r.Below(151))/10)
	case "count":
		return strconv.Itoa(r.Below(501))
	case "status":
		return pick(r, []string{"200", "200", "200", "301", "400", "404", "429", "500", "502", "503", "504"})
	}
	return strconv.Itoa(r.Below(999))
}

// words are a pool of words out of templates, to fill texts with.
func (b *builder) words(templates []string, place uint32) []string {
	const lines = 24
	var out []string
	for i := range lines {
		out = append(out, strings.Fields(b.render(templates[i%len(templates)], nil, place, uint32(i)))...)
	}
	return out
}

// arguments are those of a call, as JSON, and by name beside what is known.
func (b *builder) arguments(of *tool, path []uint32) (text string, said map[string]string) {
	said = maps.Clone(b.subject)
	var parts []string
	for i, name := range of.schema.Required {
		enum, r := of.schema.Properties[name].Enum, numpy.New(b.seed, childPath(path, uint32(i))...)
		v := b.subject[name]
		switch {
		case len(enum) > 0:
			v = pick(r, enum)
		case v != "":
		case of.Long[name] > 0:
			v = strings.Join(cycle(b.payload, of.Long[name], r.Below(len(b.payload))), " ")
		default:
			v = fmt.Sprintf("%s-%d", name, r.Below(999))
		}
		said[name] = v
		parts = append(parts, strconv.Quote(name)+": "+strconv.Quote(v))
	}
	return "{" + strings.Join(parts, ", ") + "}", said
}

// cycle are n words from a place on, again and again.
func cycle(words []string, n, from int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = words[(from+i)%len(words)]
	}
	return out
}
