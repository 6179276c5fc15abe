package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

// archiveName is the name of a platform's archive without its ending, and of the directory in it.
func (r *Release) archiveName(b Build) string {
	return fmt.Sprintf("inferometer_%s_%s_%s", r.Number(), b.OS, b.Arch)
}

// archiveFile is the name of a platform's archive.
func (r *Release) archiveFile(b Build) string {
	if b.OS == "windows" {
		return r.archiveName(b) + ".zip"
	}
	return r.archiveName(b) + ".tar.gz"
}

// archives are what people unpack: the program, its papers and its manual.
func archives(r *Release) ([]string, error) {
	papers, err := r.papers()
	if err != nil {
		return nil, err
	}
	about, err := r.manual()
	if err != nil {
		return nil, err
	}
	papers = append(papers, under("man/man1", about.Pages)...)
	for _, shell := range slices.Sorted(maps.Keys(about.Shells)) {
		papers = append(papers, under("completions", []entry{about.Shells[shell]})...)
	}
	var made []string
	for _, b := range r.Builds {
		program, err := file("inferometer"+b.Suffix(), 0o755, b.Program)
		if err != nil {
			return nil, err
		}
		inside := under(r.archiveName(b), append([]entry{program}, papers...))
		write := writeTarGz
		if b.OS == "windows" {
			write = writeZip
		}
		if err := write(filepath.Join(r.Dir, r.archiveFile(b)), r.Date, inside); err != nil {
			return nil, err
		}
		made = append(made, r.archiveFile(b))
	}
	return made, nil
}

// papers are what comes with the program to be read.
func (r *Release) papers() ([]entry, error) {
	list, err := r.licences()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"README.md", "CHANGELOG.md"} {
		e, err := file(name, 0o644, filepath.Join(r.Source, name))
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// licences are our own, and those of what is linked into the program, which want to be handed out too.
func (r *Release) licences() ([]entry, error) {
	ours, err := file("LICENSE", 0o644, filepath.Join(r.Source, "LICENSE"))
	if err != nil {
		return nil, err
	}
	parts, err := r.parts()
	return []entry{ours, {"THIRD-PARTY-LICENSES", 0o644, conditions(parts)}}, err
}
