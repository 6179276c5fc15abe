package responses

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/endpoint/decodetest"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
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
	begin   = `{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","error":null,"output":[],"usage":null}}`
	going   = `{"type":"response.in_progress","response":{"id":"r","status":"in_progress","output":[]}}`
	opening = `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","role":"assistant","status":"in_progress","content":[]}}`
	message = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a b"}]}`
	calling = `{"type":"response.output_item.added","item":{"type":"function_call","call_id":"c","name":"f","arguments":""}}`
	called  = `{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a\":1}"}`
)

func says(kind, text string) string {
	v, _ := json.Marshal(text)
	return fmt.Sprintf(`{"type":"response.%s.delta","item_id":"m","output_index":0,"content_index":0,"delta":%s,"sequence_number":%d}`, kind, v, len(text))
}

func done(item string) string { return `{"type":"response.output_item.done","item":` + item + `}` }

func ends(kind, rest string, output int) string {
	return fmt.Sprintf(`{"type":"response.%s","response":{"status":"%s"%s,"output":[%s],"usage":{"input_tokens":7,"input_tokens_details":{"cached_tokens":4},`+
		`"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0}}}}`, kind, kind, rest, message, output)
}

const tooLong = `,"incomplete_details":{"reason":"max_output_tokens"}`

var (
	ownIn    = record.Tokens{N: 3, Source: record.FromTokenizer, Local: 3}
	serverIn = record.Tokens{N: 7, Source: record.FromServer, Local: 3}
)

func server(n int) record.Tokens { return record.Tokens{N: n, Source: record.FromServer, Local: -1} }
func events(n int) record.Tokens { return record.Tokens{N: n, Source: record.FromEvents, Local: -1} }

