// Package storage copies files to object stores: S3 and what speaks like it, and Google
// Cloud Storage. What is local stays where it is.
package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// Store is a place in a bucket.
type Store interface {
	// Put copies a file to a key unless that is taken. What fails for a passing reason is tried
	// again.
	Put(ctx context.Context, key, file string) (existed bool, err error)
	// Check makes sure that Put would be allowed, and leaves nothing behind.
	Check(ctx context.Context, key string) error
	// URL names a key for people.
	URL(key string) string
}

// Options are what stores take from the world.
type Options struct {
	Getenv func(string) string // the libraries for credentials read the environment itself
	Client *http.Client        // nil means one that is patient with large files
	Log    io.Writer           // one line for each file; nil means nowhere
}

func (o Options) filled() Options {
	if o.Client == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.ResponseHeaderTimeout = 2 * time.Minute
		o.Client = &http.Client{Transport: t}
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	return o
}

// File is a file to copy.
type File struct {
	Path string // where it is
	Name string // what it is called in the store, with slashes
}

// Files are all files in a directory and below it, under the names that they have there.
// strip is taken off the start of the names, which other stores begin with other words.
func Files(dir, strip string) ([]File, error) {
	var all []File
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		all = append(all, File{Path: name, Name: strings.TrimPrefix(filepath.ToSlash(rel), strip)})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for what to copy: %w", err)
	}
	return all, nil
}

// location is where files go in a bucket.
type location struct {
	store        Store
	path, prefix string
}

func (p location) key(name string) string {
	return strings.TrimLeft(path.Clean("/"+p.path+"/"+p.prefix+name), "/")
}

// Wanted reports whether a plan wants anything copied.
func Wanted(out *plan.Output) bool { return out.S3.Bucket != "" || out.GCS.Bucket != "" }

// places are the stores of a plan's buckets. what says what does not happen where that fails.
func places(ctx context.Context, out *plan.Output, o Options, what string) (all []location, errs []error) {
	add := func(p location, bucket string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s the %s: %w", what, bucket, err))
		} else {
			all = append(all, p)
		}
	}
	if out.S3.Bucket != "" {
		s, err := NewS3(ctx, out.S3, o)
		add(location{s, out.S3.Path, out.S3.Prefix}, "S3 bucket "+out.S3.Bucket, err)
	}
	if out.GCS.Bucket != "" {
		s, err := NewGCS(ctx, out.GCS, o)
		add(location{s, out.GCS.Path, out.GCS.Prefix}, "Google Cloud Storage bucket "+out.GCS.Bucket, err)
	}
	return all, errs
}

// Check makes sure, before a run, that a plan's buckets can be written to. It leaves nothing there.
func Check(ctx context.Context, out *plan.Output, o Options) error {
	o = o.filled()
	all, errs := places(ctx, out, o, "nothing could be copied to")
	for _, p := range all {
		if err := p.store.Check(ctx, p.key("write-check")); err != nil {
			errs = append(errs, fmt.Errorf("nothing could be copied to %s: %w", p.store.URL(p.key("")), err))
		}
	}
	return errors.Join(errs...)
}

// Copy copies files to the buckets that a plan names. A file that is there already is left
// alone. The error tells of all that could not be copied, and of nothing else: the rest is there.
func Copy(ctx context.Context, out *plan.Output, files []File, o Options) error {
	o = o.filled()
	all, errs := places(ctx, out, o, "nothing was copied to")
	for _, p := range all {
		errs = append(errs, p.copy(ctx, files, o.Log)...)
	}
	return errors.Join(errs...)
}

// mostRefused is after how many files refused for good the rest is not tried.
const mostRefused = 3

func (p location) copy(ctx context.Context, files []File, log io.Writer) []error {
	var errs []error
	refused := 0
	for i, f := range files {
		key := p.key(f.Name)
		existed, err := p.store.Put(ctx, key, f.Path)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("copying %s to %s: %w", f.Path, p.store.URL(key), err))
			if refused++; refused >= mostRefused && i+1 < len(files) {
				return append(errs, fmt.Errorf("%d more files were not copied to %s", len(files)-i-1, p.store.URL("")))
			}
			continue
		case existed:
			fmt.Fprintf(log, "%s already exists and was left alone\n", p.store.URL(key))
		default:
			fmt.Fprintf(log, "copied %s\n", p.store.URL(key))
		}
		refused = 0
	}
	return errs
}

func open(name string) (*os.File, int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// contentType is what a file holds, by its name.
func contentType(name string) string {
	known := map[string]string{
		".json": "application/json", ".yaml": "application/yaml", ".yml": "application/yaml", ".zst": "application/zstd",
		".csv": "text/csv", ".txt": "text/plain", ".log": "text/plain", ".html": "text/html",
		".png": "image/png", ".svg": "image/svg+xml",
	}
	return cmp.Or(known[path.Ext(name)], "application/octet-stream")
}
