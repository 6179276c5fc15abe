package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// build makes the page and the text of the licences of what is in it.
func build(dir string, packages npmPackages) (page, licences []byte, err error) {
	page, err = os.ReadFile(filepath.Join(dir, "src", "page.html"))
	if err != nil {
		return nil, nil, err
	}
	sources, err := fingerprint(dir)
	if err != nil {
		return nil, nil, err
	}
	style, _, err := bundle(dir, packages, api.BuildOptions{EntryPoints: []string{"src/style/main.css"}})
	if err != nil {
		return nil, nil, err
	}
	script, used, err := bundle(dir, packages, api.BuildOptions{EntryPoints: []string{"src/main.ts"}, Format: api.FormatIIFE})
	if err != nil {
		return nil, nil, err
	}
	licences, err = licenceText(packages, used)
	if err != nil {
		return nil, nil, err
	}
	for _, part := range []struct {
		mark string
		text []byte
	}{
		{"SCRIPT-HASH", hash(script)}, {"STYLE-HASH", hash(style)}, {"SOURCES", []byte(sources)},
		{"LICENCES", licences}, {"/*STYLE*/", style}, {"/*SCRIPT*/", script},
	} {
		if n := bytes.Count(page, []byte(part.mark)); n != 1 {
			return nil, nil, fmt.Errorf("src/page.html has %s %d times, wanted once", part.mark, n)
		}
		page = bytes.Replace(page, []byte(part.mark), part.text, 1)
	}
	return page, licences, nil
}

// hash is what a Content-Security-Policy calls an inline text.
func hash(text []byte) []byte {
	sum := sha256.Sum256(text)
	return []byte("sha256-" + base64.StdEncoding.EncodeToString(sum[:]))
}

// bundle makes one file of an entry point and all that it imports, and says which packages are in it.
func bundle(dir string, packages npmPackages, o api.BuildOptions) ([]byte, map[string]bool, error) {
	used := map[string]bool{}
	o.AbsWorkingDir = dir
	o.Bundle, o.Charset, o.Target, o.LogLevel = true, api.CharsetUTF8, api.ES2022, api.LogLevelWarning
	o.MinifyWhitespace, o.MinifySyntax, o.MinifyIdentifiers = true, true, true
	o.LegalComments = api.LegalCommentsNone
	o.Plugins = []api.Plugin{resolver(packages, used)}
	made := api.Build(o)
	if len(made.Errors) > 0 || len(made.OutputFiles) != 1 {
		return nil, nil, errors.New("esbuild found the errors above")
	}
	return bytes.TrimSpace(made.OutputFiles[0].Contents), used, nil
}

// resolver finds packages where they were unpacked, and notes which are used.
func resolver(packages npmPackages, used map[string]bool) api.Plugin {
	return api.Plugin{Name: "packages", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: `^[^./]`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			p, ok := packages[a.Path]
			if !ok {
				return api.OnResolveResult{}, nil
			}
			used[a.Path] = true
			entry, err := p.entry()
			return api.OnResolveResult{Path: entry, SideEffects: api.SideEffectsFalse}, err
		})
	}}
}

// licenceText is what the licences of the packages ask to be kept with copies; packages that say the same share it.
func licenceText(packages npmPackages, used map[string]bool) ([]byte, error) {
	names := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		p := packages[name]
		text, err := os.ReadFile(filepath.Join(p.dir, "LICENSE"))
		if err != nil {
			return nil, fmt.Errorf("the licence of %s: %w", name, err)
		}
		key := strings.TrimSpace(string(text))
		names[key] = append(names[key], name+" "+p.Version)
	}
	var b bytes.Buffer
	b.WriteString("The report page contains these packages:\n")
	for _, text := range slices.SortedFunc(maps.Keys(names), func(a, b string) int { return strings.Compare(names[a][0], names[b][0]) }) {
		fmt.Fprintf(&b, "\n%s\n\n%s\n", strings.Join(names[text], ", "), text)
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("--"), []byte("—")), nil
}

// bundleTests writes each test and the maker of examples as one file that node runs.
func bundleTests(dir string, packages npmPackages) error {
	files, err := filepath.Glob(filepath.Join(dir, "test", "*.ts"))
	if err != nil {
		return err
	}
	out := filepath.Join(dir, ".build")
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".ts")
		text, _, err := bundle(dir, packages,
			api.BuildOptions{EntryPoints: []string{file}, Format: api.FormatESModule, Platform: api.PlatformNode})
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, name+".mjs"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
