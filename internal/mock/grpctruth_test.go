package mock

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	h2 "golang.org/x/net/http2"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/lib/kserve/kservetest"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/repository"
)

func vllmRequest(id string, tokens int) *kservetest.Request {
	return withFinal(inferring("vllm_model", id, false, "text_input", "say hello to all", "stream", true, "sampling_parameters", fmt.Sprintf(`{"max_tokens":%d}`, tokens)))
}

// TestGRPCTruth joins the truth with what clients got: many requests on each of
// several streams of one connection.
func TestGRPCTruth(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*config.Server)
	}{
		{"as fast as it goes", func(*config.Server) {}},
		{"paced", func(c *config.Server) { c.Latency.TTFT, c.Latency.ITL = 2*time.Millisecond, 300*time.Microsecond }},
		{"drawn", func(c *config.Server) {
			c.Latency.TTFT, c.Latency.ITL, c.Latency.ITLStddev = time.Millisecond, 300*time.Microsecond, 100*time.Microsecond
		}},
		{"queued", func(c *config.Server) { c.Latency.MaxSeqs, c.Latency.TTFT = 3, time.Millisecond }},
		{"coalesced", func(c *config.Server) { c.Output.Coalesce, c.Latency.ITL = 4, 200*time.Microsecond }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := startGRPC(t, tt.change)
			const streams, each = 4, 8
			sizes := make([]map[string]int, streams)
			before := time.Now().UnixNano()
			var wg sync.WaitGroup
			for s := range streams {
				sizes[s] = make(map[string]int)
				wg.Go(func() {
					var all []*kservetest.Request
					for i := range each {
						all = append(all, vllmRequest(fmt.Sprintf("%d-%d", s, i), 5+i))
					}
					for _, r := range f.stream(all...) {
						sizes[s][r.InferResponse.ID] += 5 + len(kservetest.Encode(t, kserve.Response(kserve.ModelStreamInferMethod), r))
					}
				})
			}
			wg.Wait()
			truths := f.truths()
			if len(truths) != streams*each {
				t.Fatalf("%d lines for %d requests", len(truths), streams*each)
			}
			for _, tr := range truths {
				var s, i int
				if _, err := fmt.Sscanf(tr.ID, "%d-%d", &s, &i); err != nil {
					t.Fatalf("id %q", tr.ID)
				}
				n := 5 + i
				if tr.Proto != "gRPC" || tr.Path != kserve.ModelStreamInferMethod || tr.Tokens != n || tr.Max != n || tr.Prompt != 4 || tr.Finish != "length" || tr.Status != 200 || tr.Stamp != "write" || tr.Port == 0 {
					t.Errorf("%+v", tr)
				}
				if len(tr.Events) != n+1 || tr.Events[n].Kind != "done" || tr.Events[n].Tokens != 0 {
					t.Errorf("%s: %d events for %d tokens and the mark of the end: %+v", tr.ID, len(tr.Events), n, tr.Events)
				}
				last, bytes := max(tr.Read, before), 0
				for i, e := range tr.Events {
					if e.At < last {
						t.Errorf("%s: stamps go back", tr.ID)
					}
					if tt.name == "as fast as it goes" && i > 0 && i < n && e.At == last {
						t.Errorf("%s: responses %d and %d went out in one write", tr.ID, i-1, i)
					}
					if due := tr.Read + int64(2*time.Millisecond) + int64(min(i, n-1))*int64(300*time.Microsecond); tt.name == "paced" && e.At < due {
						t.Errorf("%s: event %d went out %d ns early", tr.ID, i, due-e.At)
					}
					last = e.At
					bytes += e.Bytes
				}
				if last > tr.End || bytes != sizes[s][tr.ID] {
					t.Errorf("%s: %d bytes up to %d, the client got %d, the end is %d", tr.ID, bytes, last, sizes[s][tr.ID], tr.End)
				}
			}
		})
	}
}

