package agents

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"inferometer/internal/prompt"
)

//go:embed themes.json
var themesFile []byte

// theme is what a session is about: the words that its texts are made of.
type theme struct {
	Name      string
	Verbs     []string
	Entities  map[string][]string
	Objective string
	Followups []string
	Intro     []string
	Recap     string
	Guidance  string // that ends the description of each tool
	Tools     []tool
	Results   []string
	Filler    []string
	Payload   []string
}

// tool is something that an agent of a theme can call.
type tool struct {
	Name, About string
	Args        []arg
}

// arg is an argument of a tool.
type arg struct {
	Name, Type, About string
	Enum              []string `json:",omitempty"`
	Optional          bool
	Words             int // of a long text
}

// heads are the system prompts of agents.
type heads struct{ Root, Sub string }

// readThemes reads what is built in.
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
		}
		one.About += " " + t.Guidance
		out = append(out, one)
	}
	return out
}

// schema is the JSON schema of a tool's arguments.
func (t *tool) schema() json.RawMessage {
	type property struct {
		Type        string   `json:"type"`
		Enum        []string `json:"enum,omitempty"`
		Description string   `json:"description"`
	}
	properties, required := map[string]property{}, []string{}
	for _, a := range t.Args {
		properties[a.Name] = property{Type: a.kind(), Enum: a.Enum, Description: a.About}
		if !a.Optional {
			required = append(required, a.Name)
		}
	}
	out, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required})
	if err != nil {
		return json.RawMessage("{}") // texts and numbers can always be written
	}
	return out
}

func (a *arg) kind() string {
	if a.Type == "" {
		return "string"
	}
	return a.Type
}

func promptTools(list []tool) []prompt.Tool {
	var out []prompt.Tool
	for i := range list {
		out = append(out, prompt.Tool{Name: list[i].Name, Description: list[i].About, Parameters: list[i].schema()})
	}
	return out
}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// subject draws one of each kind of thing that a theme knows; a session keeps to them.
func (t *theme) subject(r *rand.Rand) map[string]string {
	out := map[string]string{}
	for _, kind := range slices.Sorted(maps.Keys(t.Entities)) {
		out[kind] = pick(r, t.Entities[kind])
	}
	return out
}

var slot = regexp.MustCompile(`\{[a-z_]+\d*\}`)

// render fills in a template: things of the theme, times, milliseconds, percentages and
// numbers. The same slot has the same value wherever it stands.
func (t *theme) render(template string, r *rand.Rand, known map[string]string) string {
	made := map[string]string{}
	return slot.ReplaceAllStringFunc(template, func(s string) string {
		if v, ok := made[s]; ok {
			return v
		}
		name := s[1 : len(s)-1]
		kind := strings.TrimRight(name, "0123456789")
		v := ""
		switch {
		case known[name] != "":
			v = known[name]
		case len(t.Entities[kind]) > 0:
			v = pick(r, t.Entities[kind])
		case kind == "verb":
			v = pick(r, t.Verbs)
		case kind == "t":
			v = fmt.Sprintf("%02d:%02d:%02d", r.IntN(24), r.IntN(60), r.IntN(60))
		case kind == "ms":
			v = strconv.Itoa(1 + r.IntN(2000))
		case kind == "pct":
			v = fmt.Sprintf("%.1f", 80+20*r.Float64())
		case kind == "status":
			v = pick(r, []string{"200", "200", "200", "404", "429", "500", "503"})
		default:
			v = strconv.Itoa(r.IntN(999))
		}
		made[s] = v
		return v
	})
}

// words are a pool of words out of templates, to fill texts with.
func (t *theme) words(templates []string, r *rand.Rand) []string {
	const lines = 24
	var out []string
	for i := range lines {
		out = append(out, strings.Fields(t.render(templates[i%len(templates)], r, nil))...)
	}
	return out
}

// arguments are those of a call, as JSON.
func (t *theme) arguments(of *tool, r *rand.Rand, known map[string]string, payload []string) (text string, said map[string]string) {
	said = maps.Clone(known)
	var parts []string
	for _, a := range of.Args {
		if a.Optional {
			continue
		}
		var v any
		switch {
		case len(a.Enum) > 0:
			v = pick(r, a.Enum)
		case known[a.Name] != "":
			v = known[a.Name]
		case a.kind() == "integer":
			v = r.IntN(999)
		case a.kind() == "boolean":
			v = r.IntN(2) == 1
		case a.Words > 0:
			v = strings.Join(cycle(payload, a.Words, r.IntN(len(payload))), " ")
		default:
			v = fmt.Sprintf("%s-%d", a.Name, r.IntN(999))
		}
		raw, err := json.Marshal(v)
		if err != nil {
			raw = []byte("null") // texts and numbers can always be written
		}
		parts = append(parts, strconv.Quote(a.Name)+": "+string(raw))
		said[a.Name] = fmt.Sprint(v)
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
