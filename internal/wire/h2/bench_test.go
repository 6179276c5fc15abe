package h2

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// offline is a connection without a network, with streams under way that have
// their headers.
func offline(t testing.TB, streams int) *conn {
	t.Helper()
	client := NewClient(timedconn.NewClock(), nil, Options{Streams: streams, Limits: timedconn.Timeouts{Stall: time.Hour}})
	c := &conn{client: client, ready: make(chan struct{}), next: uint32(2*streams + 1)}
	c.alarm = timedconn.NewAlarm(client.clock, func() {})
	c.alarm.Set(1)
	c.work.L = &c.mu
	c.reader.init(c)
	req := http1.NewHead(&url.URL{Host: "h"}, nil, nil).Encode(nil)
	wire := appendFrame(nil, 0, frameSettings, 0, 0)
	for i := range streams {
		st := &stream{}
		st.reset(t.Context(), &order{shared: req.Head.HTTP2(), sized: true,
			rec: &record.Exchange{Record: record.Record{Body: make([]byte, 0, 1<<20), Marks: make([]record.Read, 0, 1<<12)}}})
		c.live, c.ids = append(c.live, st), append(c.ids, uint32(2*i+1))
		wire = appendBlock(wire, []byte{0x88}, 0, c.ids[i], maxFrame) // :status 200
	}
	if !c.reader.addRead(wire, timedconn.Stamp{User: 1}) {
		t.Fatal(c.err)
	}
	return c
}

// Taking in a read of a response costs no memory beyond that of the record.
func TestReadsDoNotAllocate(t *testing.T) {
	c := offline(t, 1)
	rec := c.live[0].rec
	data := append(appendFrame(nil, 9, frameData, 0, 1), "data: x\n\n"...)
	at := time.Duration(1)
	if n := testing.AllocsPerRun(1000, func() {
		at += time.Microsecond
		c.reader.addRead(data, timedconn.Stamp{User: at})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if len(rec.Marks) < 1000 || len(rec.Body) < 9000 {
		t.Errorf("%d marks, %d bytes", len(rec.Marks), len(rec.Body))
	}
}

// BenchmarkTake takes in reads that hold one event each, and one of every stream.
func BenchmarkTake(b *testing.B) {
	const streams = 32
	event := make([]byte, 220)
	for _, per := range []int{1, streams} {
		b.Run(fmt.Sprint(per), func(b *testing.B) {
			c := offline(b, streams)
			var reads [streams][]byte
			for i := range reads {
				for k := range per {
					reads[i] = append(appendFrame(reads[i], len(event), frameData, 0, c.ids[(i+k)%streams]), event...)
				}
			}
			at, n := time.Duration(1), 0
			for b.Loop() {
				if at++; at%1024 == 0 {
					for _, st := range c.live {
						st.rec.Body, st.rec.Marks = st.rec.Body[:0], st.rec.Marks[:0]
					}
				}
				c.reader.addRead(reads[n%streams], timedconn.Stamp{User: at})
				n++
			}
			b.ReportMetric(float64(n*per)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
