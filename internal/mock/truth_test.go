package mock

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/mock/cert"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

// TestTruth compares the truth with what a client got.
func TestTruth(t *testing.T) {
	for _, coalesce := range []int{1, 5} {
		f := start(t, func(c *config.Server) { c.Output.Coalesce = coalesce })
		bodies := make([]string, 24)
		before := time.Now().UnixNano()
		var wg sync.WaitGroup
		for i := range bodies {
			wg.Go(func() {
				stream := i%3 != 0
				_, bodies[i] = f.mustPost(chatPath, fmt.Sprintf(`{%s,"max_tokens":%d,"stream":%v}`, hello, 10+i, stream), "X-Request-Id", strconv.Itoa(i))
			})
		}
		wg.Wait()
		all := f.truths()
		after := time.Now().UnixNano()
		if len(all) != len(bodies) {
			t.Fatalf("%d lines for %d requests", len(all), len(bodies))
		}
		for _, tr := range all {
			i, err := strconv.Atoi(tr.ID)
			if err != nil {
				t.Fatalf("id %q", tr.ID)
			}
			checkTruth(t, tr, bodies[i], 10+i, coalesce)
			if tr.Read < before || tr.End > after || tr.Read > tr.End {
				t.Errorf("%s: read %d, end %d, outside %d to %d", tr.ID, tr.Read, tr.End, before, after)
			}
		}
	}
}

func checkTruth(t *testing.T, tr truthfile.Request, body string, tokens, coalesce int) {
	t.Helper()
	if tr.Status != 200 || tr.Prompt != 4 || tr.Max != tokens || tr.Tokens != tokens || tr.Finish != "length" || tr.Port == 0 || tr.Stamp != "write" || tr.Path != chatPath {
		t.Errorf("%+v", tr)
	}
	want := 1
	if tr.Stream {
		want = tokens + 2 // the role and [DONE]
	}
	if len(tr.Events) != want {
		t.Errorf("%s: %d events, want %d", tr.ID, len(tr.Events), want)
	}
	sum, n, off := 0, 0, 0
	last := tr.Read
	for i, e := range tr.Events {
		if e.At < last {
			t.Errorf("%s: event %d is stamped before the one ahead of it", tr.ID, i)
		}
		if i%coalesce != 0 && e.At != last {
			t.Errorf("%s: events %d and %d were one write but have two stamps", tr.ID, i-1, i)
		}
		last = e.At
		sum += e.Bytes
		n += e.Tokens
		if piece := body[min(off, len(body)):min(off+e.Bytes, len(body))]; tr.Stream && (!strings.HasPrefix(piece, "data: ") || !strings.HasSuffix(piece, "\n\n")) {
			t.Errorf("%s: event %d has bytes %q", tr.ID, i, piece)
		}
		off += e.Bytes
	}
	if sum != len(body) || n != tokens || last > tr.End {
		t.Errorf("%s: events of %d bytes and %d tokens, up to %d; the body has %d bytes, %d tokens, end %d", tr.ID, sum, n, last, len(body), tokens, tr.End)
	}
}

