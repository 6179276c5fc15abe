//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/bench/canned"
	"github.com/inferometer/inferometer/internal/cli"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool"
)

func cannedServer(t *testing.T, spec canned.Spec) *canned.Server {
	t.Helper()
	c, err := canned.Start(t.Context(), netip.MustParseAddrPort("127.0.0.1:0"), 2, spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The program under test takes the responses for what they say they are.
func TestCannedRun(t *testing.T) {
	c := cannedServer(t, canned.Spec{Events: 7, Writes: 3, Prompt: promptWords})
	for _, stream := range []bool{true, false} {
		t.Run(fmt.Sprintf("stream %v", stream), func(t *testing.T) {
			dir := t.TempDir()
			args := append([]string{"run", "http://" + c.Addr.String(), "--model", "mock", "--concurrency", "5", "--requests", "30"},
				commonFlags(work{stream: stream, events: 7}, dir)...)
			var out bytes.Buffer
			code := cli.Main(tool.Env{Args: args, Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }, Restore: func() {}})
			if code > 1 && code != 4 {
				t.Fatalf("exit code %d: %s", code, &out)
			}
			r, err := readResult(dir)
			if err != nil {
				t.Fatalf("%v: %s", err, &out)
			}
			if counts := r.Stages[0].Counts; counts.OK != 30 {
				t.Errorf("%d of 30 requests succeeded: %s", counts.OK, &out)
			}
			m := r.Stages[0].Metrics
			for name, want := range map[string]float64{"output_sequence_length": 7, "input_sequence_length": promptWords} {
				if got := m[name]; got.Distribution == nil || got.Avg != want {
					t.Errorf("%s is %+v, want %v", name, got, want)
				}
			}
			if _, err := readRecords(dir, func(r *record.Record) {
				if stream && len(r.Events) != 7+3 {
					t.Errorf("request %d has %d events in %s", r.Seq, len(r.Events), filepath.Base(dir))
				}
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCannedMetrics(t *testing.T) {
	c := cannedServer(t, canned.Spec{Events: 1, Writes: 1})
	s := &server{url: "http://" + c.Addr.String()}
	for range 3 {
		resp, err := http.Post(s.url+"/v1/chat/completions", "application/json", strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	// A response may be read before it is counted.
	for served, last := int64(0), int64(0); served != 3 || last == 0; {
		got, err := s.counters(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at, err := s.lastCanned(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		served, last = got.served, at.UnixNano()
	}
}
