package openai

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/endpoint/decodetest"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/token"
)

// TestCountsThatCannotBe: what a server says of the tokens of a stream is held against what
// came. What cannot be is noted, and the run's tokenizer counts in its place.
func TestCountsThatCannotBe(t *testing.T) {
	gpt2, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	words := func(n int, text string) (list []string) {
		for range n {
			list = append(list, chat(`{"content":"`+text+`"}`))
		}
		return list
	}
	says := func(usage int, events ...string) string {
		return data(append(events, length, usageChunk(usage), "[DONE]")...)
	}
	claimed := func(n, claimed int) record.Tokens {
		return record.Tokens{N: n, Source: record.FromTokenizer, Local: -1, Claimed: claimed}
	}
	hidden := `{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":500,"completion_tokens_details":{"reasoning_tokens":400,"audio_tokens":90,"accepted_prediction_tokens":9}}}`
	var letterwise []string
	for _, letter := range "the dog runs away" {
		letterwise = append(letterwise, words(1, string(letter))...)
	}
	middle := append(words(6, " the"), append([]string{chatUsage(`{"content":" the"}`, 7)}, words(5, " the")...)...)
	last := append(words(6, " the"), append([]string{chatUsage(`{"content":" the"}`, 12)}, words(5, " the")...)...)
	for _, c := range []struct {
		name, body string
		out        record.Tokens
	}{
		{"200 for five events of six bytes", says(200, words(5, "a")...), claimed(5, 200)},
		{"as many as events", says(12, words(12, " the")...), server(12)},
		{"one more, for the end", says(13, words(12, " the")...), record.Tokens{N: 13, Source: record.FromServer, Local: -1, Expected: 12}},
		{"0.6 of the events", says(7, words(12, " the")...), claimed(12, 7)},
		{"none", says(0, words(12, " the")...), claimed(12, 0)},
		{"tokens cut up on the way", says(4, letterwise...), record.Tokens{N: 4, Source: record.FromServer, Local: -1, Expected: 4}},
		{"three times the events", says(36, words(12, " the")...), record.Tokens{N: 36, Source: record.FromServer, Local: -1, Expected: 12}},
		{"three tokens in each event", says(36, words(12, " the dog runs")...), record.Tokens{N: 36, Source: record.FromServer, Local: -1, Expected: 36}},
		{"events counted as tokens", says(12, words(12, " the dog runs away")...), record.Tokens{N: 12, Source: record.FromServer, Local: -1, Expected: 48}},
		{"hidden, as the server says", data(append(words(5, " the"), length, hidden, "[DONE]")...), record.Tokens{N: 500, Source: record.FromServer, Local: -1, Expected: 495}},
		{"counted in the middle", data(append(middle, length, "[DONE]")...), claimed(12, 7)},
		{"all of it counted in the middle", data(append(last, length, "[DONE]")...), server(12)},
		{"nothing counted", data(append(words(12, " the"), length, "[DONE]")...), claimed(12, 0)},
		{"nothing counted, four tokens an event", data(append(words(5, " the dog runs away"), length, "[DONE]")...), claimed(20, 0)},
	} {
		rec := decodetest.Answered(c.body)
		NewDecoder(Chat, gpt2, false).Decode(rec)
		if rec.Out != c.out || rec.Failure != nil {
			t.Errorf("%s: %+v, want %+v (%v)", c.name, rec.Out, c.out, rec.Failure)
		}
	}
	rec := decodetest.Answered(says(36, words(12, " the")...))
	rec.Seq = 1 // of those that nothing speaks against, one in some is looked over
	NewDecoder(Chat, gpt2, false).Decode(rec)
	if rec.Out != server(36) {
		t.Errorf("not to be looked over: %+v", rec.Out)
	}
}

// TestStandInPerEvent: where the server does not count, the tokenizer says how many tokens
// each event has, at least one, and they add up.
func TestStandInPerEvent(t *testing.T) {
	gpt2, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		texts  []string
		tokens []int
	}{
		{"a token each", []string{"The", " dog"}, []int{1, 1}},
		{"four tokens each", []string{"The dog runs away", " from the other dog"}, []int{4, 4}},
		{"a token over events", []string{" unbel", "ievable", " dog"}, []int{1, 1, 1}},
		{"another's tokens", []string{"Straße", " über"}, []int{3, 3}},
	} {
		var list []string
		for _, text := range c.texts {
			list = append(list, chat(`{"content":"`+text+`"}`))
		}
		rec := decodetest.Answered(data(append(list, length)...))
		NewDecoder(Chat, gpt2, false).Decode(rec)
		got, sum := decodetest.Summarise(rec), 0
		for _, n := range got.Tokens {
			sum += n
		}
		if !slices.Equal(got.Tokens, c.tokens) || got.Out != (record.Tokens{N: sum, Source: record.FromTokenizer, Local: -1}) {
			t.Errorf("%s: %v, %+v", c.name, got.Tokens, got.Out)
		}
	}
}

