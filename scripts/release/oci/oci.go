// Package oci writes container images as the Open Container Initiative lays them out on disk: blobs under the names
// of their SHA-256, and an index that says what is what. It needs no container engine and no registry, and the same
// programs give the same bytes.
package oci

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
)

// Image is one program for several platforms, under one name.
type Image struct {
	Name        string            // with its tag: ghcr.io/inferometer/inferometer:v0.1.0
	Created     time.Time         // of everything in it
	Annotations map[string]string // on the index and each platform's manifest; labels of the image, too
	Papers      map[string][]byte // licences and the like, by name
	Programs    []Program
}

// Program is the static program for one architecture of Linux.
type Program struct {
	Arch string // as Go calls it
	Data []byte
}

// The kinds of blobs.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type index struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Manifests     []descriptor      `json:"manifests"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type manifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Config        descriptor        `json:"config"`
	Layers        []descriptor      `json:"layers"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type settings struct {
	platform
	Created time.Time `json:"created"`
	Config  execution `json:"config"`
	RootFS  struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
	History []history `json:"history"`
}

type execution struct {
	User       string
	Env        []string
	Cmd        []string
	WorkingDir string
	Labels     map[string]string `json:",omitempty"`
}

type history struct {
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"created_by"`
}

// loadable is what Docker's older image store reads of an archive, which knows no index of platforms.
type loadable struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// A file is one of a layout.
type file struct {
	name string
	data []byte
}

// Layout is an image as a list of files, each of them once.
type Layout struct {
	created time.Time
	files   []file
	load    []loadable
}

// Lay makes all files of an image.
func (i Image) Lay() (*Layout, error) {
	if len(i.Programs) == 0 {
		return nil, errors.New("an image needs a program")
	}
	repository, tag, ok := cutTag(i.Name)
	if !ok {
		return nil, fmt.Errorf("an image needs a name with a tag, such as ghcr.io/inferometer/inferometer:v0.1.0, not %q", i.Name)
	}
	l := &Layout{created: i.Created.UTC().Truncate(time.Second)}
	list := index{SchemaVersion: 2, MediaType: typeIndex, Annotations: i.Annotations}
	for _, p := range i.Programs {
		d, err := l.platform(i, p, repository+":"+tag+"-"+p.Arch)
		if err != nil {
			return nil, err
		}
		list.Manifests = append(list.Manifests, d)
	}
	whole, err := l.addJSON(typeIndex, list)
	if err != nil {
		return nil, err
	}
	// containerd takes the whole name from its own annotation, other tools the tag.
	whole.Annotations = map[string]string{"io.containerd.image.name": i.Name, "org.opencontainers.image.ref.name": tag}
	return l, errors.Join(
		l.fileJSON("index.json", index{SchemaVersion: 2, MediaType: typeIndex, Manifests: []descriptor{whole}}),
		l.fileJSON("manifest.json", l.load),
		l.fileJSON("oci-layout", map[string]string{"imageLayoutVersion": "1.0.0"}))
}

// cutTag splits a name at its tag. A colon before a slash is a registry's port.
func cutTag(name string) (repository, tag string, ok bool) {
	at := strings.LastIndexByte(name, ':')
	if at <= 0 || at == len(name)-1 || strings.ContainsRune(name[at:], '/') {
		return "", "", false
	}
	return name[:at], name[at+1:], true
}

// platform adds what one architecture runs: a layer, how to run it, and the manifest that names both.
func (l *Layout) platform(i Image, p Program, name string) (descriptor, error) {
	packed, err := root(l.created, p.Data, i.Papers)
	if err != nil {
		return descriptor{}, err
	}
	squeezed, err := squeeze(packed)
	if err != nil {
		return descriptor{}, err
	}
	runs := platform{Architecture: p.Arch, OS: "linux"}
	set := settings{platform: runs, Created: l.created, History: []history{{l.created, "scripts/release"}}}
	set.Config = execution{User: owner(user), Env: []string{"PATH=/usr/local/bin", "HOME=/home/nonroot"}, Cmd: []string{tools()[0]}, WorkingDir: "/workspace", Labels: i.Annotations}
	set.RootFS.Type, set.RootFS.DiffIDs = "layers", []string{digest(packed)}
	config, err := l.addJSON(typeConfig, set)
	if err != nil {
		return descriptor{}, err
	}
	layer := l.add(typeLayer, squeezed)
	d, err := l.addJSON(typeManifest,
		manifest{SchemaVersion: 2, MediaType: typeManifest, Config: config, Layers: []descriptor{layer}, Annotations: i.Annotations})
	d.Platform = &runs
	l.load = append(l.load, loadable{Config: blob(config.Digest), RepoTags: []string{name}, Layers: []string{blob(layer.Digest)}})
	return d, err
}

func squeeze(data []byte) ([]byte, error) {
	var squeezed bytes.Buffer
	w, err := gzip.NewWriterLevel(&squeezed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	err = errors.Join(err, w.Close())
	return squeezed.Bytes(), err
}

func digest(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

// blob is where a layout keeps what has this digest.
func blob(digest string) string { return path.Join("blobs", strings.Replace(digest, ":", "/", 1)) }

func (l *Layout) add(mediaType string, data []byte) descriptor {
	d := descriptor{MediaType: mediaType, Digest: digest(data), Size: len(data)}
	l.files = append(l.files, file{blob(d.Digest), data})
	return d
}

func (l *Layout) addJSON(mediaType string, value any) (descriptor, error) {
	data, err := json.Marshal(value)
	return l.add(mediaType, data), err
}

func (l *Layout) fileJSON(name string, value any) error {
	data, err := json.Marshal(value)
	l.files = append(l.files, file{name, data})
	return err
}
