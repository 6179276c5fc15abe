package metric

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// A mean gap needs two tokens and a time between two events.
func TestTimePerToken(t *testing.T) {
	const first, last = 10 * msec, 70 * msec
	for _, c := range []struct {
		name          string
		tokens, gaps  int
		sparse        bool
		events        int
		tokensIn      int64
		perToken, gap time.Duration // 0: none
	}{
		{"two tokens", 2, 1, false, 2, 0, 60 * msec, 60 * msec},
		{"four tokens", 4, 3, false, 4, 0, 20 * msec, 20 * msec},
		{"one token", 1, 0, false, 1, 0, 0, 0},
		{"one token, two events", 1, 1, false, 2, 0, 0, 0},
		{"all tokens in one event", 4, 0, false, 1, 0, 0, 0},
		{"tokens not known by event, one event", 4, 0, true, 1, 0, 0, 0},
		{"tokens not known by event, two events", 4, 0, true, 2, 0, 20 * msec, 20 * msec},
		{"one token behind the first event", 4, 3, false, 4, 1, 20 * msec, 60 * msec},
		{"six tokens behind the first event", 4, 3, false, 4, 6, 20 * msec, 10 * msec},
	} {
		r := &Request{
			Record: &record.Record{Sparse: c.sparse}, Tokens: c.tokens, First: first, Last: last,
			events: c.events, gapCount: c.gaps, tokensIn: c.tokensIn,
		}
		if got, ok := timePerToken(r); time.Duration(got) != c.perToken || ok != (c.perToken > 0) {
			t.Errorf("%s: %v per token, %v", c.name, time.Duration(got), ok)
		}
		if got, ok := meanTokenGap(r); time.Duration(got) != c.gap || ok != (c.gap > 0) {
			t.Errorf("%s: a mean gap of %v, %v", c.name, time.Duration(got), ok)
		}
	}
}

// Responses of no token, and of fewer than requested, count apart; a count that nobody is sure of says nothing.
func TestEmptyAndShortResponses(t *testing.T) {
	for _, c := range []struct {
		name         string
		n, requested int
		source       record.Source
		standIn      bool
		empty, short int64
	}{
		{"none", 0, 5, record.FromServer, false, 1, 0},
		{"one of five", 1, 5, record.FromServer, false, 0, 1},
		{"four of five", 4, 5, record.FromServer, false, 0, 1},
		{"all", 5, 5, record.FromServer, false, 0, 0},
		{"more", 6, 5, record.FromServer, false, 0, 0},
		{"none requested", 4, 0, record.FromServer, false, 0, 0},
		{"counted by the model's tokenizer", 4, 5, record.FromTokenizer, false, 0, 1},
		{"counted by a stand-in", 4, 5, record.FromTokenizer, true, 0, 0},
		{"counted by the server beside a stand-in", 4, 5, record.FromServer, true, 0, 1},
		{"events are counted", 4, 5, record.FromEvents, false, 0, 0},
		{"not counted", -1, 5, record.FromServer, false, 0, 0},
	} {
		rec := evenly(0, msec, msec, 2)
		rec.Out, rec.RequestedTokens = record.Tokens{N: c.n, Source: c.source, Local: -1}, c.requested
		f := mustFold(t, Options{StandIn: c.standIn})
		f.Add(rec)
		if got := summarize(t, f)[0].Counts; got.Empty != c.empty || got.Short != c.short {
			t.Errorf("%s: %d empty, %d short", c.name, got.Empty, got.Short)
		}
	}
}

// A kind of failure is shown by the request that was made first, whatever the order in which they ended.
func TestExampleOfFailure(t *testing.T) {
	f := mustFold(t, Options{})
	for i, seq := range []int64{7, 3, 5} {
		rec := failed(evenly(0, msec, msec, 2), record.HTTPStatus, 500, string(rune('a'+i)))
		rec.Seq = seq
		f.Add(rec)
	}
	if got := summarize(t, f)[0].Failures; len(got) != 1 || got[0].Count != 3 || got[0].Example != "b" {
		t.Errorf("failures %+v", got)
	}
}

// The bounds of a mean gap are shared out by the tokens behind the first event, or by all but one.
func TestMeanTokenGapBounds(t *testing.T) {
	for _, c := range []struct {
		tokensIn     int64
		below, above time.Duration
	}{{3, 20 * msec, 40 * msec}, {1, 60 * msec, 120 * msec}, {0, 15 * msec, 30 * msec}} {
		r := &Request{Record: &record.Record{}, Tokens: 5, tokensIn: c.tokensIn}
		r.blur.first, r.blur.last = blur{10 * msec, 20 * msec}, blur{40 * msec, 110 * msec}
		if below, above := meanTokenGapBounds(r); time.Duration(below) != c.below || time.Duration(above) != c.above {
			t.Errorf("%d tokens: %v and %v, want %v and %v", c.tokensIn, time.Duration(below), time.Duration(above), c.below, c.above)
		}
	}
}
