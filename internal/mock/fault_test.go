package mock

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/mock/config"
)

func always(k config.FaultKind, code int) func(*config.Server) {
	return func(c *config.Server) { c.Faults = []config.Fault{{Kind: k, Code: code, Share: 1}} }
}

func TestFaultStatus(t *testing.T) {
	for code, retry := range map[int]string{429: "1", 503: "1", 500: ""} {
		f := start(t, always(config.FaultStatus, code))
		resp, body := f.mustPost(chatPath, `{`+hello+`}`)
		if resp.StatusCode != code || resp.Header.Get("Retry-After") != retry || !strings.Contains(body, `"error"`) {
			t.Errorf("%d: got %d, Retry-After %q, %s", code, resp.StatusCode, resp.Header.Get("Retry-After"), body)
		}
		if resp, _ := f.get("/health"); resp.StatusCode != 200 {
			t.Errorf("/health: %d", resp.StatusCode)
		}
	}
}

// TestFaultCuts plays the faults that leave a response incomplete, streamed and not.
func TestFaultCuts(t *testing.T) {
	for _, tt := range []struct {
		kind   config.FaultKind
		stream bool
		want   error
		has    string // in the body, up to where it broke
	}{
		{config.FaultReset, true, syscall.ECONNRESET, ""},
		{config.FaultReset, false, syscall.ECONNRESET, ""},
		{config.FaultTruncate, true, io.ErrUnexpectedEOF, `"content":" them"`},
		{config.FaultTruncate, false, io.ErrUnexpectedEOF, `{"id"`},
		{config.FaultClose, true, io.EOF, ""},
		{config.FaultClose, false, io.EOF, ""},
	} {
		name := string(tt.kind)
		body := `{` + hello + `,"max_tokens":6}`
		if tt.stream {
			name += " stream"
			body = `{` + hello + `,"max_tokens":6,"stream":true}`
		}
		t.Run(name, func(t *testing.T) {
			f := start(t, always(tt.kind, 0))
			_, got, err := f.post(chatPath, body)
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if !strings.Contains(got, tt.has) || strings.Contains(got, "[DONE]") || strings.Contains(got, "usage") {
				t.Errorf("body %q", got)
			}
			if all := f.truths(); len(all) != 1 || all[0].Fault != string(tt.kind) || tt.kind != config.FaultClose && all[0].Finish != "abort" {
				t.Errorf("truth %+v", all)
			}
		})
	}
}

func TestFaultBodies(t *testing.T) {
	stream := `{` + hello + `,"max_tokens":4,"stream":true}`
	for _, tt := range []struct {
		kind config.FaultKind
		body string
		want string
		code int
	}{
		{config.FaultError, stream, "data: {\"error\":{\"message\":\"injected", 200},
		{config.FaultErrorEvent, stream, "event: error\ndata: {\"error\":{\"message\":\"injected", 200},
		{config.FaultError, `{` + hello + `}`, `{"error":{"message":"injected`, 500},
		{config.FaultHTML, stream, "<!DOCTYPE html>", 200},
		{config.FaultGarbage, stream, "not an answer", 200},
	} {
		f := start(t, always(tt.kind, 0))
		resp, body := f.mustPost(chatPath, tt.body)
		if resp.StatusCode != tt.code || !strings.Contains(body, tt.want) {
			t.Errorf("%s: %d %s", tt.kind, resp.StatusCode, body)
		}
		if tt.body == stream && (tt.kind == config.FaultError || tt.kind == config.FaultErrorEvent) {
			if n := strings.Count(body, `"content":" `); n != 2 || !strings.HasSuffix(body, "data: [DONE]\n\n") {
				t.Errorf("%s: %d tokens ahead of the error:\n%s", tt.kind, n, body)
			}
		}
	}
}

