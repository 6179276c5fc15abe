package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// summary is what registries show in a list.
const summary = "Measures generative-AI inference servers: throughput, time to first token, inter-token latency, goodput"

// home is where the project is.
const home = "https://github.com/inferometer/inferometer"

// manifest is a package.json.
type manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Keywords    []string          `json:"keywords,omitempty"`
	License     string            `json:"license"`
	Homepage    string            `json:"homepage"`
	Bugs        string            `json:"bugs"`
	Repository  map[string]string `json:"repository"`
	Bin         map[string]string `json:"bin,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Unplugged   bool              `json:"preferUnplugged,omitempty"` // a program cannot be run out of a zip, in which Yarn keeps packages
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
}

// npm makes the package that people name, which is a launcher, and one for each platform, which holds the program.
// npm installs the one that fits.
func npm(r *Release) ([]string, error) {
	papers, err := r.npmPapers()
	if err != nil {
		return nil, err
	}
	launcher, err := file("bin/inferometer.js", 0o755, filepath.Join(r.Source, "packaging/npm/inferometer.js"))
	if err != nil {
		return nil, err
	}
	named := r.npmManifest("inferometer")
	named.Keywords = []string{"llm", "inference", "benchmark", "load-testing", "ttft", "vllm", "triton", "genai-perf"}
	named.Bin = map[string]string{"inferometer": launcher.Name}
	named.Engines = map[string]string{"node": ">=16"}
	named.Optional = map[string]string{}
	var made []string
	for _, b := range r.Builds {
		system, cpu := nodeNames(b)
		m := r.npmManifest("@inferometer/" + system + "-" + cpu)
		m.Description = "The program for " + system + " on " + cpu + ", for the package inferometer"
		m.OS, m.CPU, m.Unplugged = []string{system}, []string{cpu}, true
		program, err := file("bin/inferometer"+b.Suffix(), 0o755, b.Program)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("inferometer_%s_npm_%s-%s.tgz", r.Number(), system, cpu)
		if err := r.npmPack(name, m, append([]entry{program}, papers...)); err != nil {
			return nil, err
		}
		named.Optional[m.Name] = m.Version
		made = append(made, name)
	}
	name := fmt.Sprintf("inferometer_%s_npm.tgz", r.Number())
	return append(made, name), r.npmPack(name, named, append([]entry{launcher}, papers...))
}

// npmManifest is what all packages have in common.
func (r *Release) npmManifest(name string) manifest {
	return manifest{
		Name: name, Version: r.Number(), Description: summary, License: "Apache-2.0",
		Homepage: home + "#readme", Bugs: home + "/issues", Repository: map[string]string{"type": "git", "url": "git+" + home + ".git"},
	}
}

// npmPapers are what every package shows.
func (r *Release) npmPapers() ([]entry, error) {
	licences, err := r.licences()
	if err != nil {
		return nil, err
	}
	readme, err := file("README.md", 0o644, filepath.Join(r.Source, "packaging/README.md"))
	return append(licences, readme), err
}

// npmPack writes a package. npm wants all of it in a directory of this name.
func (r *Release) npmPack(name string, m manifest, inside []entry) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	inside = append([]entry{{"package.json", 0o644, append(data, '\n')}}, inside...)
	return writeTarGz(filepath.Join(r.Dir, name), r.Date, under("package", inside))
}

// nodeNames are what Node calls a platform, in process.platform and process.arch.
func nodeNames(b Build) (system, cpu string) {
	system, cpu = b.OS, b.Arch
	if system == "windows" {
		system = "win32"
	}
	if cpu == "amd64" {
		cpu = "x64"
	}
	return system, cpu
}
