package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed formula.rb.tmpl
var formula string

// brew writes the formula that a Homebrew tap holds.
func brew(r *Release) ([]string, error) {
	type download struct{ URL, SHA256 string }
	at := map[string]download{}
	for _, b := range r.Builds {
		name := r.archiveFile(b)
		hash, err := digest(filepath.Join(r.Dir, name))
		if err != nil {
			return nil, err
		}
		at[b.OS+"_"+b.Arch] = download{r.address(name), hash}
	}
	text, err := template.New("formula").Option("missingkey=error").Parse(formula)
	if err != nil {
		return nil, err
	}
	var made strings.Builder
	if err := text.Execute(&made, map[string]any{"Summary": tagline, "Home": home, "Version": r.Number(), "At": at}); err != nil {
		return nil, err
	}
	return []string{"inferometer.rb"}, os.WriteFile(filepath.Join(r.Dir, "inferometer.rb"), []byte(made.String()), 0o644)
}

// scoop writes the manifest that a Scoop bucket holds.
func scoop(r *Release) ([]string, error) {
	type download struct {
		URL  string `json:"url"`
		Hash string `json:"hash,omitempty"`
		Dir  string `json:"extract_dir"`
	}
	here, next := map[string]download{}, map[string]download{}
	for _, b := range r.Builds {
		if b.OS != "windows" {
			continue
		}
		hash, err := digest(filepath.Join(r.Dir, r.archiveFile(b)))
		if err != nil {
			return nil, err
		}
		arch := map[string]string{"amd64": "64bit", "arm64": "arm64"}[b.Arch]
		here[arch] = download{r.address(r.archiveFile(b)), hash, r.archiveName(b)}
		coming := "inferometer_$version_" + b.OS + "_" + b.Arch
		next[arch] = download{URL: home + "/releases/download/v$version/" + coming + ".zip", Dir: coming}
	}
	if len(here) == 0 {
		return nil, errors.New("no program for Windows was built")
	}
	data, err := json.MarshalIndent(map[string]any{
		"version": r.Number(), "description": tagline, "homepage": home, "license": "Apache-2.0",
		"architecture": here, "bin": "inferometer.exe",
		"checkver":   "github",
		"autoupdate": map[string]any{"architecture": next, "hash": map[string]string{"url": "$baseurl/" + ours}},
	}, "", "    ")
	if err != nil {
		return nil, err
	}
	return []string{"inferometer.json"}, os.WriteFile(filepath.Join(r.Dir, "inferometer.json"), append(data, '\n'), 0o644)
}

// script is what people pipe into a shell.
func script(r *Release) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(r.Source, "scripts", "install.sh"))
	if err != nil {
		return nil, err
	}
	return []string{"install.sh"}, os.WriteFile(filepath.Join(r.Dir, "install.sh"), data, 0o755)
}
