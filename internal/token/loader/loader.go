// Package loader finds the tokenizer that a user names: compiled in, a file, a directory, or a
// model on the Hugging Face hub; and its chat template.
package loader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/remote/hub"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/chat"
	"github.com/inferometer/inferometer/internal/token/jinja"
)

// Finder finds tokenizers.
type Finder struct {
	// Env looks variables up; the hub's settings are among them.
	Env    func(string) string
	Limits Limits
	// Client is what the hub is asked with; nil means http.DefaultClient.
	Client *http.Client
}

// Limits bound what is read of a tokenizer.
type Limits struct {
	Files     limitio.Limit // each file
	Downloads limitio.Limit // the same on the hub
	Template  jinja.Limits  // of a rendering; zero: the usual ones
	Expansion float64       // how many times longer a text may become; 0: no bound
}

// Found is a tokenizer and what came with it.
type Found struct {
	Tokenizer token.Tokenizer
	// Files are the paths that were read; none for a tokenizer that is compiled in.
	Files []string
	// Chat has the model's special tokens and chat templates, if any came with the tokenizer.
	Chat *chat.Config
}

// Find finds a tokenizer by its name. Revision is a branch, a tag or a commit on the hub; "" is
// main.
func (f Finder) Find(ctx context.Context, name, revision string) (*Found, error) {
	switch {
	case name == "":
		return nil, errors.New("no tokenizer given: " + choices)
	case name == token.Builtin, name == token.Words{}.Name():
		t, err := token.ByName(name)
		if err != nil {
			return nil, err
		}
		return &Found{Tokenizer: t, Chat: &chat.Config{}}, nil
	case strings.HasPrefix(name, "builtin:"):
		return nil, fmt.Errorf("unknown built-in tokenizer %q: there is only %s", name, token.Builtin)
	}
	path, encoding := cutEncoding(name)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return f.open(name, folder(path), encoding)
	case err == nil:
		return f.open(name, beside(path), encoding)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("opening the tokenizer %s: %w", name, err)
	case isPath(path) || encoding != "":
		return nil, fmt.Errorf("tokenizer %s: no such file or directory; %s", name, choices)
	}
	h, err := hub.New(f.Env, f.Client)
	if err != nil {
		return nil, err
	}
	found, err := f.open(name, &remote{ctx: ctx, hub: h.Limit(f.Limits.Downloads), repo: hub.Model(name), revision: revision}, "")
	if err != nil {
		return nil, fmt.Errorf("%w\n(there is no local file or directory %s, so the hub was searched)", err, name)
	}
	return found, nil
}

const choices = "name a tokenizer.json, tekken.json, .tiktoken or .model file, a vocab.json with merges.txt next to it, a directory with one of them, " +
	"a model on the Hugging Face hub, " + token.Builtin + " or words"

// cutEncoding takes a name such as o200k_base.tiktoken#o200k_harmony apart: the path of
// a rank file, and the encoding that it is to be read as. A file of the whole name wins.
func cutEncoding(name string) (path, encoding string) {
	if _, err := os.Stat(name); err == nil {
		return name, ""
	}
	i := strings.LastIndexByte(name, '#')
	if i <= 0 || i == len(name)-1 {
		return name, ""
	}
	return name[:i], name[i+1:]
}

// isPath reports whether a name unknown to this machine cannot be the hub's either.
func isPath(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json", ".model", ".tiktoken", ".txt", ".jinja":
		return true
	}
	return !hub.ValidName(name)
}

// place is somewhere that files can be had from by their names.
type place interface {
	// file returns the path of a file. The error is errAbsent where there is none.
	file(name string) (string, error)
	// names are the files to look for a tokenizer in, the best first.
	names() []string
}

// errAbsent: the place does not have the file.
var errAbsent = errors.New("not there")

// open finds the tokenizer of a place. Encoding is that of a rank file; "": it shows.
func (f Finder) open(name string, p place, encoding string) (*Found, error) {
	found := &Found{}
	config, files, err := f.Limits.readChat(p)
	if err != nil {
		return nil, err
	}
	if f.Limits.Template != (jinja.Limits{}) {
		config.Limits = &f.Limits.Template
	}
	found.Chat, found.Files = config, files
	var tried []string
	var first error
	for _, file := range p.names() {
		path, err := p.file(file)
		if errors.Is(err, errAbsent) {
			tried = append(tried, file)
			continue
		}
		if errors.Is(err, hub.ErrOffline) {
			if first == nil {
				first = err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		t, more, err := f.Limits.read(name, path, encoding, p, config)
		if errors.Is(err, errAbsent) {
			tried = append(tried, file+" with merges.txt")
			continue
		}
		if err != nil {
			return nil, err
		}
		found.Tokenizer = t
		found.Files = append(append([]string{path}, more...), found.Files...)
		return found, nil
	}
	if first != nil {
		return nil, first
	}
	return nil, fmt.Errorf("%s has no tokenizer (looked for %s); %s", name, strings.Join(tried, ", "), choices)
}

type folder string

func (d folder) file(name string) (string, error) {
	path := filepath.Join(string(d), filepath.FromSlash(name))
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && info.IsDir()) {
		return "", errAbsent
	}
	return path, err
}

func (d folder) names() []string {
	names := standard()
	more, err := filepath.Glob(filepath.Join(string(d), "*.tiktoken"))
	if err == nil {
		for _, path := range more {
			names = append(names, filepath.Base(path))
		}
	}
	return names
}

// standard are the files that a model's tokenizer is in.
func standard() []string {
	return []string{"tokenizer.json", "tekken.json", "tokenizer.model", "spiece.model", "vocab.json", "qwen.tiktoken", "tiktoken.model"}
}

// beside is a file, and those in its directory that belong to it.
type beside string

func (b beside) file(name string) (string, error) { return folder(filepath.Dir(string(b))).file(name) }

func (b beside) names() []string { return []string{filepath.Base(string(b))} }

type remote struct {
	ctx      context.Context
	hub      *hub.Hub
	repo     hub.Repo
	revision string
}

func (r *remote) file(name string) (string, error) {
	path, err := r.hub.File(r.ctx, r.repo, r.revision, name)
	if errors.Is(err, hub.ErrNotFound) {
		return "", errAbsent
	}
	return path, err
}

func (r *remote) names() []string { return standard() }
