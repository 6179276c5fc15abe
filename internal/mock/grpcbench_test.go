package mock

import (
	"io"
	"net"
	"strconv"
	"testing"
	"time"

	h2 "golang.org/x/net/http2"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/lib/kserve/kservetest"
	"github.com/inferometer/inferometer/internal/mock/config"
)

// tape is a connection that plays what was recorded, and takes what is written.
type tape struct {
	net.Conn
	play  []byte
	wrote int
}

func (t *tape) Read(p []byte) (int, error) {
	if len(t.play) == 0 {
		return 0, io.EOF
	}
	n := copy(p, t.play)
	t.play = t.play[n:]
	return n, nil
}

func (t *tape) Write(p []byte) (int, error) {
	t.wrote += len(p)
	return len(p), nil
}

func (t *tape) Close() error         { return nil }
func (t *tape) RemoteAddr() net.Addr { return &net.TCPAddr{Port: 1} }

// opening is what a client begins a stream with.
func opening(tb testing.TB) []byte {
	tb.Helper()
	b := []byte(h2.ClientPreface)
	b = appendFrameHead(b, 6, h2.FrameSettings, 0, 0)
	b = append(b, 0, byte(h2.SettingInitialWindowSize), 0x7f, 0xff, 0xff, 0xff)
	b = appendWindowUpdate(b, 0, 1<<31-1-65535)
	block := appendField(nil, ":method", "POST")
	block = appendField(block, ":path", kserve.ModelStreamInferMethod)
	block = appendField(block, "content-type", "application/grpc")
	b = appendFrameHead(b, len(block), h2.FrameHeaders, h2.FlagHeadersEndHeaders, 1)
	return append(b, block...)
}

// dataFrame is a frame with one message.
func dataFrame(tb testing.TB, stream uint32, m any) []byte {
	tb.Helper()
	p := appendMessage(nil, kservetest.Encode(tb, kserve.Request(kserve.ModelInferMethod), m))
	return append(appendFrameHead(nil, len(p), h2.FrameData, 0, stream), p...)
}

// conn makes a connection of gRPC that has no network, with its stream open.
func taped(tb testing.TB, change func(*config.Server)) (*grpcConn, *tape) {
	tb.Helper()
	c := config.Default()
	if change != nil {
		change(&c)
	}
	s, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	t := &tape{play: opening(tb)}
	w := &wire{Conn: t}
	g := newGRPCConn(s, w, w)
	if err := g.serve(); err != nil {
		tb.Fatal(err)
	}
	return g, t
}

// ask plays one request to the connection.
func (g *grpcConn) ask(frame []byte) {
	g.r, g.w = 0, copy(g.in, frame)
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = g.frames(time.Now())
	g.flush()
	g.window, g.streams[1].window = 1<<30, 1<<30
}

func BenchmarkGRPCStream(b *testing.B) {
	g, _ := taped(b, nil)
	frame := dataFrame(b, 1, withFinal(inferring("vllm_model", "17", false, "text_input", "say hello to all", "stream", true, "sampling_parameters", `{"max_tokens":16}`)))
	b.ReportAllocs()
	for b.Loop() {
		g.ask(frame)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/16, "ns/response")
}

func TestResponsesDoNotAllocate(t *testing.T) {
	perRequest := func(tokens int) float64 {
		g, _ := taped(t, nil)
		frame := dataFrame(t, 1, withFinal(inferring("vllm_model", "17", false, "text_input", "say hello to all", "stream", true, "sampling_parameters", `{"max_tokens":`+strconv.Itoa(tokens)+`}`)))
		g.ask(frame) // grows the buffers
		g.ask(frame)
		return testing.AllocsPerRun(50, func() { g.ask(frame) })
	}
	few, many := perRequest(10), perRequest(500)
	if many > few+1 || few > 30 {
		t.Errorf("%v allocations with 10 responses, %v with 500", few, many)
	}
}
