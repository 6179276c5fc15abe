package args

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// kind is the form of a value in a config file.
type kind int

const (
	text kind = iota
	whole
	number
	boolean
	choice  // one of words
	list    // of item
	mapping // of any name to item
	object  // of keys
	free    // anything that YAML can say
	union   // of scalar, mapped or listed, by how it is written
)

type form struct {
	kind  kind
	name  string   // of a form that the documentation explains once
	words []string // of a choice
	item  *form    // of a list or mapping
	keys  []key    // of an object
	loose bool     // keys of an object that are not known are passed over
	// least and most bound a number; over: least itself is too little.
	least, most *float64
	over        bool
	// The forms of a union; nil means unavailable.
	scalar, mapped, listed *form
}

type key struct {
	name string
	also string // an older name
	form form
	def  any  // default of a scalar or list, or nil
	must bool // it has to be given
	// open: the key may be left out or null, and then there is none.
	open   bool
	unsaid bool // null is not shown: the original does not know it here
	secret bool // never shown
	help   string
}

// schemaText says what the keys are.
//
//go:embed schema.yaml
var schemaText []byte

type schema struct {
	root  form
	forms map[string]form // those that have a name
}

// config is the schema of config files, part of the program: that it cannot be read is a mistake
// here.
var config = sync.OnceValue(func() *schema {
	var doc struct {
		Forms yaml.Node
		Sets  yaml.Node
		Keys  yaml.Node
	}
	s := &schema{forms: map[string]form{
		"text": {kind: text}, "boolean": {kind: boolean}, "free": {kind: free}, "whole": {kind: whole}, "number": {kind: number},
		"non-negative whole": {kind: whole, least: new(0.0)}, "positive whole": {kind: whole, least: new(0.0), over: true},
		"non-negative number": {kind: number, least: new(0.0)}, "positive number": {kind: number, least: new(0.0), over: true},
		"number 0..1": {kind: number, least: new(0.0), most: new(1.0)}, "number 0..100": {kind: number, least: new(0.0), most: new(100.0)},
	}}
	err := yaml.Unmarshal(schemaText, &doc)
	for i := 0; err == nil && i < len(doc.Forms.Content); i += 2 {
		name := doc.Forms.Content[i].Value
		var d formDoc
		if err = doc.Forms.Content[i+1].Decode(&d); err == nil {
			f := s.form(&d)
			if d.Documented {
				f.name = name
			}
			s.forms[name] = f
		}
	}
	if err != nil {
		panic("inference-perf: schema.yaml: " + err.Error())
	}
	s.root = form{kind: object, keys: s.keys(&doc.Keys)}
	return s
})

func root() form { return config().root }

type formDoc struct {
	Is                     yaml.Node
	Documented, Loose      bool
	Keys                   yaml.Node
	List, Map              *formDoc
	Scalar, Mapped, Listed *formDoc
}

type keyDoc struct {
	formDoc                            `yaml:",inline"`
	Also                               string
	Default                            any
	Required, Nullable, Unsaid, Secret bool
	Help                               string
}

func (s *schema) form(d *formDoc) form {
	switch {
	case d.Is.Kind == yaml.SequenceNode:
		f := form{kind: choice}
		for _, word := range d.Is.Content {
			f.words = append(f.words, word.Value)
		}
		return f
	case !d.Is.IsZero():
		return s.named(d.Is.Value)
	case d.List != nil:
		return form{kind: list, item: s.part(d.List)}
	case d.Map != nil:
		return form{kind: mapping, item: s.part(d.Map)}
	case !d.Keys.IsZero():
		return form{kind: object, keys: s.keys(&d.Keys), loose: d.Loose}
	}
	return form{kind: union, scalar: s.part(d.Scalar), mapped: s.part(d.Mapped), listed: s.part(d.Listed)}
}

func (s *schema) part(d *formDoc) *form {
	if d == nil {
		return nil
	}
	return new(s.form(d))
}

func (s *schema) named(name string) form {
	if item, ok := strings.CutPrefix(name, "list of "); ok {
		return form{kind: list, item: new(s.named(item))}
	}
	if item, ok := strings.CutPrefix(name, "map of "); ok {
		return form{kind: mapping, item: new(s.named(item))}
	}
	f, ok := s.forms[name]
	if !ok {
		panic(fmt.Sprintf("inference-perf: schema.yaml: there is no form %q", name))
	}
	return f
}

// keys are those of a mapping. Of a set that is merged into it, keys may be said anew.
func (s *schema) keys(n *yaml.Node) (all []key) {
	for i := 0; i < len(n.Content); i += 2 {
		name, value := n.Content[i].Value, n.Content[i+1]
		if value.Kind == yaml.AliasNode {
			all = append(all, s.keys(value.Alias)...)
			continue
		}
		var d keyDoc
		if err := value.Decode(&d); err != nil {
			panic("inference-perf: schema.yaml: " + name + ": " + err.Error())
		}
		k := key{
			name: name, also: d.Also, form: s.form(&d.formDoc), def: d.Default,
			must: d.Required, open: d.Nullable, unsaid: d.Unsaid, secret: d.Secret, help: d.Help,
		}
		if at := slices.IndexFunc(all, func(known key) bool { return known.name == name }); at >= 0 {
			all[at] = k
		} else {
			all = append(all, k)
		}
	}
	return all
}