// TestFoldedCounts: of a stream that is too long to keep, what is kept speaks for the rest.
func TestFoldedCounts(t *testing.T) {
	gpt2, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		usage      int
		out        record.Tokens
		each       int64 // tokens of each event of the tail
	}{
		{"counted", " the", 400, server(400), 1},
		{"0.6 of the events", " the", 240, record.Tokens{N: 400, Source: record.FromEvents, Local: -1, Claimed: 240}, 1},
		{"not counted", " the", -1, events(400), 1},
		{"not counted, four tokens an event", " the dog runs away", -1, record.Tokens{N: 1603, Source: record.FromTokenizer, Local: -1}, -1},
		{"far too many", " the", 9000, record.Tokens{N: 400, Source: record.FromEvents, Local: -1, Claimed: 9000}, 1},
	} {
		d := NewDecoder(Chat, gpt2, false)
		x := decodetest.Answered("")
		x.Marks = nil
		feed := func(event string) {
			x.Body = append(x.Body, event...)
			x.Marks = append(x.Marks, record.Read{Off: x.Folded + len(x.Body), Kernel: record.Never, User: 1})
			n := d.Advance(x, 2048)
			x.Body, x.Folded = x.Body[n:], x.Folded+n
		}
		for range 400 {
			feed(data(chat(`{"content":"` + c.text + `"}`)))
		}
		feed(data(length))
		if c.usage >= 0 {
			feed(data(usageChunk(c.usage)))
		}
		feed(data("[DONE]"))
		if d.Decode(x); x.Tail == nil || x.Out != c.out || x.Tail.Tokens != c.each || x.Failure != nil {
			t.Errorf("%s: %+v, %+v, %v", c.name, x.Out, x.Tail, x.Failure)
		}
	}
}

// TestPlainCounts: a target with plain counts believes its server, and the tokenizer counts
// the visible text of the first choice alone, of each event by itself.
func TestPlainCounts(t *testing.T) {
	gpt2, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	thinks := `{"choices":[{"index":0,"message":{"content":"the dog","reasoning_content":"so it is then"}},{"index":1,"message":{"content":" runs"}}],"usage":{"prompt_tokens":0,"completion_tokens":5000}}`
	for _, c := range []struct {
		name, body string
		kind       Kind
		out        record.Tokens
		events     []int
	}{
		{"a stream", data(chat(`{"reasoning_content":"so it is then"}`), chat(`{"content":"the d"}`), chat(`{"content":"og"}`), length, usageChunk(5000), "[DONE]"), Chat,
			record.Tokens{N: 5000, Source: record.FromServer, Local: 2}, []int{2, 1}},
		{"a stream that nobody counted", data(chat(`{"reasoning_content":"so it is then"}`), chat(`{"content":"the dog"}`), length, "[DONE]"), Chat,
			record.Tokens{N: 2, Source: record.FromTokenizer, Local: 2}, []int{2}},
		{"in one piece, with two choices", thinks, Chat, record.Tokens{N: 5000, Source: record.FromServer, Local: 3}, nil},
		{"a call of a session, with two choices", strings.Replace(thinks, "dog", "dog barks", 1), Chat, record.Tokens{N: 5000, Source: record.FromServer, Local: 9}, nil},
		{"a call of a session that thinks", data(chat(`{"reasoning_content":"so it is then"}`), chat(`{"content":"the dog"}`), length, "[DONE]"), Chat,
			record.Tokens{N: 7, Source: record.FromTokenizer, Local: 7}, []int{2}},
		{"a call of a session that thinks in between", data(chat(`{"content":"the"}`), chat(`{"reasoning_content":" so it is then"}`), chat(`{"content":" dog"}`), length, "[DONE]"), Chat,
			record.Tokens{N: 6, Source: record.FromTokenizer, Local: 6}, []int{1, 1}},
		{"a call that thinks, in one piece", strings.Replace(thinks, `,"usage":{"prompt_tokens":0,"completion_tokens":5000}`, "", 1), Chat,
			record.Tokens{N: 7, Source: record.FromTokenizer, Local: 7}, nil},
		{"a completion with two choices", `{"choices":[{"text":"the dog"},{"text":" runs"}]}`, Completions, record.Tokens{N: 2, Source: record.FromTokenizer, Local: 2}, nil},
	} {
		rec := decodetest.Answered(c.body)
		if strings.HasPrefix(c.name, "a call") {
			rec.Call = "1"
		}
		d := NewDecoder(c.kind, gpt2, true)
		d.count.Plain, d.count.Thoughts = true, true
		d.Decode(rec)
		var events []int
		for _, e := range rec.Events {
			if e.Label == record.Content {
				events = append(events, e.Tokens)
			}
		}
		if rec.Out != c.out || rec.Failure != nil || !slices.Equal(events, c.events) {
			t.Errorf("%s: %+v, events %v, want %+v, %v (%v)", c.name, rec.Out, events, c.out, c.events, rec.Failure)
		}
	}
}
