//go:build linux

// Package deploy holds the tests of what this directory and the Containerfile are for:
// images and what runs them in a cluster.
package deploy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// image is what a Containerfile's stage comes to: files under a directory, and how they
// are run.
type image struct {
	dir      string // stands for /
	scratch  bool   // it began empty; else the machine itself stands for what it began with
	workdir  string
	env      []string
	command  []string // what runs where nothing else is told
	uid, gid int
}

// builder carries out the part of Containerfiles that ours uses. Anything else is an
// error: the test must not pass over what it does not understand.
type builder struct {
	context string
	temp    string
	args    []string // NAME=VALUE
	stages  map[string]*image
	now     *image
}

// build carries out all stages of a Containerfile.
func build(t *testing.T, file string, args ...string) (map[string]*image, error) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b := &builder{context: filepath.Dir(file), temp: t.TempDir(), args: args, stages: map[string]*image{}}
	for i, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if err := b.do(word, rest); err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w", file, i+1, line, err)
		}
	}
	return b.stages, nil
}

func (b *builder) do(word, rest string) error {
	if word == "ARG" {
		return nil // engines set most that have no value; empty is what go takes as "this machine"
	}
	if word == "FROM" {
		return b.from(strings.Fields(rest))
	}
	if b.now == nil {
		return errors.New("no FROM before it")
	}
	switch word {
	case "WORKDIR":
		b.now.workdir = rest
		return os.MkdirAll(b.now.at(rest), 0o755)
	case "ENV":
		b.now.env = append(b.now.env, strings.Fields(rest)...)
		return nil
	case "USER":
		_, err := fmt.Sscanf(rest, "%d:%d", &b.now.uid, &b.now.gid)
		return err
	case "CMD":
		return json.Unmarshal([]byte(rest), &b.now.command)
	case "COPY":
		return b.copy(strings.Fields(rest))
	case "RUN":
		if b.now.scratch {
			return errors.New("there is no shell in an empty image")
		}
		cmd := exec.Command("/bin/sh", "-c", rest)
		cmd.Dir = b.now.at(b.now.workdir)
		// No other flags: what it compiles is then what other tests have compiled already.
		cmd.Env = append(append(os.Environ(), "GOFLAGS=-buildvcs=false"), b.args...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	}
	return errors.New("the builder of this test does not know it")
}

func (b *builder) from(words []string) error {
	words = slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "--platform=") })
	if len(words) != 3 || words[1] != "AS" {
		return errors.New("want FROM image AS name")
	}
	b.now = &image{dir: filepath.Join(b.temp, words[2]), scratch: words[0] == "scratch", workdir: "/"}
	b.stages[words[2]] = b.now
	return os.Mkdir(b.now.dir, 0o755)
}

func (b *builder) copy(words []string) error {
	from, uid, gid := b.context, 0, 0
	for ; len(words) > 0 && strings.HasPrefix(words[0], "--"); words = words[1:] {
		name, value, _ := strings.Cut(words[0], "=")
		switch name {
		case "--from":
			s, ok := b.stages[value]
			if !ok {
				return fmt.Errorf("no stage %q", value)
			}
			from = s.dir
		case "--chown":
			if _, err := fmt.Sscanf(value, "%d:%d", &uid, &gid); err != nil {
				return err
			}
		default:
			return fmt.Errorf("unknown flag %s", name)
		}
	}
	if len(words) < 2 {
		return errors.New("want sources and a destination")
	}
	sources, to := words[:len(words)-1], words[len(words)-1]
	into := strings.HasSuffix(to, "/")
	if !path.IsAbs(to) {
		to = path.Join(b.now.workdir, to)
	}
	for _, s := range sources {
		dst := b.now.at(to)
		info, err := os.Stat(filepath.Join(from, s))
		if err != nil {
			return err
		}
		if into && !info.IsDir() {
			dst = filepath.Join(dst, path.Base(s))
		}
		if err := copyTree(filepath.Join(from, s), dst, uid, gid); err != nil {
			return err
		}
	}
	return nil
}

// at is where a path of the image lies on this machine.
func (i *image) at(name string) string { return filepath.Join(i.dir, filepath.FromSlash(name)) }

// copyTree copies a file or what is in a directory, with modes and links. Owners are set
// where this process may.
func copyTree(from, to string, uid, gid int) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, name)
		dst := filepath.Join(to, rel)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			if err := os.MkdirAll(dst, 0o755); err != nil {
				return err
			}
			err = os.Chmod(dst, info.Mode())
		case d.Type() == fs.ModeSymlink:
			var target string
			if target, err = os.Readlink(name); err == nil {
				err = os.Symlink(target, dst)
			}
		default:
			var data []byte
			if data, err = os.ReadFile(name); err == nil {
				err = os.WriteFile(dst, data, info.Mode().Perm())
			}
		}
		if err != nil || os.Getuid() != 0 {
			return err
		}
		return os.Lchown(dst, uid, gid)
	})
}

// mount lays a file or directory of this machine into the image, as -v does.
func (i *image) mount(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(i.at(to)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := copyTree(from, i.at(to), i.uid, i.gid); err != nil {
		t.Fatal(err)
	}
}

// run runs a command, or that of the image, as a container engine does: its files for /,
// its user, its environment, its work directory. Only the network is that of the machine.
func (i *image) run(t *testing.T, env []string, command ...string) (out string, code int) {
	t.Helper()
	if os.Getuid() == 0 {
		var blocked []string
		for dir := i.dir; dir != "/"; dir = filepath.Dir(dir) {
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o011 != 0o011 {
				blocked = append(blocked, dir)
			}
		}
		for _, dir := range blocked { // temporary directories are closed to others
			if !strings.HasPrefix(dir, os.TempDir()) {
				t.Fatalf("%s cannot be entered by user %d", dir, i.uid)
			}
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(command) == 0 {
		command = i.command
	}
	cmd := &exec.Cmd{Path: i.find(t, command[0]), Args: command, Dir: i.workdir, Env: append(slices.Clone(i.env), env...)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: i.dir}
	if me := os.Getuid(); me == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(i.uid), Gid: uint32(i.gid)}
	} else { // who is not root gets a namespace in which it is the image's user
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: i.uid, HostID: me, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: i.gid, HostID: os.Getgid(), Size: 1}}
	}
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
	case errors.Is(err, syscall.EPERM) && os.Getuid() != 0:
		t.Skipf("this machine does not let user %s have namespaces: %v", strconv.Itoa(os.Getuid()), err)
	case err != nil:
		t.Fatal(err)
	}
	return both.String(), cmd.ProcessState.ExitCode()
}

// find looks a program up in the image's PATH.
func (i *image) find(t *testing.T, name string) string {
	t.Helper()
	for _, e := range i.env {
		list, ok := strings.CutPrefix(e, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range strings.Split(list, ":") {
			if _, err := os.Stat(i.at(path.Join(dir, name))); err == nil {
				return path.Join(dir, name)
			}
		}
	}
	t.Fatalf("%q is not on the image's PATH", name)
	return ""
}