func TestTruthFileAndBody(t *testing.T) {
	file := filepath.Join(t.TempDir(), "truth.jsonl")
	c := config.Default()
	c.Truth, c.TruthBody = file, true
	var all []truthfile.Request
	func() {
		s, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		call := newCall(s, nopSender{}, nil)
		for _, body := range []string{"{\n" + hello + "\r\n}", "not \"JSON\""} {
			call.reset(request{method: http.MethodPost, path: chatPath, id: "é\"\n", body: []byte(body)})
			s.answer(call)
		}
	}()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n != 2 {
		t.Errorf("%d lines", n)
	}
	if all, err = truthfile.Read(bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	var messages struct{ Messages []any }
	if err := json.Unmarshal(all[0].Body, &messages); err != nil || len(messages.Messages) != 1 {
		t.Errorf("body %s: %v", all[0].Body, err)
	}
	if string(all[1].Body) != `"not \"JSON\""` || all[1].Status != 400 || all[1].ID != "é\"\n" {
		t.Errorf("%+v, body %s", all[1], all[1].Body)
	}
	if _, err := truthfile.Read(strings.NewReader("{}\n{")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a broken line: %v", err)
	}
	c.Truth = t.TempDir()
	if _, err := New(c); err == nil {
		t.Error("a directory was taken as truth file")
	}
}

// nopSender is a client that takes everything.
type nopSender struct{}

func (nopSender) begin(head) {}
func (nopSender) cut(bool)   {}
func (nopSender) send(*[]byte, bool) (time.Time, error) {
	return time.Now(), nil
}

// scrape reads the page as Prometheus does, as far as this server uses the format.
func scrape(t *testing.T, text string) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	types := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			types[name] = kind
			continue
		}
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		series, value, ok := strings.Cut(line, "} ")
		name, labels, ok2 := strings.Cut(series, "{")
		v, err := strconv.ParseFloat(value, 64)
		if !ok || !ok2 || err != nil || math.IsNaN(v) {
			t.Errorf("bad line %q", line)
		}
		base := name
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if b, ok := strings.CutSuffix(name, suffix); ok && types[b] == "histogram" {
				base = b
			}
		}
		if types[base] == "" {
			t.Errorf("%s has no type", name)
		}
		key := name
		for part := range strings.SplitSeq(labels, ",") {
			if !strings.HasPrefix(part, "engine=") && !strings.HasPrefix(part, "model_name=") {
				key += " " + part
			}
		}
		if _, twice := out[key]; twice {
			t.Errorf("%s stands there twice", key)
		}
		out[key] = v
	}
	return out
}

func TestMetrics(t *testing.T) {
	f := start(t, func(c *config.Server) { c.Latency.PrefixCache, c.Latency.BlockSize = true, 2 })
	for range 3 {
		f.mustPost(chatPath, `{`+hello+`,"max_tokens":5,"stream":true}`)
	}
	f.mustPost(chatPath, `{`+hello+`}`)
	f.mustPost(chatPath, `{`)
	_, text := f.get("/metrics")
	got := scrape(t, text)
	want := map[string]float64{
		"vllm:num_requests_running": 0, "vllm:num_requests_waiting": 0, "vllm:kv_cache_usage_perc": 0, "vllm:gpu_cache_usage_perc": 0,
		"vllm:prompt_tokens_total": 16, "vllm:generation_tokens_total": 79,
		`vllm:request_success_total finished_reason="length"`: 3, `vllm:request_success_total finished_reason="stop"`: 1,
		`vllm:request_success_total finished_reason="abort"`: 0, `vllm:request_success_total finished_reason="error"`: 0,
		"vllm:prefix_cache_queries_total": 16, "vllm:prefix_cache_hits_total": 6,
		"vllm:time_to_first_token_seconds_count": 4, `vllm:time_to_first_token_seconds_bucket le="+Inf"`: 4,
		"vllm:inter_token_latency_seconds_count": 75, "vllm:time_per_output_token_seconds_count": 75,
		"vllm:e2e_request_latency_seconds_count": 4, "vllm:request_queue_time_seconds_count": 4,
		"vllm:request_prompt_tokens_sum": 16, "vllm:request_generation_tokens_sum": 79,
		`vllm:request_generation_tokens_bucket le="5.0"`: 3, `vllm:request_generation_tokens_bucket le="2.0"`: 0,
	}
	for name, v := range want {
		if g, ok := got[name]; !ok || g != v {
			t.Errorf("%s = %v (there: %v), want %v", name, g, ok, v)
		}
	}
}

func TestHistogramBuckets(t *testing.T) {
	h := newHistogram([]float64{1, 2, 5})
	for _, v := range []float64{0, 1, 1.5, 2, 5, 6} {
		h.add(v, 2)
	}
	if d := cmp.Diff([]uint64{4, 4, 2, 2}, h.counts); d != "" || h.sum != 31 {
		t.Errorf("%s sum %v", d, h.sum)
	}
}