func TestFaultStallEndsWithTheClient(t *testing.T) {
	f := start(t, always(config.FaultStall, 0))
	resp, err := f.client.Post(f.url+chatPath, "application/json", strings.NewReader(`{`+hello+`,"max_tokens":4,"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	b := make([]byte, 1)
	for strings.Count(got.String(), "\n\n") < 3 { // the role and two tokens
		if _, err := resp.Body.Read(b); err != nil {
			t.Fatal(err)
		}
		got.Write(b)
	}
	resp.Body.Close()
	f.client.CloseIdleConnections()
	// Close waits for the request, which ends because its client is gone.
	all := f.truths()
	if len(all) != 1 || all[0].Tokens != 2 || all[0].Finish != "abort" || all[0].Fault != "stall" {
		t.Errorf("truth %+v", all)
	}
}

func TestFaultStallPasses(t *testing.T) {
	for _, body := range []string{`{` + hello + `,"max_tokens":4,"stream":true}`, `{` + hello + `,"max_tokens":4}`} {
		f := start(t, func(c *config.Server) {
			c.Faults, c.StallFor = []config.Fault{{Kind: config.FaultStall, Share: 1}}, time.Millisecond
		})
		if _, got := f.mustPost(chatPath, body); !strings.Contains(got, `"finish_reason":"length"`) {
			t.Errorf("answer %s", got)
		}
		all := f.truths()
		if len(all) != 1 || all[0].Tokens != 4 || all[0].Finish != "length" {
			t.Errorf("truth %+v", all)
		}
	}
}

func TestFaultConnections(t *testing.T) {
	f := start(t, always(config.FaultRefuse, 0))
	nc, err := net.Dial("tcp", f.addr)
	if err == nil {
		_, err = nc.Read(make([]byte, 1))
		nc.Close()
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("refused connection: %v", err)
	}
	if all := f.truths(); len(all) != 1 || all[0].Fault != "refuse" || all[0].Port == 0 {
		t.Errorf("truth %+v", all)
	}
	f = start(t, func(c *config.Server) {
		c.Faults, c.SlowFor = []config.Fault{{Kind: config.FaultSlowAccept, Share: 1}}, 20*time.Millisecond
	})
	began := time.Now()
	if resp, _ := f.get("/health"); resp.StatusCode != 200 || time.Since(began) < 20*time.Millisecond {
		t.Errorf("slow accept: %d after %v", resp.StatusCode, time.Since(began))
	}
}

// TestFaultShares checks shares, and that they follow the seed.
func TestFaultShares(t *testing.T) {
	const n = 1000
	run := func(seed uint64) []int {
		f := start(t, func(c *config.Server) {
			c.Seed, c.Faults = seed, []config.Fault{{Kind: config.FaultStatus, Code: 500, Share: 0.1},
				{Kind: config.FaultStatus, Code: 429, Share: 0.2}}
		})
		codes := make([]int, n)
		for i := range codes {
			resp, _ := f.mustPost(chatPath, `{`+hello+`,"max_tokens":1}`)
			codes[i] = resp.StatusCode
		}
		return codes
	}
	a, b, c := run(1), run(1), run(2)
	if d := cmp.Diff(a, b); d != "" {
		t.Error("the same seed gave other faults")
	}
	if cmp.Equal(a, c) {
		t.Error("another seed gave the same faults")
	}
	count := map[int]int{}
	for _, code := range a {
		count[code]++
	}
	if count[500] < 70 || count[500] > 130 || count[429] < 160 || count[429] > 240 || count[200]+count[500]+count[429] != n {
		t.Errorf("counts %v", count)
	}
}

// TestFaultsAtOnce keeps many connections failing in all ways, for the race detector.
func TestFaultsAtOnce(t *testing.T) {
	f := start(t, func(c *config.Server) {
		c.StallFor, c.SlowFor = time.Millisecond, time.Millisecond
		for _, k := range config.FaultKinds() {
			x := config.Fault{Kind: k, Share: 0.1}
			if k == config.FaultStatus {
				x.Code = 503
			}
			c.Faults = append(c.Faults, x)
		}
		c.Latency.MaxSeqs, c.Latency.TTFT, c.Latency.ITL = 4, 100*time.Microsecond, 50*time.Microsecond
	})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i := range 20 {
				body := `{` + hello + `,"max_tokens":6,"stream":true}`
				if i%2 == 0 {
					body = `{` + hello + `,"max_tokens":6}`
				}
				resp, err := f.client.Post(f.url+chatPath, "application/json", strings.NewReader(body))
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}
		})
	}
	wg.Wait()
	_, _, err := f.post(chatPath, "{")
	for err != nil {
		_, _, err = f.post(chatPath, "{")
	}
	if r, w := f.s.model.Running.Load(), f.s.model.Waiting.Load(); w != 0 || r > 1 {
		t.Errorf("running %d, waiting %d after all ended", r, w)
	}
	if len(f.truths()) < 320 {
		t.Error("requests are missing in the truth file")
	}
	if u := f.s.model.Usage(); u != 0 {
		t.Errorf("%v of the cache is still in use", u)
	}
}

func TestClosedServer(t *testing.T) {
	s, err := New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(l); err != nil {
		t.Errorf("a closed server has nothing to serve, and says %v", err)
	}
	if _, err := http.Get("http://" + l.Addr().String()); err == nil {
		t.Error("its listener is open")
	}
}
