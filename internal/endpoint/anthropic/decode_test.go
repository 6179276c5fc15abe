package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/endpoint/decodetest"
	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// stream frames events by the type that they have.
func stream(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		var head struct{ Type string }
		_ = json.Unmarshal([]byte(e), &head)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", head.Type, e)
	}
	return b.String()
}

const (
	begin   = `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":7,"output_tokens":1}}}`
	text0   = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	close0  = `{"type":"content_block_stop","index":0}`
	pinging = `{"type":"ping"}`
	stopped = `{"type":"message_stop"}`
)

func delta(kind, field, value string) string {
	v, _ := json.Marshal(value)
	return fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"%s","%s":%s}}`, kind, field, v)
}

func says(value string) string { return delta("text_delta", "text", value) }

func ends(reason string, output int) string {
	return fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":"%s","stop_sequence":null},"usage":{"output_tokens":%d}}`, reason, output)
}

var (
	ownIn    = record.Tokens{N: 3, Source: record.FromTokenizer, Local: 3}
	serverIn = record.Tokens{N: 7, Source: record.FromServer, Local: 3}
)

func server(n int) record.Tokens { return record.Tokens{N: n, Source: record.FromServer, Local: -1} }
func events(n int) record.Tokens { return record.Tokens{N: n, Source: record.FromEvents, Local: -1} }

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       decodetest.Decoded
	}{
		{"Anthropic", stream(begin, text0, pinging, says("Hel"), says("lo"), close0, ends("max_tokens", 2), stopped),
			decodetest.Decoded{Labels: "role empty comment content content empty finish done", Texts: []string{"Hel", "lo"}, Tokens: []int{1, 1}, Finish: "length", In: serverIn, Out: server(2), Cached: -1}},
		{"the stop token is counted", stream(begin, text0, says("a"), says("b"), close0, ends("end_turn", 3), stopped),
			decodetest.Decoded{Labels: "role empty content content empty finish done", Texts: []string{"a", "b"}, Tokens: []int{1, 1}, Finish: "stop", In: serverIn, Out: server(3), Cached: -1}},
		{"several tokens in an event", stream(begin, text0, says("a b c"), says("d"), close0, ends("end_turn", 9), stopped),
			decodetest.Decoded{Labels: "role empty content content empty finish done", Texts: []string{"a b c", "d"}, Tokens: []int{-1, -1}, Finish: "stop", In: serverIn, Out: server(9), Cached: -1}},
		{"thinking", stream(begin, delta("thinking_delta", "thinking", "hm"), delta("signature_delta", "signature", "xx"), says("yes"), ends("stop_sequence", 2), stopped),
			decodetest.Decoded{Labels: "role reasoning empty content finish done", Texts: []string{"hm", "yes"}, Tokens: []int{1, 1}, Finish: "stop", In: serverIn, Out: server(2), Cached: -1}},
		{"thinking in brief", stream(begin, delta("thinking_delta", "thinking", "hm"), delta("signature_delta", "signature", "xx"), says("yes"), ends("end_turn", 2000), stopped),
			decodetest.Decoded{Labels: "role reasoning empty content finish done", Texts: []string{"hm", "yes"}, Tokens: []int{-1, -1}, Finish: "stop", In: serverIn, Out: server(2000), Cached: -1}},
		{"more than there can be", stream(begin, delta("thinking_delta", "thinking", "hm"), says("yes"), ends("end_turn", 2000), stopped),
			decodetest.Decoded{Labels: "role reasoning content finish done", Texts: []string{"hm", "yes"}, Tokens: []int{1, 1}, Finish: "stop", In: serverIn, Out: record.Tokens{N: 2, Source: record.FromEvents, Local: -1, Claimed: 2000}, Cached: -1}},
		{"tool", stream(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}`,
			delta("input_json_delta", "partial_json", ""), delta("input_json_delta", "partial_json", `{"a":`), delta("input_json_delta", "partial_json", `1}`), close0, ends("tool_use", 3), stopped),
			decodetest.Decoded{Labels: "role tool_call empty tool_call tool_call empty finish done", Texts: []string{"f", `{"a":`, "1}"}, Tokens: []int{1, 1, 1}, Finish: "tool_calls", In: serverIn, Out: server(3), Cached: -1}},
		{"cache", stream(`{"type":"message_start","message":{"usage":{"input_tokens":2,"cache_read_input_tokens":4,"cache_creation_input_tokens":1,"output_tokens":1}}}`, says("a"), ends("end_turn", 1), stopped),
			decodetest.Decoded{Labels: "role content finish done", Texts: []string{"a"}, Tokens: []int{1}, Finish: "stop", In: serverIn, Out: server(1), Cached: 4}},
		{"counts at the end win", stream(begin, says("a"), `{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"input_tokens":7,"output_tokens":1}}`),
			decodetest.Decoded{Labels: "role content finish", Texts: []string{"a"}, Tokens: []int{1}, Finish: "content_filter", In: serverIn, Out: server(1), Cached: -1}},
		{"no types, no counts", "data: " + says("a") + "\n\ndata: " + says("é\"\n") + "\n\ndata: [DONE]\n\n",
			decodetest.Decoded{Labels: "content content done", Texts: []string{"a", "é\"\n"}, Tokens: []int{1, 1}, In: ownIn, Out: events(2), Cached: -1}},
		{"type of the event alone", "event: content_block_delta\ndata: {\"delta\":{\"text\":\"a\"}}\n\nevent: message_stop\ndata: {}\n\n",
			decodetest.Decoded{Labels: "content done", Texts: []string{"a"}, Tokens: []int{1}, In: ownIn, Out: events(1), Cached: -1}},
		{"CR LF and comments", strings.ReplaceAll(": hello\n\n"+stream(begin, says("a"), ends("end_turn", 1)), "\n", "\r\n"),
			decodetest.Decoded{Labels: "comment role content finish", Texts: []string{"a"}, Tokens: []int{1}, Finish: "stop", In: serverIn, Out: server(1), Cached: -1}},
		{"one piece", `{"id":"m","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm ","signature":"x"},{"type":"text","text":"all of it"}],"stop_reason":"end_turn","usage":{"input_tokens":7,"output_tokens":4}}`,
			decodetest.Decoded{Labels: "whole", Texts: []string{"hm all of it"}, Tokens: []int{4}, Finish: "stop", In: serverIn, Out: server(4), Cached: -1}},
		{"one piece with a tool, not counted", `{"type":"message","content":[{"type":"tool_use","id":"t","name":"f","input":{"a": [1]}}],"stop_reason":"tool_use"}`,
			decodetest.Decoded{Labels: "whole", Texts: []string{`f{"a": [1]}`}, Tokens: []int{2}, Finish: "tool_calls", In: ownIn, Out: record.Tokens{N: 2, Source: record.FromTokenizer, Local: -1}, Cached: -1}},

		{"error in a stream", stream(begin, says("a"), `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
			decodetest.Decoded{Labels: "role content error", Texts: []string{"a"}, Tokens: []int{1}, In: serverIn, Out: events(1), Cached: -1, Failure: "stream_error: Overloaded"}},
		{"error without a type of event", "data: {\"error\":{\"message\":\"boom\"}}\n\n",
			decodetest.Decoded{Labels: "error", In: ownIn, Out: events(0), Cached: -1, Failure: "stream_error: boom"}},
		{"an error of FastAPI", stream(begin, says("a")) + "data: {\"detail\":\"gone\"}\n\n" + stream(stopped),
			decodetest.Decoded{Labels: "role content error done", Texts: []string{"a"}, Tokens: []int{1}, In: serverIn, Out: events(1), Cached: -1, Failure: "stream_error: gone"}},
		{"aborted", stream(begin, says("a"), ends("abort", 1), stopped),
			decodetest.Decoded{Labels: "role content finish done", Texts: []string{"a"}, Tokens: []int{1}, Finish: "abort", In: serverIn, Out: server(1), Cached: -1, Failure: `aborted: the server ended the response with finish reason "abort"`}},
		{"aborted in one piece", `{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":"error","usage":{"input_tokens":7,"output_tokens":1}}`,
			decodetest.Decoded{Labels: "whole", Texts: []string{"a"}, Tokens: []int{1}, Finish: "error", In: serverIn, Out: server(1), Cached: -1, Failure: `aborted: the server ended the response with finish reason "error"`}},
		{"error in one piece", `{"type":"error","error":{"type":"api_error","message":"no"}}`,
			decodetest.Decoded{Labels: "error", In: ownIn, Out: record.Tokens{Local: -1}, Cached: -1, Failure: "stream_error: no"}},
		{"ends early", stream(begin, text0, says("a")),
			decodetest.Decoded{Labels: "role empty content", Texts: []string{"a"}, Tokens: []int{1}, In: serverIn, Out: events(1), Cached: -1, Failure: "truncated: the stream ends after 3 events without a stop reason or message_stop"}},
		{"ends in an event", stream(begin) + `data: {"type":"content_bl`,
			decodetest.Decoded{Labels: "role unknown", In: serverIn, Out: events(0), Cached: -1, Failure: "truncated: the response ends in the middle of event 2"}},
		{"broken JSON", stream(begin) + "data: {]\n\n" + stream(stopped),
			decodetest.Decoded{Labels: "role unknown done", In: serverIn, Out: events(0), Cached: -1, Failure: fmt.Sprintf("bad_body: event 2, at byte %d of the response, is not JSON: byte 1: expected a string", len(stream(begin)))}},
		{"no events of ours", "hello\n\n",
			decodetest.Decoded{Labels: "unknown", In: ownIn, Out: record.Tokens{Local: -1}, Cached: -1, Failure: "bad_body: the response is neither JSON nor a stream of message events: hello"}},
		{"a page", "<html><title>Welcome</title></html>",
			decodetest.Decoded{In: ownIn, Out: record.Tokens{Local: -1}, Cached: -1, Failure: "bad_body: the response is neither JSON nor a stream of events: HTML page: Welcome"}},
		{"another JSON", `{"choices":[]}`,
			decodetest.Decoded{In: ownIn, Out: record.Tokens{Local: -1}, Cached: -1, Failure: `bad_body: the response has no content: {"choices":[]}`}},
		{"nothing", "",
			decodetest.Decoded{In: ownIn, Out: record.Tokens{Local: -1}, Cached: -1, Failure: "bad_body: the response is empty"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := decodetest.Answered(c.body)
			NewDecoder(decodetest.Words{}, false).Decode(rec)
			if diff := cmp.Diff(c.want, decodetest.Summarise(rec)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRefusedAndOwnTokenizer(t *testing.T) {
	rec := decodetest.Answered(`{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`)
	rec.Status = 429
	NewDecoder(nil, false).Decode(rec)
	if f := rec.Failure; f == nil || f.Class != record.HTTPStatus || f.Message != "slow down" {
		t.Errorf("failure %+v", f)
	}
	rec = decodetest.Answered(stream(begin, says("a b"), says(" c"), ends("end_turn", 3), stopped))
	NewDecoder(decodetest.Words{}, true).Decode(rec)
	if rec.Out != (record.Tokens{N: 3, Source: record.FromServer, Local: 3}) {
		t.Errorf("out %+v", rec.Out)
	}
}

// A message that breaks off has no count of its own but that of its beginning, which a plain
// client takes for that of all.
func TestCountOfABrokenMessage(t *testing.T) {
	for _, c := range []struct {
		plain bool
		want  int
	}{{false, 3}, {true, 1}} {
		rec := decodetest.Answered(stream(begin, says("a b"), says(" c"), `{"type":"error","error":{"type":"overloaded_error","message":"no"}}`))
		d := NewDecoder(decodetest.Words{}, true)
		d.count.Plain = c.plain
		d.Decode(rec)
		if rec.Out.N != c.want {
			t.Errorf("plain %v: %+v, want %d", c.plain, rec.Out, c.want)
		}
	}
}

// FuzzStream compares the decoder, shortcut and all, with a plain reading of each
// event, and lets any bytes through it with reads cut anywhere.
func FuzzStream(f *testing.F) {
	f.Add([]byte(stream(begin, text0, pinging, says("a"), says("b\n"), says(""), says(`c"`), close0, ends("end_turn", 3), stopped)), 7)
	f.Add([]byte(stream(delta("thinking_delta", "thinking", "hm"), delta("input_json_delta", "partial_json", "{"), `{"type":"content_block_delta","delta":{"text":"x","text":"y"}}`)), 3)
	f.Add([]byte(stream(begin, `{"detail":"x"}`, `{"detail":"x","type":"ping"}`, ends("abort", 2))), 5)
	f.Add([]byte(`{"type":"message","content":[{"name":"f","input":{"a":1}}]}`), 1)
	mutate.Fuzz(f, func(t *testing.T, body []byte, step int) {
		rec := decodetest.Answered(string(body))
		rec.Marks = nil
		for off := 0; off < len(body); {
			off += max(1, step%97)
			rec.Marks = append(rec.Marks, record.Read{Off: min(off, len(body))})
		}
		NewDecoder(decodetest.Words{}, true).Decode(rec)
		sum, last := 0, 0
		for _, e := range rec.Events {
			if e.Mark < last || e.Mark >= len(rec.Marks) || e.Text < 0 || e.Tokens < -1 {
				t.Fatalf("event %+v of %d reads", e, len(rec.Marks))
			}
			last = e.Mark
			sum += e.Text
		}
		if sum != len(rec.Text) {
			t.Fatalf("events have %d bytes of text, the record %d", sum, len(rec.Text))
		}
		first := bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n")
		if len(first) == 0 || first[0] == '{' || first[0] == '<' {
			return
		}
		var scan sse.Scanner
		scan.Reset(body)
		var e sse.Event
		for i, text := 0, rec.Text; scan.Next(&e); i++ {
			got := rec.Events[i]
			own := text[:got.Text]
			text = text[got.Text:]
			var plain event
			if !e.HasData || string(e.Type) == "error" || plain.parse(e.Data) != nil || plain.kind == failure {
				continue
			}
			if !bytes.Equal(plain.Text, own) {
				t.Fatalf("event %d, %q: text %q, want %q", i, e.Data, own, plain.Text)
			}
		}
	})
}
