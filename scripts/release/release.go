package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Release is what is being made: one version of the program.
type Release struct {
	Version string    // v0.1.0, or a pre-release made of the commit: v0.0.0-20261117160000-0c3b66af0c3b
	Commit  string    // in full
	Date    time.Time // the commit's, in UTC; every timestamp in every file is this one (SOURCE_DATE_EPOCH overrides)
	Source  string    // root of the repository
	Dir     string    // what is published
	Work    string    // a temporary directory
	Builds  []Build   // linux, darwin, windows × amd64, arm64

	inside []part  // what parts found
	about  *manual // what manual found
}

// Number is the version without its v, as file names and most registries have it.
func (r *Release) Number() string { return strings.TrimPrefix(r.Version, "v") }

// Build is the program for one platform.
type Build struct {
	OS, Arch string
	Program  string // path of the stripped static binary
}

// A form is one way in which the program is handed out: it writes files into r.Dir and names them.
type form struct {
	Name string
	Make func(r *Release) ([]string, error)
}

// forms lists all of them, in order: what names others comes after them.
func forms() []form {
	return []form{
		{"archives", archives},
		{"deb", deb},
		{"rpm", rpm},
		{"oci", image},
		{"npm", npm},
		{"wheel", wheels},
		{"homebrew", brew},
		{"scoop", scoop},
		{"script", script},
		{"sbom", sbom},
		{"provenance", provenance},
		{"checksums", checksums},
	}
}

func names(forms []form) []string {
	var list []string
	for _, f := range forms {
		list = append(list, f.Name)
	}
	return list
}

// choose picks the named forms. Checksums are always made.
func choose(all []form, only string) ([]form, error) {
	if only == "" {
		return all, nil
	}
	wanted := map[string]bool{"checksums": true}
	for name := range strings.SplitSeq(only, ",") {
		wanted[name] = true
	}
	var chosen []form
	for _, f := range all {
		if wanted[f.Name] {
			chosen = append(chosen, f)
		}
		delete(wanted, f.Name)
	}
	for name := range wanted {
		return nil, fmt.Errorf("-only %s: there is no such form; there are %s", name, strings.Join(names(all), ", "))
	}
	return chosen, nil
}

// semantic is a version as Go, npm, deb and rpm all take it.
var semantic = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// describe finds out what the repository at root holds. A tree that differs from its commit says so in its version:
// nobody can make the same files again.
func describe(ctx context.Context, root, version, out string) (*Release, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "cmd", "inferometer")); err != nil {
		return nil, fmt.Errorf("%s is not the root of the repository: %w", root, err)
	}
	commit, err := git(ctx, root, "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	seconds, err := git(ctx, root, "log", "-1", "--format=%ct")
	if err != nil {
		return nil, err
	}
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds = epoch
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH is %q, not a number of seconds", seconds)
	}
	r := &Release{Version: version, Commit: commit, Date: time.Unix(unix, 0).UTC(), Source: root, Dir: out}
	if !filepath.IsAbs(r.Dir) {
		r.Dir = filepath.Join(root, r.Dir)
	}
	if r.Version == "" {
		if r.Version, err = tagged(ctx, r); err != nil {
			return nil, err
		}
	}
	if !semantic.MatchString(r.Version) {
		return nil, fmt.Errorf("%q is not a version such as v1.2.3 or v1.2.3-rc.1", r.Version)
	}
	return r, nil
}

// tagged is the version that the commit's tag gives it, or one that Go would make up for it.
func tagged(ctx context.Context, r *Release) (string, error) {
	version, err := git(ctx, r.Source, "describe", "--tags", "--exact-match", "--match", "v[0-9]*", "HEAD")
	if err != nil {
		version = fmt.Sprintf("v0.0.0-%s-%.12s", r.Date.Format("20060102150405"), r.Commit)
	}
	changed, err := git(ctx, r.Source, "status", "--porcelain")
	if err == nil && changed != "" {
		version += "+dirty"
	}
	return version, err
}

// git gives what a git command prints, without the newline at its end.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := output(ctx, dir, nil, "git", args...)
	return strings.TrimSpace(string(out)), err
}

// output runs a program in dir, with env beside what the environment holds, and gives what it prints.
func output(ctx context.Context, dir string, env []string, program string, args ...string) ([]byte, error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stderr, cmd.Env = dir, &said, append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s in %s: %w", strings.Join(cmd.Args, " "), dir, err), errors.New(strings.TrimSpace(said.String())))
	}
	return out, nil
}
