package main

import (
	"bytes"
	"compress/gzip"
	"path"
	"slices"
	"strings"
	"time"
)

// What packages of systems say of the program. Most cut a line off at 80 characters.
const (
	tagline     = "Load generator and benchmark for generative-AI inference servers"
	description = "Measures generative-AI inference servers: latency, throughput, time to first\n" +
		"token and capacity, with a verdict on whether the figures can be trusted. Stands\n" +
		"in for genai-perf, perf_analyzer, llm_perf and inference-perf."
	maintainer = "Inferometer maintainers <inferometer@users.noreply.github.com>"
)

// installed are the files of a package, where Linux systems look for them. The names of other tools are not among
// them: whoever has genai-perf installed keeps it, and `inferometer genai-perf` is ours.
func (r *Release) installed(b Build, zsh string) ([]entry, error) {
	program, err := file("usr/bin/inferometer", 0o755, b.Program)
	if err != nil {
		return nil, err
	}
	list := []entry{program}
	papers, err := r.papers()
	if err != nil {
		return nil, err
	}
	for _, p := range papers {
		if p.Name == "LICENSE" {
			p.Name = "copyright"
		}
		list = append(list, under("usr/share/doc/inferometer", []entry{p})...)
	}
	about, err := r.manual()
	if err != nil {
		return nil, err
	}
	for _, page := range about.Pages {
		packed, err := squeeze(page.Data)
		if err != nil {
			return nil, err
		}
		list = append(list, entry{"usr/share/man/man1/" + page.Name + ".gz", page.Mode, packed})
	}
	for shell, place := range map[string]string{
		"bash": "usr/share/bash-completion/completions/inferometer",
		"fish": "usr/share/fish/vendor_completions.d/inferometer.fish",
		"zsh":  path.Join(zsh, "_inferometer"),
	} {
		list = append(list, entry{place, 0o644, about.Shells[shell].Data})
	}
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// systemVersion is the version as deb and rpm order it: a pre-release comes before its release.
func (r *Release) systemVersion() string {
	number, extra, pre := strings.Cut(r.Number(), "-")
	if !pre {
		return number
	}
	return number + "~" + strings.ReplaceAll(extra, "-", ".")
}

// squeeze packs data with gzip, without a name or a time.
func squeeze(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// directories are those that entries lie in, parents first.
func directories(entries []entry) []string {
	seen := map[string]bool{}
	for _, e := range entries {
		for dir := path.Dir(e.Name); dir != "."; dir = path.Dir(dir) {
			seen[dir] = true
		}
	}
	var list []string
	for dir := range seen {
		list = append(list, dir)
	}
	slices.Sort(list)
	return list
}

// onLinux makes one package for each Linux program.
func (r *Release) onLinux(ending string, write func(to string, b Build) error) ([]string, error) {
	var made []string
	for _, b := range r.Builds {
		if b.OS != "linux" {
			continue
		}
		name := r.archiveName(b) + ending
		if err := write(path.Join(r.Dir, name), b); err != nil {
			return nil, err
		}
		made = append(made, name)
	}
	return made, nil
}

// seconds is the date as old formats have it.
func seconds(t time.Time) uint32 { return uint32(t.Unix()) }
