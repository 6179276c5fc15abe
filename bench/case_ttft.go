//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/bench/stats"
	"github.com/inferometer/inferometer/bench/table"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/record"
)

const ttftInFlight = 256

// ttftRow compares what clients report as time to first token with what the
// server did.
func ttftRow() row {
	return row{"reported TTFT p50 / p99, 256 in flight, server's set to 50 ms", withServer(serverSpec{ttft: 50 * time.Millisecond, itl: 10 * time.Millisecond, events: 16, truth: true}, func(ctx context.Context, b *bench, s *server, l *table.Line) {
		w := work{inFlight: ttftInFlight, stream: true, events: 16, duration: b.load}
		competitors := []competitor{ours(), bareLoop(), perfAnalyzerTTFT()}
		f := b.compete(ctx, s, w, competitors)
		peers := field{}
		if b.full {
			peers = b.compete(ctx, s, w, pythonPeers())
		}
		truth, err := s.log(ctx)
		if err != nil {
			l.Miss("server", err)
			return
		}
		for _, c := range competitors {
			if !f.has(c.name) {
				l.Miss(c.name, f.missing[c.name])
				continue
			}
			reportTTFT(l, f, c.name, truth)
		}
		if b.full {
			b.reportPeerTTFT(l, peers, truth)
		}
		if len(l.Missing) == 0 {
			judgeTTFT(l, f, truth)
		}
	})}
}

func (b *bench) reportPeerTTFT(l *table.Line, peers field, truth []truthfile.Request) {
	for _, p := range pythonPeers() {
		b.peerResult(l, p, peers, func(l *table.Line, f field, name string) { reportTTFT(l, f, name, truth) })
	}
}

func reportTTFT(l *table.Line, f field, name string, truth []truthfile.Request) {
	server := func(q float64) float64 {
		return median(f, name, func(a attempt) float64 {
			return stats.Milliseconds(stats.Quantile(serverTTFT(truth, a.child.Started, a.child.Ended), q))
		})
	}
	held := median(f, name, func(a attempt) float64 { return heldBy(truth, a.loadStart, a.loadEnd) })
	l.Add(name, table.Show(median(f, name, func(a attempt) float64 { return a.p50 }), "")+" / "+table.Show(median(f, name, func(a attempt) float64 { return a.p99 }), " ms"),
		"while the server's own was %s / %s", table.Show(server(0.50), " ms"), table.Show(server(0.99), " ms"))
	l.AddAt("in flight, as the server saw it", name, table.Show(held, ""), "")
	l.AddAt("peak memory", name, table.Show(median(f, name, peakMB), " MB"), "")
}

func judgeTTFT(l *table.Line, f field, truth []truthfile.Request) {
	l.AtMost("TTFT p50", median(f, table.NameOurs, func(a attempt) float64 { return a.p50 }), 51.5, " ms")
	var own []ownTTFT
	for _, a := range f.attempts[table.NameOurs] {
		o, err := readOwnTTFT(a, truth)
		if err != nil {
			l.Miss(table.NameOurs, err)
			return
		}
		own = append(own, o)
	}
	l.AtLeast("in flight on average, first full wave to last send",
		stats.MedianOf(own, func(o ownTTFT) float64 { return o.held }), 0.995*ttftInFlight, "")
	l.Must("most in flight", strconv.Itoa(stats.MedianOf(own, func(o ownTTFT) int { return o.most })), fmt.Sprintf("= %d", ttftInFlight),
		stats.MedianOf(own, func(o ownTTFT) int { return o.most }) == ttftInFlight)
	l.AtMost("TTFT p99 beyond the server's, from our send, connect time taken off",
		stats.MedianOf(own, func(o ownTTFT) float64 { return stats.Milliseconds(o.beyond99) }), beyondTTFT, " ms")
	l.AddNote("requests lay unread at the server for %s at p99: all of a wave come at once, and it reads them one by one",
		table.Show(stats.MedianOf(own, func(o ownTTFT) float64 { return stats.Milliseconds(o.unread99) }), " ms"))
}

// beyondTTFT is what reading and sending may add to the server's own p99, in ms.
const beyondTTFT = 1.5

// ownTTFT is what our records say of a run.
type ownTTFT struct {
	held     float64
	most     int
	beyond99 time.Duration // p99 of our TTFT, connect times taken off, less that of the server's write since our send
	unread99 time.Duration // p99 of the time from our send until the server had read the request
}

// readOwnTTFT reads from the records how many requests were in flight and what
// lies between our time to first token and the server's.
func readOwnTTFT(a attempt, truth []truthfile.Request) (ownTTFT, error) {
	var spans []stats.Span
	var less []time.Duration
	sent := map[int64]time.Duration{}
	f, err := readRecords(a.dir, func(r *record.Record) {
		if r.Sent == record.Never {
			return
		}
		spans = append(spans, stats.Span{From: r.Sent, To: r.End})
		sent[r.Seq] = r.Sent
		for _, e := range r.Events {
			if e.Label.IsToken() {
				less = append(less, r.Marks[e.Mark].Time()-r.Sent-r.Conn.Resolve-r.Conn.Connect-r.Conn.TLS)
				break
			}
		}
	})
	if err != nil {
		return ownTTFT{}, err
	}
	written, read := sinceSent(truth, a, f.start, sent)
	o := ownTTFT{beyond99: stats.Quantile(less, 0.99) - stats.Quantile(written, 0.99), unread99: stats.Quantile(read, 0.99)}
	o.held, o.most = stats.InFlight(spans, f.stage.SendEnd)
	return o, nil
}

// sinceSent gives, for the requests of a run, the time from our send to the server's
// write of the first token, and to its having read the request.
func sinceSent(truth []truthfile.Request, a attempt, start time.Time, sent map[int64]time.Duration) (written, read []time.Duration) {
	for _, t := range truth {
		seq, ok := sequence(t.ID)
		at, known := sent[seq]
		if !ok || !known || t.Read < a.child.Started.UnixNano() || t.Read > a.child.Ended.UnixNano() {
			continue
		}
		began := start.Add(at).UnixNano()
		if i := slices.IndexFunc(t.Events, func(e truthfile.Event) bool { return e.Tokens > 0 }); i >= 0 {
			written = append(written, time.Duration(t.Events[i].At-began))
			read = append(read, time.Duration(t.Read-began))
		}
	}
	return written, read
}
