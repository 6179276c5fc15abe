//go:build linux

// Package bare is a plain net/http client that reads lines and takes the time: the least that a Go client can do.
package bare

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"github.com/inferometer/inferometer/bench/stats"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// Result is what the bare loop prints when it ends.
type Result struct {
	Requests int     `json:"requests"`
	Lines    int     `json:"lines"` // that carried data
	TTFT50   float64 `json:"ttft_p50_ms"`
	TTFT99   float64 `json:"ttft_p99_ms"`
}

// Main is the least that a Go client can do: send a body with net/http, read
// the lines of the response, take the time at each.
func Main(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("bench bare", flag.ContinueOnError)
	url := fs.String("url", "", "where to post")
	body := fs.String("body", "", "`file` with the request body")
	inFlight := fs.Int("concurrency", 64, "requests in flight")
	duration := fs.Duration("duration", 5*time.Second, "how long to start new requests")
	if err := fs.Parse(args); err != nil {
		return err
	}
	payload, err := os.ReadFile(*body)
	if err != nil {
		return fmt.Errorf("reading the body to send: %w", err)
	}
	loop := loop{url: *url, body: payload, until: time.Now().Add(*duration)}
	loop.client.Transport = &http.Transport{MaxIdleConnsPerHost: *inFlight, DisableCompression: true}
	workers := make([]worker, *inFlight)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() { workers[i].err = loop.run(ctx, &workers[i]) })
	}
	wg.Wait()
	var result Result
	var first []time.Duration
	var errs []error
	for i := range workers {
		result.Requests += len(workers[i].first)
		result.Lines += workers[i].lines
		first = append(first, workers[i].first...)
		errs = append(errs, workers[i].err)
	}
	result.TTFT50, result.TTFT99 = stats.Milliseconds(stats.Quantile(first, 0.50)), stats.Milliseconds(stats.Quantile(first, 0.99))
	return errors.Join(append(errs, json.NewEncoder(out).Encode(result))...)
}

type loop struct {
	client http.Client
	url    string
	body   []byte
	until  time.Time
}

type worker struct {
	lines int
	first []time.Duration // from before the request to its first line
	times []time.Time     // of the lines of the request in flight
	err   error
}

func (l *loop) run(ctx context.Context, w *worker) error {
	for time.Now().Before(l.until) {
		if err := l.one(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

func (l *loop) one(ctx context.Context, w *worker) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(l.body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	began := time.Now()
	resp, err := l.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered %s", resp.Status)
	}
	w.times = w.times[:0]
	read := bufio.NewReader(resp.Body)
	for {
		text, err := read.ReadSlice('\n')
		if len(text) > 1 || errors.Is(err, bufio.ErrBufferFull) {
			w.times = append(w.times, time.Now())
		}
		if err == io.EOF {
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
	w.lines += len(w.times)
	if len(w.times) > 0 {
		w.first = append(w.first, w.times[0].Sub(began))
	}
	return nil
}
