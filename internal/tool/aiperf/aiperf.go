// Package aiperf reads what AIPerf writes: profile_export.jsonl with the single requests, its
// raw form, and the summaries of a run as JSON and CSV.
package aiperf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/importer"
)

// by is who writes such files.
const by = "AIPerf"

// Tool reads its files. It is no command.
func Tool() tool.Tool {
	return tool.Tool{
		Name: "aiperf", Reads: "profile_export.jsonl, profile_export_raw.jsonl, profile_export_aiperf.json or .csv of AIPerf, or its artifact directory",
		Import: importRun, Figures: figures,
	}
}

// isRecords reports whether a file has a request on each line.
func isRecords(h *importer.Head) bool {
	return h.Has("metadata", "metrics") && strings.Contains(h.Line, `"request_start_ns"`)
}

// isRaw reports whether a file has all that went over the network.
func isRaw(h *importer.Head) bool {
	return h.Has("metadata", "start_perf_ns") && strings.Contains(h.Line, `"request_start_ns"`)
}

// isSummary reports whether a file is the summary of a run.
func isSummary(h *importer.Head) bool {
	return h.Has("aiperf_version", "input_config") && (h.Has("request_count") || h.Has("request_latency"))
}

// isCSV reports whether a file is the table of a run.
func isCSV(h *importer.Head) bool {
	return strings.HasPrefix(h.Line, "Metric,avg,min,max,sum,")
}

type source struct {
	records string // a request on each line
	raw     bool   // in the raw form
	summary string // empty: there is none
	table   string // the same as CSV
}

// find gives the runs that a path stands for: a file, the directory of a run, or one that has
// those of several in it. None: it is none of these.
func find(path string) ([]source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return fileSource(path)
	}
	if s, err := dirSource(path); err != nil {
		return nil, err
	} else if s != nil {
		return []source{*s}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var list []source
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		s, err := dirSource(filepath.Join(path, e.Name()))
		if err != nil {
			return nil, err
		}
		if s != nil {
			list = append(list, *s)
		}
	}
	return list, nil
}

// fileSource is the run of one file, with the summary beside it.
func fileSource(path string) ([]source, error) {
	h, err := importer.ReadHead(path)
	if err != nil {
		return nil, err
	}
	s := source{}
	switch {
	case isRecords(h), isRaw(h):
		s.records, s.raw = path, !isRecords(h)
		stem := strings.TrimSuffix(strings.TrimSuffix(path, ".jsonl"), "_raw")
		for _, name := range []string{stem + "_aiperf.json", stem + ".json"} {
			if h, err := importer.ReadHead(name); err == nil && isSummary(h) && s.summary == "" {
				s.summary = name
			}
		}
	case isSummary(h):
		s.summary = path
	case isCSV(h):
		s.table = path
	default:
		return nil, nil
	}
	return []source{s}, nil
}

// dirSource is the run of a directory, or nil.
func dirSource(dir string) (*source, error) {
	heads, err := importer.Files(dir, ".jsonl", ".json", ".csv")
	if err != nil {
		return nil, err
	}
	var s source
	set := func(to *string, h *importer.Head) error {
		if *to != "" {
			return fmt.Errorf("there are several runs of AIPerf in %s: choose one of %s, %s", dir, *to, h.Path)
		}
		*to = h.Path
		return nil
	}
	var raw string
	for _, h := range heads {
		err := error(nil)
		switch {
		case isRecords(h):
			err = set(&s.records, h)
		case isRaw(h):
			err = set(&raw, h)
		case isSummary(h):
			err = set(&s.summary, h)
		case isCSV(h) && s.table == "":
			s.table = h.Path
		}
		if err != nil {
			return nil, err
		}
	}
	if s.records == "" && raw != "" {
		s.records, s.raw = raw, true
	}
	if s == (source{}) {
		return nil, nil
	}
	return &s, nil
}

// notes say where its definitions differ from ours.
func notes() []string {
	return []string{
		"AIPerf's inter token latency is our time per output token; its inter chunk latency is our inter-event latency.",
		"AIPerf's request latency ends with the last chunk that has content; ours with the last byte.",
		"AIPerf counts tokens with its own tokenizer, unless it was told to take the server's count.",
		"AIPerf leaves failed requests out of its latencies and lengths.",
	}
}
