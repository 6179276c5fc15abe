package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/remote/hub"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/chat"
	"github.com/inferometer/inferometer/internal/token/sentencepiece"
	"github.com/inferometer/inferometer/internal/token/tekken"
	"github.com/inferometer/inferometer/internal/token/tiktoken"
)

// read reads a tokenizer file of any kind, told by its name or content. Encoding is a rank file's,
// if the user named one. More are the paths of other files needed.
func (l Limits) read(name, path, encoding string, p place, config *chat.Config) (t *token.Pipeline, more []string, err error) {
	base := filepath.Base(path)
	if encoding == "" && (base == "vocab.json" || base == "merges.txt") {
		return l.pair(name, p)
	}
	data, err := l.Files.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the tokenizer %s: %w", name, err)
	}
	kind := content(data)
	if encoding != "" && kind != "ranks" {
		return nil, nil, fmt.Errorf("the tokenizer %s names the encoding %q, but %s is not a rank file", name, encoding, path)
	}
	switch kind {
	case "tokenizer.json":
		t, err = token.FromJSON(name, data)
	case "tekken.json":
		t, err = tekken.Read(name, data)
	case "vocab.json":
		return nil, nil, fmt.Errorf("%s is a vocabulary without merges: name it vocab.json and put its merges.txt next to it", path)
	case "ranks":
		t, err = tiktoken.Read(name, data,
			tiktoken.Options{Encoding: encoding, Hint: strings.TrimSuffix(base, filepath.Ext(base)), Added: config.Added})
	case "model":
		t, err = sentencepiece.Read(name, data, sentencepiece.Options{BOS: config.AddBOS, EOS: config.AddEOS})
	default:
		if string(data[:min(len(data), 8)]) == "version " {
			return nil, nil, fmt.Errorf("%s is a Git LFS pointer, not the file itself: run git lfs pull", path)
		}
		return nil, nil, fmt.Errorf("%s is not a known kind of tokenizer file; %s", path, choices)
	}
	if err == nil {
		err = l.expansion(name, t)
	}
	return t, nil, err
}

// expansion refuses a tokenizer that makes texts too long.
func (l Limits) expansion(name string, e *token.Pipeline) error {
	if times := e.Expansion(); l.Expansion > 0 && times > l.Expansion {
		return fmt.Errorf("the normalizer of the tokenizer %s can make a text %.3g times as long, above the limit of %g: raise limits.expansion to allow it", name, times, l.Expansion)
	}
	return nil
}

// content tells what a file holds.
func content(data []byte) string {
	switch {
	case tiktoken.Is(data):
		return "ranks"
	case sentencepiece.Is(data):
		return "model"
	}
	var s jsonscan.Scanner
	s.Reset(data)
	if s.Peek() != '{' {
		return ""
	}
	s.Object()
	numbers := true
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "model":
			return "tokenizer.json"
		case "config":
			return "tekken.json"
		}
		numbers = numbers && s.IsNumber()
		s.Skip()
	}
	switch {
	case s.Err() != nil:
		return "tokenizer.json" // whose reader says what is wrong with it
	case numbers:
		return "vocab.json"
	}
	return ""
}

// pair reads vocab.json and merges.txt.
func (l Limits) pair(name string, p place) (*token.Pipeline, []string, error) {
	var paths [2]string
	var data [2][]byte
	for i, file := range []string{"vocab.json", "merges.txt"} {
		var err error
		if paths[i], err = p.file(file); err != nil {
			return nil, nil, err
		}
		if data[i], err = l.Files.ReadFile(paths[i]); err != nil {
			return nil, nil, fmt.Errorf("reading the tokenizer %s: %w", name, err)
		}
	}
	t, err := token.FromPair(name, data[0], data[1])
	return t, paths[1:], err
}

// readChat reads what a place says of chats: tokenizer_config.json,
// special_tokens_map.json, and a template in a file of its own, which wins.
func (l Limits) readChat(p place) (*chat.Config, []string, error) {
	c := &chat.Config{Templates: map[string]string{}, Special: map[string]any{}}
	var files []string
	config, err := l.optional(p, "tokenizer_config.json", &files)
	if err != nil {
		return nil, nil, err
	}
	if config != nil {
		if c, err = chat.ReadConfig(config); err != nil {
			return nil, nil, err
		}
	}
	names, err := l.optional(p, "special_tokens_map.json", &files)
	if err != nil {
		return nil, nil, err
	}
	if names != nil {
		// It has the same members; an older file has the tokens only here.
		m, err := chat.ReadConfig(names)
		if err != nil {
			return nil, nil, fmt.Errorf("special_tokens_map.json: %w", err)
		}
		for k, v := range m.Special {
			if _, ok := c.Special[k]; !ok {
				c.Special[k] = v
			}
		}
	}
	src, err := l.optional(p, "chat_template.jinja", &files)
	if err != nil {
		return nil, nil, err
	}
	if src != nil {
		c.Templates[chat.DefaultTemplate] = string(src)
		return c, files, nil
	}
	return c, files, l.processorTemplate(p, c, &files)
}

// processorTemplate reads the template that models with images have in
// chat_template.json.
func (l Limits) processorTemplate(p place, c *chat.Config, files *[]string) error {
	if len(c.Templates) > 0 {
		return nil
	}
	data, err := l.optional(p, "chat_template.json", files)
	if err != nil || data == nil {
		return err
	}
	var d struct {
		Template string `json:"chat_template"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("chat_template.json: %w", err)
	}
	if d.Template != "" {
		c.Templates[chat.DefaultTemplate] = d.Template
	}
	return nil
}

// optional reads a file that need not be there. One that cannot be asked for, because
// the hub is out of reach, counts as not there: what is needed says so itself.
func (l Limits) optional(p place, name string, files *[]string) ([]byte, error) {
	path, err := p.file(name)
	if errors.Is(err, errAbsent) || errors.Is(err, hub.ErrOffline) || errors.Is(err, hub.ErrUnreachable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := l.Files.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	*files = append(*files, path)
	return data, nil
}