// TestGRPCFaults looks at what each fault leaves of one request, and at its truth.
func TestGRPCFaults(t *testing.T) {
	tests := []struct {
		fault    config.Fault
		messages int // -1: they may be lost with the connection
		failed   bool
		failure  string
		finish   string
		grpc     repository.Code
	}{
		{config.Fault{Kind: config.FaultStatus, Code: 503}, 1, false, "injected fault: Service Unavailable", "", repository.CodeUnavailable},
		{config.Fault{Kind: config.FaultError}, 3, false, "injected fault: the engine died", "error", repository.CodeInternal},
		{config.Fault{Kind: config.FaultErrorEvent}, 3, false, "injected fault: the engine died", "error", repository.CodeInternal},
		{config.Fault{Kind: config.FaultReset}, -1, true, "", "abort", 0},
		{config.Fault{Kind: config.FaultTruncate}, -1, true, "", "abort", 0},
		{config.Fault{Kind: config.FaultClose}, 0, true, "", "", 0},
		{config.Fault{Kind: config.FaultGarbage}, 1, false, "", "", 0},
		{config.Fault{Kind: config.FaultHTML}, -1, true, "", "", 0},
		{config.Fault{Kind: config.FaultRefuse}, 0, true, "", "", 0},
		{config.Fault{Kind: config.FaultStall}, 5, false, "", "length", 0},
	}
	for _, tt := range tests {
		t.Run(string(tt.fault.Kind), func(t *testing.T) {
			f := startGRPC(t, func(c *config.Server) {
				tt.fault.Share = 1
				c.Faults, c.StallFor = []config.Fault{tt.fault}, time.Millisecond
			})
			a, err := f.call(kserve.ModelStreamInferMethod, vllmRequest("a", 4))
			if (err != nil) != tt.failed || tt.messages >= 0 && len(a.messages) != tt.messages {
				t.Errorf("%d messages, %v", len(a.messages), err)
			}
			if tt.failure != "" {
				var last kservetest.StreamResponse
				if err := kserve.Response(kserve.ModelStreamInferMethod).Decode(a.messages[len(a.messages)-1], &last); err != nil || last.ErrorMessage != tt.failure || last.InferResponse.ID != "a" {
					t.Errorf("%v %v", err, &last)
				}
			}
			for _, tr := range f.truths() {
				if tr.Fault != tt.fault.Name() || tr.Finish != tt.finish || tr.GRPC != int(tt.grpc) {
					t.Errorf("%+v", tr)
				}
			}
		})
	}
	t.Run("status of a call", func(t *testing.T) {
		f := startGRPC(t, func(c *config.Server) { c.Faults = []config.Fault{{Kind: config.FaultStatus, Code: 429, Share: 1}} })
		a, err := f.call(kserve.ModelInferMethod, vllmRequest("a", 4))
		if err != nil || a.status != int(repository.CodeResourceExhausted) || a.message != "injected fault: Too Many Requests" {
			t.Errorf("%v, status %d %q", err, a.status, a.message)
		}
	})
}

// rawClient speaks HTTP/2 by hand.
type rawClient struct {
	t  *testing.T
	nc net.Conn
	fr *h2.Framer
}

func (f *grpcFixture) raw(b []byte) *rawClient {
	f.t.Helper()
	nc, err := net.Dial("tcp", f.grpc)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = nc.Close() })
	if _, err := nc.Write(b); err != nil {
		f.t.Fatal(err)
	}
	_ = nc.SetReadDeadline(time.Now().Add(10 * time.Second))
	return &rawClient{f.t, nc, h2.NewFramer(nc, nc)}
}

// until reads frames up to the first that is wanted.
func (c *rawClient) until(want func(h2.Frame) bool) h2.Frame {
	c.t.Helper()
	for {
		fr, err := c.fr.ReadFrame()
		if err != nil {
			c.t.Fatal(err)
		}
		if want(fr) {
			return fr
		}
	}
}

