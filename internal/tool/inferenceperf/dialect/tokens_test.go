package dialect

import (
	"math"
	"testing"

	"github.com/inferometer/inferometer/internal/record"
)

// A response in a single event has a time to first token in the original where its tokenizer
// finds two tokens in it, whatever the server counts.
// differs: ip-one-token
func TestSingleEvent(t *testing.T) {
	for _, c := range []struct {
		faithful, tokenizer bool
		local               int
		first               int64
		gaps                int64
	}{
		{false, true, 1, 1, 0}, {false, true, 2, 1, 0},
		{true, true, 1, 0, 0}, {true, true, 3, 1, 2},
		{true, false, 3, 0, 0}, {true, true, -1, 0, 0},
	} {
		o := options(t)
		o.Faithful, o.Tokenizer = c.faithful, c.tokenizer
		rec := streamed(0, 0, 100*ms)
		rec.Out.Local = c.local
		s := summary(t, o, rec)
		if count(s.TTFT) != c.first || count(s.ITL) != c.gaps {
			t.Errorf("%+v: %d times to first token, %d between tokens", c, count(s.TTFT), count(s.ITL))
		}
	}
}

// count is how many samples a distribution has.
func count(d *Dist) int64 {
	if d == nil {
		return 0
	}
	return d.N
}

// In the original, streams of the messages API have no token times.
// differs: ip-anthropic-stream
func TestMessagesAreNotTimed(t *testing.T) {
	for _, faithful := range []bool{false, true} {
		o := options(t)
		o.Faithful, o.Tokenizer, o.Anthropic = faithful, true, true
		rec := streamed(0, 0, 100*ms, 200*ms)
		rec.Out = record.Tokens{N: 7, Source: record.FromServer, Local: 7}
		if s := summary(t, o, rec); (s.TTFT == nil) != faithful || s.Mismatches != 0 || mean(s.Client) != 7 {
			t.Errorf("faithful %v: time to first token %+v, %d mismatches", faithful, s.TTFT, s.Mismatches)
		}
	}
}

// differs: ip-mismatches
func TestTokenCounts(t *testing.T) {
	rec := streamed(0, 0, 100*ms, 200*ms)
	rec.Out = record.Tokens{N: 2, Source: record.FromServer, Local: 4}
	rec.Cached = 6
	for _, c := range []struct {
		server bool
		want   float64
	}{{false, 0.2 / 4}, {true, 0.2 / 2}} {
		o := options(t)
		o.ServerTokens = c.server
		s := summary(t, o, rec)
		if math.Abs(mean(s.NTPOT)-c.want) > 1e-9 {
			t.Errorf("server %v: ntpot %v, want %v", c.server, mean(s.NTPOT), c.want)
		}
		if s.Mismatches != 1 || mean(s.Client) != 4 || mean(s.Server) != 2 || s.Prompt.Cached != 6 || s.ClientOut != 0 {
			t.Errorf("server %v: %+v", c.server, s)
		}
	}
	// In the original, responses in one piece never differ.
	rec.Streamed = false
	o := options(t)
	if s := summary(t, o, rec); s.Mismatches != 1 {
		t.Errorf("in one piece: %d mismatches", s.Mismatches)
	}
	o.Faithful = true
	if s := summary(t, o, rec); s.Mismatches != 0 {
		t.Errorf("faithful, in one piece: %d mismatches", s.Mismatches)
	}
}
