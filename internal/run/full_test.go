package run

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/abort"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
)

var errFull = errors.New("no space left on device")

// fullDisk has room for so many bytes.
type fullDisk struct {
	mu   sync.Mutex
	room int
	name string
}

func (f *fullDisk) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	file, err := os.OpenFile(f.name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, err
	}
	n, err := file.Write(p)
	return n, errors.Join(err, file.Close())
}

func (f *fullDisk) Close() error { return nil }

// onFullDisk are the options of a run whose record file has room for little.
func onFullDisk() Options {
	o := options(io.Discard)
	o.create = func(name string) (io.WriteCloser, error) { return &fullDisk{room: 2000, name: name}, nil }
	return o
}

// A full disk is said while the run goes on, and the plan says whether it goes on.
func TestFullDiskIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		onFull string
		ended  record.StopReason
		says   string
	}{
		{plan.OnFullStop, record.StopRecords, "Stopping the run"},
		{"", record.StopInterrupted, "Continuing without records"},
		{plan.OnFullContinue, record.StopInterrupted, "Continuing without records"},
	} {
		t.Run(tt.onFull, func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil)
			p := closedPlan(t, s.url, 2, 0)
			p.Stages[0].Duration = plan.Duration(time.Hour)
			p.Output.OnFull = tt.onFull
			o := onFullDisk()
			stop := make(chan struct{})
			o.Stop = stop
			var said string
			o.Warn = func(text string) {
				said += text
				if tt.onFull != plan.OnFullStop {
					close(stop) // as a user would; nothing else ends the run
				}
			}
			res, err := Run(t.Context(), p, o)
			if res == nil || !errors.Is(err, errFull) {
				t.Fatalf("%v; want a result and %v", err, errFull)
			}
			if res.Stages[0].Ended != tt.ended || !strings.Contains(said, errFull.Error()) || !strings.Contains(said, tt.says) || strings.Count(said, "records") > 2 {
				t.Errorf("ended by %q, said %q", res.Stages[0].Ended, said)
			}
			var early *abort.Error
			if errors.As(err, &early) != (tt.onFull == plan.OnFullStop) {
				t.Errorf("the error is %T: %v", err, err)
			}
			again, err := saved.Report(p.Output.Dir)
			if err != nil || !again.Incomplete || again.Verdict.Valid {
				t.Errorf("the report of what fitted: %v", err)
			}
			if text := readFile(t, p.Output.Dir, rundir.ResultFile); !strings.HasSuffix(text, "}\n") {
				t.Errorf("%s is cut: %d bytes", rundir.ResultFile, len(text))
			}
		})
	}
}

// A run that goes on without records goes through all of its stages.
func TestFullDiskEndsNoRun(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	p := closedPlan(t, s.url, 2, 300)
	p.Stages = append(p.Stages, p.Stages[0])
	res, err := Run(t.Context(), p, onFullDisk())
	if res == nil || !errors.Is(err, errFull) {
		t.Fatalf("%v; want a result and %v", err, errFull)
	}
	for i, st := range res.Stages {
		if st.Counts.OK != 300 {
			t.Errorf("stage %d: %+v", i+1, st.Counts)
		}
	}
	if _, err := os.Stat(filepath.Join(p.Output.Dir, rundir.ResultFile)); err != nil {
		t.Error(err)
	}
}
