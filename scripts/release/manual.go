package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// A manual is what a program says about itself: pages for man, and scripts for shells that complete its commands.
type manual struct {
	Pages  []entry          // inferometer.1, inferometer-run.1, …
	Shells map[string]entry // by the shell's name; each under the name that its users give it
}

// shells complete commands, each from a file with a name of its own.
func shells() map[string]string {
	return map[string]string{"bash": "inferometer.bash", "zsh": "_inferometer", "fish": "inferometer.fish", "powershell": "inferometer.ps1"}
}

// manual has the program for this machine write its manual, once.
func (r *Release) manual() (manual, error) {
	if r.about != nil {
		return *r.about, nil
	}
	m, err := r.writeManual()
	if err == nil {
		r.about = &m
	}
	return m, err
}

func (r *Release) writeManual() (manual, error) {
	m := manual{Shells: map[string]entry{}}
	b, err := r.here()
	if err != nil {
		return m, err
	}
	dir := filepath.Join(r.Work, "man")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return m, err
	}
	if _, err := output(context.Background(), r.Work, nil, b.Program, "man", dir); err != nil {
		return m, err
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		return m, err
	}
	if len(pages) == 0 {
		return m, fmt.Errorf("inferometer man wrote no page into %s", dir)
	}
	for _, page := range pages {
		e, err := file(filepath.Base(page), 0o644, page)
		if err != nil {
			return m, err
		}
		m.Pages = append(m.Pages, e)
	}
	for shell, name := range shells() {
		script, err := output(context.Background(), r.Work, nil, b.Program, "completion", shell)
		if err != nil {
			return m, err
		}
		m.Shells[shell] = entry{Name: name, Mode: 0o644, Data: script}
	}
	return m, nil
}