// collect reads n bytes of DATA.
func (c *rawClient) collect(n int) []byte {
	c.t.Helper()
	var all []byte
	for len(all) < n {
		all = append(all, c.until(func(f h2.Frame) bool { return f.Header().Type == h2.FrameData }).(*h2.DataFrame).Data()...)
	}
	return all
}

// TestFlowControl has a client that takes ten bytes at a time.
func TestFlowControl(t *testing.T) {
	f := startGRPC(t, nil)
	b := []byte(h2.ClientPreface)
	b = appendFrameHead(b, 6, h2.FrameSettings, 0, 0)
	b = append(b, 0, byte(h2.SettingInitialWindowSize), 0, 0, 0, 10)
	rest := opening(t)
	b = append(b, rest[bytes.Index(rest, []byte(":method"))-11:]...) // its HEADERS
	b = append(b, dataFrame(t, 1, vllmRequest("a", 3))...)
	c := f.raw(b)
	var all []byte
	for i := 0; ; i++ {
		fr := c.until(func(f h2.Frame) bool {
			return f.Header().Type == h2.FrameData || f.Header().Type == h2.FrameHeaders && i > 0
		})
		d, ok := fr.(*h2.DataFrame)
		if !ok {
			break
		}
		if len(d.Data()) > 10 {
			t.Fatalf("%d bytes at once", len(d.Data()))
		}
		all = append(all, d.Data()...)
		if err := c.fr.WriteWindowUpdate(1, uint32(len(d.Data()))); err != nil {
			t.Fatal(err)
		}
		if bytes.HasSuffix(all, []byte("triton_final_response\x12\x02\x08\x01")) {
			if err := c.fr.WriteData(1, true, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	truths := f.truths()
	if len(truths) != 1 {
		t.Fatalf("%d lines", len(truths))
	}
	sum, stamps := 0, map[int64]bool{}
	for _, e := range truths[0].Events {
		sum += e.Bytes
		stamps[e.At] = true
	}
	if sum != len(all) || len(stamps) != 4 {
		t.Errorf("%d bytes at %d times, the client got %d bytes in pieces", sum, len(stamps), len(all))
	}
}

// TestFrames has what few clients do: pings, padding, header blocks and messages in
// several frames, trailers, unknown frames.
func TestFrames(t *testing.T) {
	f := startGRPC(t, nil)
	c := f.raw([]byte(h2.ClientPreface))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.fr.WriteSettings())
	must(c.fr.WritePing(false, [8]byte{1, 2, 3}))
	ping := c.until(func(f h2.Frame) bool { return f.Header().Type == h2.FramePing }).(*h2.PingFrame)
	if !ping.IsAck() || ping.Data != [8]byte{1, 2, 3} {
		t.Errorf("%v", ping)
	}
	block := appendField(nil, ":method", "POST")
	block = appendField(block, ":path", kserve.ModelStreamInferMethod)
	block = appendField(block, "content-type", "application/grpc+proto")
	must(c.fr.WriteHeaders(h2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:20], PadLength: 3, Priority: h2.PriorityParam{Weight: 7}}))
	must(c.fr.WriteContinuation(1, false, block[20:50]))
	must(c.fr.WriteContinuation(1, true, block[50:]))
	must(c.fr.WriteRawFrame(0x77, 0, 1, []byte("what is this")))
	message := kservetest.Encode(t, kserve.Request(kserve.ModelInferMethod), vllmRequest("a", 2))
	two := appendMessage(appendMessage(nil, message), message)
	must(c.fr.WriteDataPadded(1, false, two[:3], make([]byte, 9)))
	must(c.fr.WriteData(1, false, two[3:60]))
	must(c.fr.WriteData(1, false, two[60:len(message)+40]))
	must(c.fr.WriteDataPadded(1, false, two[len(message)+40:], make([]byte, 1)))
	must(c.fr.WriteHeaders(h2.HeadersFrameParam{StreamID: 1, BlockFragment: appendField(nil, "x-trailer", "1"), EndStream: true, EndHeaders: true}))
	var data []byte
	c.until(func(f h2.Frame) bool {
		if d, ok := f.(*h2.DataFrame); ok {
			data = append(data, d.Data()...)
		}
		return f.Header().Type == h2.FrameHeaders && f.Header().Flags.Has(h2.FlagHeadersEndStream)
	})
	if n := bytes.Count(data, []byte("triton_final_response")); n != 6 {
		t.Errorf("%d responses to two requests of two tokens", n)
	}
	// Now a breach, which ends the connection with its reason.
	must(c.fr.WriteRawFrame(h2.FrameWindowUpdate, 0, 0, []byte{1}))
	away := c.until(func(f h2.Frame) bool { return f.Header().Type == h2.FrameGoAway }).(*h2.GoAwayFrame)
	if away.ErrCode != h2.ErrCodeFrameSize {
		t.Errorf("%v", away)
	}
}

