//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// recordFile is what a run kept of its requests.
type recordFile struct {
	start time.Time // wall-clock time of offset 0
	stage record.StageSummary
}

// readRecords reads the record file of a run and hands every request to each,
// which may keep nothing of it.
func readRecords(dir string, each func(*record.Record)) (recordFile, error) {
	var f recordFile
	whole, err := record.File{Path: filepath.Join(outDir(dir), "requests.jsonl.zst")}.Walk(func(l record.Line) error {
		switch {
		case l.Header != nil:
			f.start = l.Header.Start
		case l.Request != nil:
			each(l.Request)
		case l.Stage != nil:
			f.stage = *l.Stage
		}
		return nil
	})
	if err == nil && !whole {
		err = record.ErrTruncated
	}
	if err != nil {
		return f, fmt.Errorf("reading the records of a run: %w", err)
	}
	return f, nil
}