func TestResponses(t *testing.T) {
	const text, thought, arguments = "output_text", "reasoning_text", "function_call_arguments"
	for _, c := range []struct {
		name, body string
		want       decodetest.Decoded
	}{
		{"OpenAI", stream(begin, going, opening, says(text, "a"), says(text, " b"), `{"type":"response.output_text.done","text":"a b"}`, done(message), ends("completed", "", 2)),
			decodetest.Decoded{Labels: "role empty empty content content empty empty finish", Texts: []string{"a", " b"}, Tokens: []int{1, 1}, Finish: "stop", In: serverIn, Out: server(2), Cached: 4}},
		{"cut at a length", stream(begin, says(text, "a"), ends("incomplete", tooLong, 1)),
			decodetest.Decoded{Labels: "role content finish", Texts: []string{"a"}, Tokens: []int{1}, Finish: "length", In: serverIn, Out: server(1), Cached: 4}},
		{"as vLLM cuts it", stream(begin, says(text, "a"), strings.Replace(ends("incomplete", tooLong, 1), "response.incomplete", "response.completed", 1)),
			decodetest.Decoded{Labels: "role content finish", Texts: []string{"a"}, Tokens: []int{1}, Finish: "length", In: serverIn, Out: server(1), Cached: 4}},
		{"withheld", stream(says(text, "a"), ends("incomplete", `,"incomplete_details":{"reason":"content_filter"}`, 1)),
			decodetest.Decoded{Labels: "content finish", Texts: []string{"a"}, Tokens: []int{1}, Finish: "content_filter", In: serverIn, Out: server(1), Cached: 4}},
		{"reasoning", stream(begin, says(thought, "hm"), says("reasoning_summary_text", "so"), says(text, "yes"), ends("completed", "", 3)),
			decodetest.Decoded{Labels: "role reasoning reasoning content finish", Texts: []string{"hm", "so", "yes"}, Tokens: []int{1, 1, 1}, Finish: "stop", In: serverIn, Out: server(3), Cached: 4}},
		{"reasoning in brief", stream(says("reasoning_summary_text", "hm"), says(text, "yes"), strings.Replace(ends("completed", "", 2000), `"reasoning_tokens":0`, `"reasoning_tokens":1990`, 1)),
			decodetest.Decoded{Labels: "reasoning content finish", Texts: []string{"hm", "yes"}, Tokens: []int{-1, -1}, Finish: "stop", In: serverIn, Out: server(2000), Cached: 4}},
		{"a refusal", stream(says("refusal", "no"), ends("completed", "", 1)),
			decodetest.Decoded{Labels: "refusal finish", Texts: []string{"no"}, Tokens: []int{1}, Finish: "stop", In: serverIn, Out: server(1), Cached: 4}},
		{"a call", stream(begin, calling, says(arguments, `{"a":`), says(arguments, "1}"), done(called), ends("completed", "", 3)),
			decodetest.Decoded{Labels: "role tool_call tool_call tool_call empty finish", Texts: []string{"f", `{"a":`, "1}"}, Tokens: []int{1, 1, 1}, Finish: "tool_calls", In: serverIn, Out: server(3), Cached: 4}},
		{"a call without pieces", stream(calling, done(called), ends("completed", "", 9)),
			decodetest.Decoded{Labels: "tool_call tool_call finish", Texts: []string{"f", `{"a":1}`}, Tokens: []int{-1, -1}, Finish: "tool_calls", In: serverIn, Out: server(9), Cached: 4}},
		{"items without pieces", stream(done(called), done(message), ends("completed", "", 9)),
			decodetest.Decoded{Labels: "tool_call content finish", Texts: []string{`f{"a":1}`, "a b"}, Tokens: []int{-1, -1}, Finish: "tool_calls", In: serverIn, Out: server(9), Cached: 4}},
		{"all of it at the end", stream(begin, ends("completed", "", 2)),
			decodetest.Decoded{Labels: "role content", Texts: []string{"a b"}, Tokens: []int{-1}, Finish: "stop", In: serverIn, Out: server(2), Cached: 4}},
		{"no types of events", "data: " + says(text, "a") + "\n\ndata: " + says(text, "é\"\n") + "\n\ndata: " + ends("completed", "", 2) + "\n\ndata: [DONE]\n\n",
			decodetest.Decoded{Labels: "content content finish done", Texts: []string{"a", "é\"\n"}, Tokens: []int{1, 1}, Finish: "stop", In: serverIn, Out: server(2), Cached: 4}},
		{"an empty piece", stream(says(text, "a"), says(text, ""), ends("completed", "", 2)),
			decodetest.Decoded{Labels: "content empty finish", Texts: []string{"a"}, Tokens: []int{1}, Finish: "stop", In: serverIn, Out: server(2), Cached: 4}},
		{"failed", stream(begin, says(text, "a"), `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"boom"},"output":[],"usage":null}}`),
			decodetest.Decoded{Labels: "role content error", Texts: []string{"a"}, Tokens: []int{1}, Finish: "failed", In: ownIn, Out: events(1), Cached: -1, Failure: "stream_error: boom"}},
		{"an error", stream(says(text, "a"), `{"type":"error","code":"x","message":"boom","param":null}`),
			decodetest.Decoded{Labels: "content error", Texts: []string{"a"}, Tokens: []int{1}, In: ownIn, Out: events(1), Cached: -1, Failure: "stream_error: boom"}},
		{"an error of a chat", "data: {\"error\":{\"message\":\"boom\"}}\n\n",
			decodetest.Decoded{Labels: "error", In: ownIn, Out: events(0), Cached: -1, Failure: "stream_error: boom"}},
		{"an error of FastAPI", "data: {\"detail\":\"gone\"}\n\n",
			decodetest.Decoded{Labels: "error", In: ownIn, Out: events(0), Cached: -1, Failure: "stream_error: gone"}},
		{"ends early", stream(begin, says(text, "a")),
			decodetest.Decoded{Labels: "role content", Texts: []string{"a"}, Tokens: []int{1}, In: ownIn, Out: events(1), Cached: -1, Failure: "truncated: the stream ends after 2 events without response.completed"}},
		{"[DONE] is no end", stream(says(text, "a")) + "data: [DONE]\n\n",
			decodetest.Decoded{Labels: "content done", Texts: []string{"a"}, Tokens: []int{1}, In: ownIn, Out: events(1), Cached: -1, Failure: "truncated: the stream ends after 2 events without response.completed"}},
		{"cancelled", stream(says(text, "a"), ends("cancelled", "", 1)),
			decodetest.Decoded{Labels: "content finish", Texts: []string{"a"}, Tokens: []int{1}, Finish: "cancelled", In: serverIn, Out: server(1), Cached: 4, Failure: `aborted: the server ended the response with finish reason "cancelled"`}},
		{"a chat", "data: {\"choices\":[]}\n\n",
			decodetest.Decoded{Labels: "unknown", In: ownIn, Out: record.Tokens{Local: -1}, Cached: -1, Failure: `bad_body: the response is neither JSON nor a stream of response events: {"choices":[]}`}},
		{"broken", stream(begin) + "event: response.output_text.delta\ndata: {]\n\n",
			decodetest.Decoded{Labels: "role unknown", In: ownIn, Out: events(0), Cached: -1, Failure: fmt.Sprintf("bad_body: event 2, at byte %d of the response, is not JSON: byte 1: expected a string", len(stream(begin)))}},

		{"one piece", `{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm "}]},` +
			message + `],"usage":{"input_tokens":7,"output_tokens":3,"output_tokens_details":{"reasoning_tokens":1}}}`,
			decodetest.Decoded{Labels: "whole", Texts: []string{"hm a b"}, Tokens: []int{3}, Finish: "length", In: serverIn, Out: server(3), Cached: -1}},
		{"one piece with a call, not counted", `{"object":"response","status":"completed","output":[` + called + `]}`,
			decodetest.Decoded{Labels: "whole", Texts: []string{`f{"a":1}`}, Tokens: []int{1}, Finish: "tool_calls", In: ownIn, Out: record.Tokens{N: 1, Source: record.FromTokenizer, Local: -1}, Cached: -1}},
		{"failed in one piece", `{"object":"response","status":"failed","error":{"message":"boom"},"output":[]}`,
			decodetest.Decoded{Labels: "error", In: ownIn, Out: record.Tokens{Local: -1}, Cached: -1, Failure: "stream_error: boom"}},
		{"no output", `{"choices":[]}`,
			decodetest.Decoded{In: ownIn, Out: record.Tokens{Local: -1}, Cached: -1, Failure: `bad_body: the response has no output: {"choices":[]}`}},
		{"a page", "<title>x</title>",
			decodetest.Decoded{In: ownIn, Out: record.Tokens{Local: -1}, Cached: -1, Failure: "bad_body: the response is neither JSON nor a stream of events: HTML page: x"}},
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

func TestReply(t *testing.T) {
	calls := []prompt.ToolCall{{ID: "c", Name: "f", Arguments: `{"a":1}`}}
	const thought = `{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}`
	for name, tt := range map[string]struct {
		body string
		want prompt.Response
	}{
		"one piece":          {`{"output":[` + thought + `,` + message + `,` + called + `]}`, prompt.Response{Text: "a b", Reasoning: "hm", ToolCalls: calls}},
		"items":              {stream(begin, done(`{"type":"reasoning","content":[{"text":"x"}]}`), done(called), done(message), ends("completed", "", 1)), prompt.Response{Text: "a b", Reasoning: "x", ToolCalls: calls}},
		"at the end":         {stream(begin, ends("completed", "", 1)), prompt.Response{Text: "a b"}},
		"nothing":            {stream(begin), prompt.Response{Empty: true}},
		"no types of events": {"data: " + done(message) + "\n\n", prompt.Response{Text: "a b"}},
	} {
		if got := NewDecoder(nil, false).Reply(&record.Record{Body: []byte(tt.body)}); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, tt.want)
		}
	}
}