// TestLeaving gives up one request of a stream that never ends, and finds its place free.
func TestLeaving(t *testing.T) {
	f := startGRPC(t, func(c *config.Server) {
		c.Latency.MaxSeqs = 1
		c.Faults = []config.Fault{{Kind: config.FaultStall, Share: 1}}
	})
	c := f.raw(append(opening(t), dataFrame(t, 1, vllmRequest("a", 4))...))
	c.collect(20)
	waiting := f.raw(append(opening(t), dataFrame(t, 1, vllmRequest("b", 4))...))
	if err := c.fr.WriteRSTStream(1, h2.ErrCodeCancel); err != nil {
		t.Fatal(err)
	}
	waiting.collect(20)
	_ = waiting.nc.Close()
	for _, tr := range f.truths() {
		if tr.Finish != "abort" || tr.Fault != "stall" {
			t.Errorf("%+v", tr)
		}
	}
}

func TestCompressedRequests(t *testing.T) {
	f := startGRPC(t, nil)
	message := kservetest.Encode(t, kserve.Request(kserve.ModelInferMethod), vllmRequest("a", 2))
	for name, pack := range map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	} {
		var packed bytes.Buffer
		w := pack(&packed)
		_, _ = w.Write(message)
		_ = w.Close()
		body := appendMessage(nil, packed.Bytes())
		body[0] = 1
		a, err := f.callRaw(kserve.ModelStreamInferMethod, bytes.NewReader(body), "Grpc-Encoding", name)
		if err != nil || a.status != 0 || len(a.messages) != 3 {
			t.Errorf("%s: %v, status %d %s, %d messages", name, err, a.status, a.message, len(a.messages))
		}
		body[7]++ // spoils it
		if a, err = f.callRaw(kserve.ModelStreamInferMethod, bytes.NewReader(body), "Grpc-Encoding", name); err != nil || a.status != int(repository.CodeInternal) {
			t.Errorf("%s, spoiled: %v, status %d", name, err, a.status)
		}
	}
	if a, err := f.callRaw(kserve.ModelStreamInferMethod, bytes.NewReader(nil), "Grpc-Encoding", "zstd"); err != nil || a.status != int(repository.CodeUnimplemented) {
		t.Errorf("zstd: %v, status %d", err, a.status)
	}
}

func TestGRPCShutdown(t *testing.T) {
	f := startGRPC(t, func(c *config.Server) { c.Latency.TTFT = time.Hour })
	c := f.raw(append(opening(t), dataFrame(t, 1, vllmRequest("a", 4))...))
	c.until(func(f h2.Frame) bool {
		return f.Header().Type == h2.FrameSettings && f.Header().Flags.Has(h2.FlagSettingsAck)
	})
	go f.s.Close()
	if away := c.until(func(f h2.Frame) bool { return f.Header().Type == h2.FrameGoAway }).(*h2.GoAwayFrame); away.ErrCode != h2.ErrCodeNo {
		t.Errorf("%v", away)
	}
}
