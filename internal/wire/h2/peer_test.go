package h2

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/inferometer/inferometer/internal/wire/http1"
)

// peer is the server's end of a connection, played by a test. Its framing is not ours.
type peer struct {
	t      *testing.T
	conn   *net.TCPConn
	framer *http2.Framer
	block  bytes.Buffer
	enc    *hpack.Encoder
	dec    *hpack.Decoder
}

// play starts a server whose n-th connection is played by the n-th script; the
// last one plays all that follow.
func play(t *testing.T, scripts ...func(p *peer)) target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				p := &peer{t: t, conn: c.(*net.TCPConn), framer: http2.NewFramer(c, c)}
				p.framer.AllowIllegalWrites = true
				p.enc = hpack.NewEncoder(&p.block)
				p.dec = hpack.NewDecoder(4096, nil)
				_ = c.SetDeadline(time.Now().Add(patience))
				hello := make([]byte, len(preface))
				if _, err := io.ReadFull(c, hello); err != nil || string(hello) != preface {
					t.Errorf("the client began with %q, error %v", hello, err)
					return
				}
				scripts[min(n, len(scripts)-1)](p)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return target{url: &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/p"}}
}

// settings greets the client.
func (p *peer) settings(s ...http2.Setting) { _ = p.framer.WriteSettings(s...) }

// next is the client's next frame of a type; others are passed over.
func next[F http2.Frame](p *peer) (f F, ok bool) {
	for {
		any, err := p.framer.ReadFrame()
		if err != nil {
			return f, false
		}
		if f, ok := any.(F); ok {
			return f, true
		}
	}
}

// request waits for the headers of a request.
func (p *peer) request() (id uint32, fields map[string]string) {
	h, ok := next[*http2.HeadersFrame](p)
	if !ok {
		return 0, nil
	}
	fields = make(map[string]string)
	list, err := p.dec.DecodeFull(h.HeaderBlockFragment())
	if err != nil {
		p.t.Errorf("the client's headers: %v", err)
	}
	for _, f := range list {
		fields[f.Name] = f.Value
	}
	return h.StreamID, fields
}

// encode makes a block of headers of names and values.
func (p *peer) encode(pairs ...string) []byte {
	p.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		_ = p.enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return p.block.Bytes()
}

// head sends the headers of a response.
func (p *peer) head(id uint32, end bool, pairs ...string) {
	_ = p.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.encode(pairs...), EndStream: end, EndHeaders: true})
}

func (p *peer) data(id uint32, end bool, text string) {
	_ = p.framer.WriteData(id, end, []byte(text))
}

// answer answers a request in full.
func (p *peer) answer(id uint32, text string) {
	p.head(id, false, ":status", "200")
	p.data(id, true, text)
}

// hold reads until the client leaves.
func (p *peer) hold() { _, _ = io.Copy(io.Discard, p.conn) }

// echo answers every request with its name.
func echo(p *peer) {
	p.settings()
	for {
		id, fields := p.request()
		if id == 0 {
			return
		}
		p.answer(id, "again "+fields["name"])
	}
}

func name(s string) http1.Field { return http1.Field{Name: "Name", Value: s} }
