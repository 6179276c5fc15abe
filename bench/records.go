//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"inferometer/internal/record"
)

// recordFile is what a run kept of its requests.
type recordFile struct {
	start time.Time // wall-clock moment of offset 0
	stage record.StageMark
}

// readRecords reads the record file of a run and hands every request to each,
// which may keep nothing of it.
func readRecords(dir string, each func(*record.Record)) (recordFile, error) {
	var f recordFile
	r, err := record.Open(filepath.Join(outDir(dir), "requests.jsonl.zst"))
	if err != nil {
		return f, err
	}
	defer r.Close()
	f.start = r.Header().Start
	for {
		l, err := r.Next()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return f, fmt.Errorf("reading the records of a run: %w", err)
		}
		switch {
		case l.Request != nil:
			each(l.Request)
		case l.Stage != nil:
			f.stage = *l.Stage
		}
	}
}
