package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// An in-toto statement with SLSA's provenance, as far as we use it.
type (
	statement struct {
		Type          string     `json:"_type"`
		Subject       []artifact `json:"subject"`
		PredicateType string     `json:"predicateType"`
		Predicate     predicate  `json:"predicate"`
	}
	artifact struct {
		Name   string            `json:"name,omitempty"`
		URI    string            `json:"uri,omitempty"`
		Digest map[string]string `json:"digest,omitempty"`
	}
	predicate struct {
		Definition definition `json:"buildDefinition"`
		Run        struct {
			Builder struct {
				ID string `json:"id"`
			} `json:"builder"`
		} `json:"runDetails"`
	}
	definition struct {
		Type         string     `json:"buildType"`
		External     any        `json:"externalParameters"`
		Internal     any        `json:"internalParameters"`
		Dependencies []artifact `json:"resolvedDependencies"`
	}
)

// provenance says of which commit and with which Go every file was made, and how. It is not signed: the publisher
// signs it. It names no machine and no time, so that whoever makes the release again gets the same bytes.
func provenance(r *Release) ([]string, error) {
	name := "inferometer_" + r.Number() + ".provenance.json"
	files, err := r.published(name, ours)
	if err != nil {
		return nil, err
	}
	var compiler string
	platforms := map[string][]string{}
	for _, b := range r.Builds {
		if _, compiler, err = linked(b); err != nil {
			return nil, err
		}
		platforms[b.OS+"/"+b.Arch] = b.environment()
	}
	parts, err := r.parts()
	if err != nil {
		return nil, err
	}
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for _, f := range files {
		s.Subject = append(s.Subject, artifact{Name: f.File, Digest: map[string]string{"sha256": f.SHA256}})
	}
	s.Predicate.Run.Builder.ID = home + "/tree/" + r.Commit + "/scripts/release"
	s.Predicate.Definition = definition{
		Type:     home + "/blob/main/packaging/releasing.md",
		External: map[string]string{"version": r.Version, "repository": home, "command": "make release"},
		Internal: map[string]any{"go": compiler, "flags": strings.Join(r.flags(), " "), "environment": platforms},
		Dependencies: []artifact{
			{URI: "git+" + home + "@" + r.Commit, Digest: map[string]string{"gitCommit": r.Commit}},
		},
	}
	for _, p := range parts {
		s.Predicate.Definition.Dependencies = append(s.Predicate.Definition.Dependencies, artifact{URI: p.URL})
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	return []string{name}, os.WriteFile(filepath.Join(r.Dir, name), append(data, '\n'), 0o644)
}