// TestProtocols asks the same over each way in.
func TestProtocols(t *testing.T) {
	for _, tt := range []struct {
		name        string
		secure, two bool
		proto       string
	}{{"http1", false, false, "HTTP/1.1"}, {"h2c", false, true, "HTTP/2.0"}, {"tls", true, false, "HTTP/1.1"}, {"h2", true, true, "HTTP/2.0"}} {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t, func(c *config.Server) {
				c.HTTP2, c.TLS.SelfSigned = true, tt.secure
				c.Latency.ITL = time.Millisecond
			})
			f.useProtocol(tt.secure, tt.two)
			_, whole := f.mustPost(chatPath, `{`+hello+`,"max_tokens":3}`)
			resp, body := f.mustPost(chatPath, `{`+hello+`,"max_tokens":3,"stream":true}`, "X-Request-Id", "me")
			if resp.Proto != tt.proto || len(events(t, body)) != 5 || !json.Valid([]byte(whole)) {
				t.Errorf("%s, body %s", resp.Proto, body)
			}
			if resp, _ := f.get("/health"); resp.StatusCode != 200 {
				t.Errorf("/health: %d", resp.StatusCode)
			}
			all := f.truths()
			if len(all) != 2 || all[1].ID != "me" || all[1].Proto != tt.proto || all[1].Port == 0 || len(all[1].Events) != 5 {
				t.Errorf("truth %+v", all)
			}
		})
	}
}

func (f *fixture) useProtocol(secure, two bool) {
	p := new(http.Protocols)
	p.SetHTTP1(!two)
	p.SetHTTP2(two && secure)
	p.SetUnencryptedHTTP2(two && !secure)
	roots := x509.NewCertPool()
	if secure {
		f.url = "https://" + f.addr
		if !roots.AppendCertsFromPEM(f.s.CertPEM()) {
			f.t.Fatal("no certificate")
		}
	}
	f.client = &http.Client{Transport: &http.Transport{Protocols: p, TLSClientConfig: &tls.Config{RootCAs: roots}}}
}

func TestHTTP2Faults(t *testing.T) {
	for _, k := range []config.FaultKind{config.FaultReset, config.FaultTruncate, config.FaultClose} {
		f := start(t, func(c *config.Server) { c.HTTP2, c.Faults = true, []config.Fault{{Kind: k, Share: 1}} })
		f.useProtocol(false, true)
		if _, body, err := f.post(chatPath, `{`+hello+`,"max_tokens":4,"stream":true}`); err == nil {
			t.Errorf("%s: no error, body %s", k, body)
		}
	}
}

func TestClientCertificates(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.TLS = config.TLS{SelfSigned: true, ClientCA: ca}
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), "no PEM certificate") {
		t.Errorf("an empty authority: %v", err)
	}
	own, pem, err := cert.SelfSigned(time.Now(), x509.ExtKeyUsageClientAuth)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ca, pem, 0o600); err != nil {
		t.Fatal(err)
	}
	f := start(t, func(c *config.Server) { c.TLS = config.TLS{SelfSigned: true, ClientCA: ca} })
	f.useProtocol(true, false)
	if _, err := f.client.Get(f.url + "/health"); err == nil {
		t.Error("a client without certificate was let in")
	}
	f.useProtocol(true, false)
	f.client.Transport.(*http.Transport).TLSClientConfig.Certificates = []tls.Certificate{own}
	if resp, _ := f.get("/health"); resp.StatusCode != 200 {
		t.Errorf("a client with certificate: %d", resp.StatusCode)
	}
}

// failing is a disk that is full.
type failing struct{ closed bool }

func (f *failing) Write([]byte) (int, error) { return 0, os.ErrPermission }
func (f *failing) Close() error              { f.closed = true; return nil }

func TestTruthWriteFails(t *testing.T) {
	disk := new(failing)
	s, err := New(config.Default(), WithTruth(disk))
	if err != nil {
		t.Fatal(err)
	}
	call := newCall(s, nopSender{}, nil)
	for range 3000 { // more than what is written at once
		call.reset(request{method: http.MethodPost, path: chatPath, body: []byte(stream(10)), read: time.Now()})
		s.answer(call)
	}
	if err := s.Close(); !errors.Is(err, os.ErrPermission) || !disk.closed {
		t.Errorf("close: %v, file closed: %v", err, disk.closed)
	}
}
