package chat

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/token/jinja"
)

// Config is what a tokenizer_config.json says of chats.
type Config struct {
	// Templates are the chat templates by name; a single one is named default.
	Templates map[string]string
	// Special are the special tokens by name, for Options.
	Special map[string]any
	// Added are the texts of special tokens by id, where the file has them.
	Added map[int32]string
	// AddBOS and AddEOS say what the tokenizer adds by itself; nil where nothing is said.
	AddBOS, AddEOS *bool
	// Limits are those of the templates; nil means the usual ones.
	Limits *jinja.Limits
}

// DefaultTemplate is the name of the template that is used where no other is asked for.
const DefaultTemplate = "default"

// ErrNoTemplate: the model comes without a chat template.
var ErrNoTemplate = errors.New("the model has no chat template; give one, or use the completions endpoint")

// ReadConfig reads a tokenizer_config.json.
func ReadConfig(data []byte) (*Config, error) {
	v, err := jinja.FromJSON(data)
	if err != nil {
		return nil, fmt.Errorf("tokenizer_config.json: %w", err)
	}
	d, ok := v.(*jinja.Dict)
	if !ok {
		return nil, errors.New("tokenizer_config.json: it is not an object")
	}
	c := &Config{Templates: map[string]string{}, Special: map[string]any{}}
	for key, value := range d.All() {
		name := key.(string)
		if err := c.set(name, value); err != nil {
			return nil, fmt.Errorf("tokenizer_config.json: %s: %w", name, err)
		}
	}
	return c, nil
}

func (c *Config) set(name string, v any) error {
	switch name {
	case "chat_template":
		return c.templates(v)
	case "add_bos_token", "add_eos_token":
		b, ok := v.(bool)
		if !ok {
			return nil // null: nothing is said
		}
		if name == "add_bos_token" {
			c.AddBOS = &b
		} else {
			c.AddEOS = &b
		}
	case "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token":
		if s, ok := tokenText(v); ok {
			c.Special[name] = s
		}
	case "added_tokens_decoder":
		d, ok := v.(*jinja.Dict)
		if !ok {
			return nil
		}
		c.Added = map[int32]string{}
		for key, value := range d.All() {
			id, err := strconv.ParseInt(key.(string), 10, 32)
			if s, ok := tokenText(value); ok && err == nil {
				c.Added[int32(id)] = s
			}
		}
	case "additional_special_tokens":
		l, ok := v.(*jinja.List)
		if !ok || len(l.Items()) == 0 {
			return nil
		}
		out := []string{}
		for _, item := range l.Items() {
			if s, ok := tokenText(item); ok {
				out = append(out, s)
			}
		}
		c.Special[name] = out
	}
	return nil
}

// tokenText is the text of a token that is written as a string or as an object.
func tokenText(v any) (string, bool) {
	if d, ok := v.(*jinja.Dict); ok {
		v, _ = d.Get("content")
	}
	s, ok := v.(string)
	return s, ok
}

func (c *Config) templates(v any) error {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		c.Templates[DefaultTemplate] = v
		return nil
	case *jinja.List:
		for _, item := range v.Items() {
			d, ok := item.(*jinja.Dict)
			if !ok {
				return errors.New("an element is not a template")
			}
			name, _ := d.Get("name")
			src, _ := d.Get("template")
			n, ok := name.(string)
			s, ok2 := src.(string)
			if !ok || !ok2 {
				return errors.New("a template has no name or no text")
			}
			c.Templates[n] = s
		}
		return nil
	}
	return errors.New("it is neither a string nor a list of templates")
}

// Template parses the template to use: the one of the given name, or else tool_use
// where there are tools and the model has it, or else default.
func (c *Config) Template(name string, tools bool) (*Template, error) {
	if len(c.Templates) == 0 {
		return nil, ErrNoTemplate
	}
	if name == "" {
		name = DefaultTemplate
		if _, ok := c.Templates["tool_use"]; ok && tools {
			name = "tool_use"
		}
	}
	src, ok := c.Templates[name]
	if !ok {
		var names []string
		for n := range c.Templates {
			names = append(names, n)
		}
		slices.Sort(names)
		return nil, fmt.Errorf("the model has no chat template %q; it has: %s", name, strings.Join(names, ", "))
	}
	t, err := Parse(src)
	if err == nil && c.Limits != nil {
		t.Bound(*c.Limits)
	}
	return t, err
}
