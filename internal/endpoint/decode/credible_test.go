package decode

import (
	"math"
	"testing"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/record"
)

// TestCount: what is no number of tokens is none, and one that is too large stays so.
func TestCount(t *testing.T) {
	for text, want := range map[string]int{
		`0`: 0, `12`: 12, `12.0`: 12, `1e3`: 1000, `134217728`: mostTokens,
		`-1`: -1, `-9223372036854775808`: -1, `-1e400`: -1, `1.5`: -1, `"12"`: -1, `null`: -1, `true`: -1, `[3]`: -1, `{}`: -1,
		`9223372036854775807`: tooMany, `9223372036854775808`: tooMany, `99999999999999999999999999`: tooMany, `1e18`: tooMany, `1e400`: tooMany,
	} {
		var s jsonscan.Scanner
		s.Reset([]byte(text))
		if got := Count(&s); got != want || s.Err() != nil || !s.End() {
			t.Errorf("Count(%s) = %d, want %d (%v)", text, got, want, s.Err())
		}
	}
}

func TestCredible(t *testing.T) {
	for _, tt := range []struct {
		name             string
		text, events     int // bytes; events without text
		asked, n, hidden int
		want             int
	}{
		{"not said", 100, 20, 0, -1, -1, -1},
		{"none, where there is text", 100, 20, 0, 0, -1, -1},
		{"none, where there is none", 0, 2, 0, 0, -1, 0},
		{"a token for four bytes", 100, 20, 0, 25, -1, 25},
		{"a token for a byte", 100, 20, 0, 100, -1, 100},
		{"stop token after one byte", 1, 1, 0, 3, -1, 3},
		{"5,000 in 15 bytes", 15, 5, 0, 5000, -1, -1},
		{"events without text", 0, 64, 0, 64, -1, 64},
		{"as many as were asked for", 6, 5, 200, 200, -1, -1},
		{"asked for, and hidden as the server says", 15, 5, 5000, 5000, 4980, 5000},
		{"hidden, as the server says", 15, 5, 0, 5000, 4980, 5000},
		{"hidden, but not so many", 15, 5, 0, 5000, 4000, -1},
		{"hidden, nobody says how many", 15, 5, 0, 5000, AnyHidden, 5000},
		{"the largest number", 15, 5, 0, math.MaxInt64, -1, -1},
		{"the largest number, all of it hidden", 15, 5, 0, tooMany, tooMany, -1},
		{"the largest number, asked for", 15, 5, math.MaxInt64 - 2*unseen, math.MaxInt64, -1, -1},
	} {
		rec := &record.Record{Text: make([]byte, tt.text), Events: make([]record.Event, tt.events), RequestedTokens: tt.asked}
		got := PlausibleCount(rec, tt.n, tt.hidden)
		if got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
		if claimed := rec.Out.Claimed; (claimed != 0) != (tt.n > 0 && got < 0) {
			t.Errorf("%s: claimed %d", tt.name, claimed)
		}
	}
}

// TestPrompt: a prompt's count that cannot be leaves what this side has counted.
func TestPrompt(t *testing.T) {
	counted := func(n int) record.Tokens { return record.Tokens{N: n, Source: record.FromTokenizer, Local: n} }
	says := func(n, local int) record.Tokens { return record.Tokens{N: n, Source: record.FromServer, Local: local} }
	claims := func(n, claimed int) record.Tokens {
		return record.Tokens{N: n, Source: record.FromTokenizer, Local: n, Claimed: claimed}
	}
	for _, tt := range []struct {
		name     string
		local, n int
		size     int
		media    bool
		want     record.Tokens
	}{
		{"not said", 12, -1, 300, false, counted(12)},
		{"nothing said", 12, 0, 300, false, counted(12)},
		{"alike", 12, 13, 300, false, says(13, 12)},
		{"with a system prompt", 12, 3000, 300, false, says(3000, 12)},
		{"the largest number", 12, tooMany, 0, false, claims(12, tooMany)},
		{"100,000 for 8", 8, 100_000, 300, false, claims(8, 100_000)},
		{"no size", 8, 100_000, 0, false, says(100_000, 8)},
		{"of images", 8, 100_000, 300, true, says(100_000, -1)},
		{"a million of images", 8, 1_000_000, 300, true, record.Tokens{N: 8, Source: record.FromTokenizer, Local: -1, Claimed: 1_000_000}},
		{"a script that GPT-2 does not know", 3000, 400, 3500, false, says(400, 3000)},
		{"far too few", 3000, 3, 3500, false, claims(3000, 3)},
		{"not counted here", -1, 3, 3500, false, says(3, -1)},
	} {
		x := &record.Exchange{Record: record.Record{In: counted(tt.local), Size: tt.size}, Media: tt.media}
		if Prompt(x, tt.n); x.In != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, x.In, tt.want)
		}
	}
}

// TestSums: counts so far that come to more than the total are no counts. They would be
// spread over the gaps, one sample for each token.
func TestSums(t *testing.T) {
	events := func() []record.Event { return []record.Event{{Tokens: 1}, {Tokens: 2}, {Tokens: 1 << 39}} }
	for _, total := range []int{3, 1 << 39} {
		rec := &record.Record{Events: events(), Text: make([]byte, 12), Out: record.Tokens{Local: -1}}
		Counter{}.Stream(rec, Stream{Total: total, Tokens: 3, Sums: true, Events: true})
		for _, e := range rec.Events {
			if e.Tokens > 3 {
				t.Errorf("total %d: an event of %d tokens", total, e.Tokens)
			}
		}
		if rec.Out.N != 3 {
			t.Errorf("total %d: %+v", total, rec.Out)
		}
	}
}
