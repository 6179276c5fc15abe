package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"
)

// platforms are those that the program is built for.
func platforms() []Build {
	var list []Build
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			list = append(list, Build{OS: system, Arch: arch})
		}
	}
	return list
}

// Suffix is what the system wants at the end of a program's name.
func (b Build) Suffix() string {
	if b.OS == "windows" {
		return ".exe"
	}
	return ""
}

// build compiles the program for every platform.
func (r *Release) build(ctx context.Context, log io.Writer) error {
	for _, b := range platforms() {
		b.Program = filepath.Join(r.Work, "build", b.OS+"-"+b.Arch, "inferometer"+b.Suffix())
		fmt.Fprintf(log, "%-12s %s/%s\n", "build", b.OS, b.Arch)
		if _, err := output(ctx, r.Source, b.environment(), "go", append(r.flags(), "-o", b.Program, "./cmd/inferometer")...); err != nil {
			return err
		}
		r.Builds = append(r.Builds, b)
	}
	return nil
}

// flags build the same bytes in every directory: no path, and nothing of git but what we pass on ourselves.
func (r *Release) flags() []string {
	values := fmt.Sprintf("-s -w -X main.version=%s -X main.commit=%s -X main.date=%s", r.Version, r.Commit, r.Date.Format(time.RFC3339))
	return []string{"build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", values}
}

// environment keeps out what a builder may have set for itself. The compiler is the one that compiled this program.
func (b Build) environment() []string {
	return []string{
		"GOOS=" + b.OS, "GOARCH=" + b.Arch, "CGO_ENABLED=0",
		"GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off", "GOEXPERIMENT=", "GODEBUG=", "GOFLAGS=", "GOWORK=off",
		"GOTOOLCHAIN=" + runtime.Version(),
	}
}

// here is the program for the machine that makes the release: it prints its own manual.
func (r *Release) here() (Build, error) {
	for _, b := range r.Builds {
		if b.OS == runtime.GOOS && b.Arch == runtime.GOARCH {
			return b, nil
		}
	}
	return Build{}, fmt.Errorf("%s/%s is not one of the platforms built for: make the release on one that is", runtime.GOOS, runtime.GOARCH)
}
