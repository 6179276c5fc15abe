package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// address is where a file of the release will be.
func (r *Release) address(file string) string {
	return home + "/releases/download/" + r.Version + "/" + file
}

// The document is in SPDX 2.3, as far as we use it.
type (
	spdx struct {
		Version       string         `json:"spdxVersion"`
		Licence       string         `json:"dataLicense"`
		ID            string         `json:"SPDXID"`
		Name          string         `json:"name"`
		Namespace     string         `json:"documentNamespace"`
		Creation      spdxCreation   `json:"creationInfo"`
		Packages      []spdxPackage  `json:"packages"`
		Relationships []spdxRelation `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		ID        string         `json:"SPDXID"`
		Name      string         `json:"name"`
		Version   string         `json:"versionInfo"`
		FileName  string         `json:"packageFileName,omitempty"`
		Supplier  string         `json:"supplier"`
		Download  string         `json:"downloadLocation"`
		Analyzed  bool           `json:"filesAnalyzed"`
		Checksums []spdxChecksum `json:"checksums,omitempty"`
		Source    string         `json:"sourceInfo,omitempty"`
		Concluded string         `json:"licenseConcluded"`
		Declared  string         `json:"licenseDeclared"`
		Copyright string         `json:"copyrightText"`
		Purpose   string         `json:"primaryPackagePurpose"`
		Refs      []spdxRef      `json:"externalRefs,omitempty"`
	}
	spdxChecksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	spdxRef struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxRelation struct {
		From string `json:"spdxElementId"`
		Kind string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
)

// sbom says what is in each archive's program.
func sbom(r *Release) ([]string, error) {
	parts, err := r.parts()
	if err != nil {
		return nil, err
	}
	doc := spdx{
		Version: "SPDX-2.3", Licence: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: "inferometer-" + r.Number(),
		Namespace: home + "/spdx/" + r.Version + "/" + r.Commit,
		Creation:  spdxCreation{Created: r.Date.Format(time.RFC3339), Creators: []string{"Organization: Inferometer", "Tool: inferometer-release"}},
	}
	for _, b := range r.Builds {
		p, err := r.described(b)
		if err != nil {
			return nil, err
		}
		doc.Packages = append(doc.Packages, p)
		doc.Relationships = append(doc.Relationships, spdxRelation{doc.ID, "DESCRIBES", p.ID})
	}
	for _, p := range parts {
		doc.Packages = append(doc.Packages, spdxPackage{
			ID: element(p.URL), Name: p.Name, Version: p.Version, Supplier: "NOASSERTION", Download: "NOASSERTION", Source: p.Sum,
			Concluded: p.Licence, Declared: p.Licence, Copyright: "NOASSERTION", Purpose: "LIBRARY",
			Refs: []spdxRef{{"PACKAGE-MANAGER", "purl", p.URL}},
		})
	}
	for i, b := range r.Builds {
		modules, _, err := linked(b)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			if strings.HasPrefix(p.URL, "pkg:golang/") && p.Name != "stdlib" && modules[p.Name] == "" {
				continue // linked on other systems alone
			}
			doc.Relationships = append(doc.Relationships, spdxRelation{doc.Packages[i].ID, "STATIC_LINK", element(p.URL)})
		}
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, err
	}
	name := "inferometer_" + r.Number() + ".spdx.json"
	return []string{name}, os.WriteFile(filepath.Join(r.Dir, name), append(data, '\n'), 0o644)
}

// described is a platform's archive as a package.
func (r *Release) described(b Build) (spdxPackage, error) {
	file := r.archiveFile(b)
	sum, err := digest(filepath.Join(r.Dir, file))
	return spdxPackage{
		ID: element("inferometer-" + b.OS + "-" + b.Arch), Name: "inferometer", Version: r.Number(), FileName: file,
		Supplier: "Organization: Inferometer", Download: r.address(file), Checksums: []spdxChecksum{{"SHA256", sum}},
		Source: "commit " + r.Commit, Concluded: "Apache-2.0", Declared: "Apache-2.0", Copyright: "NOASSERTION", Purpose: "APPLICATION",
		Refs: []spdxRef{{"PACKAGE-MANAGER", "purl", "pkg:github/inferometer/inferometer@" + r.Version}},
	}, err
}

var foreign = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// element makes an SPDX identifier of a name.
func element(name string) string { return "SPDXRef-" + foreign.ReplaceAllString(name, "-") }
