package openai

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/inferometer/inferometer/internal/endpoint/decodetest"
	"github.com/inferometer/inferometer/internal/record"
)

// letters is a tokenizer for tests: each n letters are a token.
type letters int

func (n letters) Name() string          { return fmt.Sprintf("letters-%d", int(n)) }
func (n letters) Count(text string) int { return (len(text) + int(n) - 1) / int(n) }

func (n letters) Cut(text string, k int) (int, bool) {
	return min(k*int(n), len(text)), k <= n.Count(text)
}

func (n letters) Ends(dst []int, text string) []int {
	for end := int(n); end-int(n) < len(text); end += int(n) {
		dst = append(dst, min(end, len(text)))
	}
	return dst
}

func data(events ...string) string {
	return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"
}

func chat(delta string) string {
	return `{"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"logprobs":null,"finish_reason":null}]}`
}

func chatUsage(delta string, n int) string {
	return strings.TrimSuffix(chat(delta), "}") + fmt.Sprintf(`,"usage":{"prompt_tokens":7,"completion_tokens":%d,"total_tokens":%d}}`, n, 7+n)
}

const (
	stop   = `{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}]}`
	length = `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`
	role   = `{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`
)

func usageChunk(n int) string {
	return fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":4}}}`, n)
}

var (
	ownIn    = record.Tokens{N: 3, Source: record.FromTokenizer, Local: 3}
	serverIn = record.Tokens{N: 7, Source: record.FromServer, Local: 3}
)

func server(n int) record.Tokens { return record.Tokens{N: n, Source: record.FromServer, Local: -1} }
func events(n int) record.Tokens { return record.Tokens{N: n, Source: record.FromEvents, Local: -1} }

// streamCases are answers as servers give them.
var streamCases = []struct {
	name, body string
	want       decodetest.Decoded
}{
	{
		"vLLM", data(chat(`{"role":"assistant","content":""}`), chat(`{"content":"Hel"}`), chat(`{"content":"lo"}`), length, usageChunk(2), "[DONE]"),
		decodetest.Decoded{Labels: "role content content finish usage done", Texts: []string{"Hel", "lo"}, Tokens: []int{1, 1}, Finish: "length", In: serverIn, Out: server(2), Cached: 4},
	}, {
		"vLLM counts the stop token", data(role, chat(`{"content":"a"}`), chat(`{"content":"b"}`), stop, usageChunk(3), "[DONE]"),
		decodetest.Decoded{Labels: "role content content finish usage done", Texts: []string{"a", "b"}, Tokens: []int{1, 1}, Finish: "stop", In: serverIn, Out: server(3), Cached: 4},
	}, {
		"an event for half a character", data(role, chat(`{"content":""}`), chat(`{"content":"é"}`), length, usageChunk(2), "[DONE]"),
		decodetest.Decoded{Labels: "role empty content finish usage done", Texts: []string{"é"}, Tokens: []int{1}, Finish: "length", In: serverIn, Out: server(2), Cached: 4},
	}, {
		"vLLM with usage in each chunk", data(chatUsage(`{"role":"assistant","content":""}`, 0), chatUsage(`{"content":"a"}`, 1), chatUsage(`{"content":"bcd"}`, 4), chatUsage(`{"content":""}`, 5), chatUsage(`{"content":"ef"}`, 6), stop, usageChunk(7), "[DONE]"),
		decodetest.Decoded{Labels: "role content content empty content finish usage done", Texts: []string{"a", "bcd", "ef"}, Tokens: []int{1, 3, 2}, Finish: "stop", In: serverIn, Out: server(7), Cached: 4},
	}, {
		"usage in each chunk that does not grow", data(chatUsage(`{"content":"a"}`, 9), chatUsage(`{"content":"b"}`, 9), length),
		decodetest.Decoded{Labels: "content content finish", Texts: []string{"a", "b"}, Tokens: []int{-1, -1}, Finish: "length", In: serverIn, Out: server(9), Cached: -1},
	}, {
		"transformers serve", data(`{"id":"f7","choices":[{"delta":{"role":"assistant"},"index":0}],"created":17,"model":"m","object":"chat.completion.chunk","system_fingerprint":""}`,
			`{"id":"f7","choices":[{"delta":{"content":"get"},"index":0}],"created":17,"model":"m","object":"chat.completion.chunk","system_fingerprint":""}`,
			`{"id":"f7","choices":[{"delta":{},"index":0,"finish_reason":"length"}],"created":17,"model":"m","object":"chat.completion.chunk","system_fingerprint":"","usage":{"completion_tokens":1,"prompt_tokens":7,"total_tokens":8}}`),
		decodetest.Decoded{Labels: "role content finish", Texts: []string{"get"}, Tokens: []int{1}, Finish: "length", In: serverIn, Out: server(1), Cached: -1},
	}, {
		"completions", data(`{"choices":[{"index":0,"text":" a\\"}]}`, `{"choices":[{"index":0,"text":" b"}]}`, `{"choices":[{"finish_reason":"length","index":0,"text":""}],"usage":{"completion_tokens":2,"prompt_tokens":7}}`),
		decodetest.Decoded{Labels: "content content finish", Texts: []string{` a\`, " b"}, Tokens: []int{1, 1}, Finish: "length", In: serverIn, Out: server(2), Cached: -1},
	}, {
		"TGI: role in every chunk, no space, finish with the last text", "data:" + chat(`{"role":"assistant","content":"a"}`) + "\n\ndata:" +
			`{"choices":[{"delta":{"role":"assistant","content":"b"},"finish_reason":"length","index":0}]}` + "\n\ndata: [DONE]\n\n",
		decodetest.Decoded{Labels: "content content done", Texts: []string{"a", "b"}, Tokens: []int{1, 1}, Finish: "length", In: ownIn, Out: events(2), Cached: -1},
	}, {
		"llama.cpp", data(chat(`{"role":"assistant","content":null}`), chat(`{"content":"x"}`), `{"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"usage":{"completion_tokens":1,"prompt_tokens":7,"total_tokens":8},"timings":{"predicted_ms":12.5}}`, "[DONE]"),
		decodetest.Decoded{Labels: "role content finish done", Texts: []string{"x"}, Tokens: []int{1}, Finish: "stop", In: serverIn, Out: server(1), Cached: -1},
	}, {
		"reasoning first", data(role, chat(`{"reasoning_content":"hm"}`), chat(`{"reasoning":"so"}`), chat(`{"content":"yes","reasoning_content":null}`), length),
		decodetest.Decoded{Labels: "role reasoning reasoning content finish", Texts: []string{"hm", "so", "yes"}, Tokens: []int{1, 1, 1}, Finish: "length", In: ownIn, Out: events(3), Cached: -1},
	}, {
		"reasoning and content at once", data(chat(`{"reasoning_content":"hm","content":"yes"}`), length),
		decodetest.Decoded{Labels: "content finish", Texts: []string{"hmyes"}, Tokens: []int{1}, Finish: "length", In: ownIn, Out: events(1), Cached: -1},
	}, {
		"tool call", data(role, chat(`{"tool_calls":[{"id":"t1","type":"function","index":0,"function":{"name":"f","arguments":""}}]}`),
			chat(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]}`), chat(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`), `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]"),
		decodetest.Decoded{Labels: "role tool_call tool_call tool_call finish done", Texts: []string{"f", `{"a":`, "1}"}, Tokens: []int{1, 1, 1}, Finish: "tool_calls", In: ownIn, Out: events(3), Cached: -1},
	}, {
		"old function call and refusal", data(chat(`{"function_call":{"name":"f","arguments":"x"}}`), chat(`{"refusal":"No."}`), chat(`{"tool_calls":[],"content":"z"}`), stop),
		decodetest.Decoded{Labels: "tool_call refusal content finish", Texts: []string{"fx", "No.", "z"}, Tokens: []int{1, 1, 1}, Finish: "stop", In: ownIn, Out: events(3), Cached: -1},
	}, {
		"several choices", data(chat(`{"content":"a"}`), `{"choices":[{"index":1,"delta":{"content":"b"}}]}`, length, usageChunk(2)),
		decodetest.Decoded{Labels: "content content finish usage", Texts: []string{"a", "b"}, Tokens: []int{1, 1}, Finish: "length", In: serverIn, Out: server(2), Cached: 4},
	}, {
		"content as parts", data(chat(`{"content":[{"type":"text","text":"a"},{"type":"image","url":"u"},7]}`), stop),
		decodetest.Decoded{Labels: "content finish", Texts: []string{"a"}, Tokens: []int{1}, Finish: "stop", In: ownIn, Out: events(1), Cached: -1},
	}, {
		"Mistral thinks in parts", data(chat(`{"role":"assistant","content":""}`), chat(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`), chat(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":" so"}],"closed":true}]}`),
			chat(`{"content":[{"type":"text","text":"yes"}]}`), chat(`{"content":"!"}`), stop, usageChunk(5), "[DONE]"),
		decodetest.Decoded{Labels: "role reasoning reasoning content content finish usage done", Texts: []string{"hm", " so", "yes", "!"}, Tokens: []int{1, 1, 1, 1}, Finish: "stop", In: serverIn, Out: server(5), Cached: 4},
	}, {
		"a detail beside choices", data(`{"detail":"cached","choices":[{"index":0,"delta":{"content":"a"}}]}`, stop),
		decodetest.Decoded{Labels: "content finish", Texts: []string{"a"}, Tokens: []int{1}, Finish: "stop", In: ownIn, Out: events(1), Cached: -1},
	}, {
		"a finish reason of its own", data(chat(`{"content":"a"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"repetition"}]}`, "[DONE]"),
		decodetest.Decoded{Labels: "content finish done", Texts: []string{"a"}, Tokens: []int{1}, Finish: "repetition", In: ownIn, Out: events(1), Cached: -1},
	}, {
		"filters without choices, usage null", data(`{"choices":[],"prompt_filter_results":[{"x":{}}],"usage":null}`, chat(`{"content":"a"}`), stop, "[DONE]"),
		decodetest.Decoded{Labels: "empty content finish done", Texts: []string{"a"}, Tokens: []int{1}, Finish: "stop", In: ownIn, Out: events(1), Cached: -1},
	}, {
		"comments, other fields, CR LF", strings.ReplaceAll(": ping\n\nretry: 5\n\nevent: message\nid: 1\n"+data(chat(`{"content":"a"}`))+"data:\n\n"+data("[DONE]"), "\n", "\r\n"),
		decodetest.Decoded{Labels: "comment comment content empty done", Texts: []string{"a"}, Tokens: []int{1}, In: ownIn, Out: events(1), Cached: -1},
	}, {
		"data over several lines", "data: {\"choices\":[{\ndata: \"delta\":{\"content\":\"a\"}}]}\n\n" + data(chat(`{"content":"b"}`), "[DONE]"),
		decodetest.Decoded{Labels: "content content done", Texts: []string{"a", "b"}, Tokens: []int{1, 1}, In: ownIn, Out: events(2), Cached: -1},
	}, {
		"escapes in a repeated shape", data(chat(`{"content":"a"}`), chat(`{"content":"\"\\\n\u00e9\ud83d\ude00"}`), chat(`{"content":"é\""}`), chat(`{"content":""}`), "[DONE]"),
		decodetest.Decoded{Labels: "content content content empty done", Texts: []string{"a", "\"\\\né😀", `é"`}, Tokens: []int{1, 1, 1}, In: ownIn, Out: events(3), Cached: -1},
	}, {
		"server counts more tokens than events", data(chat(`{"content":"abcd"}`), chat(`{"content":"ef"}`), length, usageChunk(5)),
		decodetest.Decoded{Labels: "content content finish usage", Texts: []string{"abcd", "ef"}, Tokens: []int{-1, -1}, Finish: "length", In: serverIn, Out: server(5), Cached: 4},
	}, {
		"no blank line at the end", strings.TrimSuffix(data(chat(`{"content":"a"}`), "[DONE]"), "\n\n"),
		decodetest.Decoded{Labels: "content done", Texts: []string{"a"}, Tokens: []int{1}, In: ownIn, Out: events(1), Cached: -1},
	}, {
		"plain JSON in place of a stream", `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"all of it"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`,
		decodetest.Decoded{Labels: "whole", Texts: []string{"all of it"}, Tokens: []int{3}, Finish: "stop", In: serverIn, Out: server(3), Cached: -1},
	}, {
		"plain JSON without usage", ` {"choices":[{"text":"all of it"}]}`,
		decodetest.Decoded{Labels: "whole", Texts: []string{"all of it"}, Tokens: []int{3}, In: ownIn, Out: record.Tokens{N: 3, Source: record.FromTokenizer, Local: -1}, Cached: -1},
	},
}

func TestStreams(t *testing.T) {
	for _, c := range streamCases {
		t.Run(c.name, func(t *testing.T) {
			rec := decodetest.Answered(c.body)
			NewDecoder(Chat, decodetest.Words{}, false).Decode(rec)
			if diff := cmp.Diff(c.want, decodetest.Summarise(rec)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	content := chat(`{"content":"a"}`)
	for _, c := range []struct{ name, body, labels, want string }{
		{"error object", data(content, `{"error":{"message":"out of  memory\n","code":500}}`, "[DONE]"), "content error done", "stream_error: out of memory"},
		{"error as a string", data(`{"error":"boom","error_type":"generation"}`), "error", "stream_error: boom"},
		{"object that is an error", data(`{"object":"error","message":"too long","code":400}`), "error", "stream_error: too long"},
		{"event: error", data(content) + "event: error\ndata: it broke\n\n", "content error", "stream_error: it broke"},
		{"event: error without data", data(content) + "event: error\n\n", "content error", "stream_error: "},
		{"an error of FastAPI", data(content, `{"detail":"Internal Server Error"}`, "[DONE]"), "content error done", "stream_error: Internal Server Error"},
		{"an error of FastAPI's validation", data(content, `{"detail":[{"loc":["body"],"msg":"too long"}]}`, "[DONE]"), "content error done", "stream_error: too long"},
		{"vLLM aborts", data(content, `{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"abort"}]}`, usageChunk(1), "[DONE]"), "content finish usage done", `aborted: the server ended the response with finish reason "abort"`},
		{"an error as a finish reason, with text", data(content, `{"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"error"}]}`, "[DONE]"), "content content done", `aborted: the server ended the response with finish reason "error"`},
		{"aborted, with a reason that is an object", data(content, `{"choices":[{"index":0,"delta":{"content":""},"finish_reason":{"message":"Abort in waiting queue","type":"abort"}}]}`, usageChunk(1), "[DONE]"), "content finish usage done", `aborted: the server ended the response with finish reason "abort"`},
		{"aborted, in plain JSON", `{"choices":[{"message":{"content":"a"},"finish_reason":"abort"}]}`, "whole", `aborted: the server ended the response with finish reason "abort"`},
		{"error in plain JSON", `{"error":{"message":"no such model"}}`, "error", "stream_error: no such model"},
		{"ends without a finish reason", data(role, content), "role content", "truncated: the stream ends after 2 events without a finish reason or [DONE]"},
		{"usage in each chunk is no end", data(chatUsage(`{"content":"a"}`, 1)), "content", "truncated: the stream ends after 1 events without a finish reason or [DONE]"},
		{"ends in an event", data(role, content) + `data: {"choices":[{"del`, "role content unknown", "truncated: the response ends in the middle of event 3"},
		{"broken JSON", data(content, `{"choices":[}`, "[DONE]"), "content unknown done", fmt.Sprintf("bad_body: event 2, at byte %d of the response, is not JSON: byte 12: expected a value", len(data(content)))},
		{"not an object", data(`"x"`, "[DONE]"), "unknown done", "bad_body: event 1, at byte 0 of the response, is not JSON: byte 0: expected an object"},
		{"another protocol", data(`{"token":{"text":"a"}}`), "unknown", `bad_body: the response is neither JSON nor a stream of chat or completion events: {"token":{"text":"a"}}`},
		{"plain text", "upstream is gone\n", "unknown", "bad_body: the response is neither JSON nor a stream of chat or completion events: upstream is gone"},
		{"compressed", "\x1f\x8b\x08\x00\x01\x02", "unknown", "bad_body: the response is neither JSON nor a stream of chat or completion events: compressed data (gzip), which was not requested: turn compression off in the server, or leave out the Accept-Encoding header"},
		{"HTML", "<!DOCTYPE html><html><head><TITLE>Sign in &amp; go</TITLE></head></html>", "", "bad_body: the response is neither JSON nor a stream of events: HTML page: Sign in & go"},
		{"empty", "", "", "bad_body: the response is empty"},
		{"no events", ": ping\n\n", "comment", "bad_body: the stream holds no events"},
		{"nothing but the end", data("[DONE]"), "done", "bad_body: the stream holds no events"},
		{"plain JSON that is broken", `{"choices":[`, "", "bad_body: the response is not JSON: byte 12: expected a value"},
		{"plain JSON without choices", `{"status":"ok"}`, "", `bad_body: the response has no choices: {"status":"ok"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := decodetest.Answered(c.body)
			NewDecoder(Chat, nil, false).Decode(rec)
			got := decodetest.Summarise(rec)
			if got.Failure != c.want || got.Labels != c.labels {
				t.Errorf("got %q, %q\nwant %q, %q", got.Failure, got.Labels, c.want, c.labels)
			}
			if rec.Failure != nil && rec.Failure.Status != 200 {
				t.Errorf("status %d", rec.Failure.Status)
			}
		})
	}
}

func TestEarlierFailureIsKept(t *testing.T) {
	rec := decodetest.Answered(data(role, chat(`{"content":"a"}`)) + "data: {\"cho")
	reset := &record.Failure{Class: record.Reset, Message: "connection reset by peer", At: 4}
	rec.Failure = reset
	NewDecoder(Chat, nil, false).Decode(rec)
	got := decodetest.Summarise(rec)
	want := decodetest.Decoded{Labels: "role content unknown", Texts: []string{"a"}, Tokens: []int{1}, In: ownIn, Out: events(1), Cached: -1, Failure: "reset: connection reset by peer"}
	if diff := cmp.Diff(want, got); diff != "" || rec.Failure != reset {
		t.Error(diff)
	}
	nothing := &record.Exchange{Record: record.Record{Failure: &record.Failure{Class: record.ConnectFailed}}}
	NewDecoder(Chat, nil, false).Decode(nothing)
	if nothing.Failure.Class != record.ConnectFailed || len(nothing.Events) != 0 || nothing.Cached != -1 {
		t.Errorf("%+v", nothing)
	}
}

func TestStatusMessages(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"model overloaded","type":"x"}}`: "model overloaded",
		`{"error":"plain"}`:      "plain",
		`{"detail":"Not Found"}`: "Not Found",
		`{"detail":[{"loc":["body","x"],"msg":"field required"}]}`:         "field required",
		`{"message":"m","code":3}`:                                         "m",
		`[{"error":{"message":"in a list"}}]`:                              "in a list",
		"data: {\"error\":{\"message\":\"framed\"}}\n\n":                   "framed",
		"  too many\r\n\trequests\x00 ":                                    "too many requests",
		"<html><head><title>502 Bad Gateway</title></head></html>":         "HTML page: 502 Bad Gateway",
		"<html><title></title><body><H1 class='x'>Gone</H1></body></html>": "HTML page: Gone",
		"<xml/>":                 "an HTML or XML page",
		"":                       "Service Unavailable",
		`{"weird":1}`:            `{"weird":1}`,
		strings.Repeat("é", 500): strings.Repeat("é", 199) + "…",
		"bad \xff byte":          "bad byte",
	} {
		rec := decodetest.Answered(body)
		rec.Status = 503
		rec.Failure = &record.Failure{Class: record.HTTPStatus, Status: 503, At: 8}
		NewDecoder(Chat, decodetest.Words{}, false).Decode(rec)
		if diff := cmp.Diff(&record.Failure{Class: record.HTTPStatus, Status: 503, Message: want, At: 8}, rec.Failure); diff != "" {
			t.Errorf("%.80q: %s", body, diff)
		}
		rec = decodetest.Answered(body)
		rec.Status = 503
		NewDecoder(Chat, decodetest.Words{}, false).Decode(rec)
		if rec.Failure == nil || rec.Failure.Class != record.HTTPStatus || rec.Failure.Message != want || len(rec.Events) != 0 {
			t.Errorf("%.80q, with no failure set before: %+v", body, rec.Failure)
		}
	}
}

func TestEmbeddings(t *testing.T) {
	rec := decodetest.Answered(`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.1,-2e-3]}],"model":"m","usage":{"prompt_tokens":7,"total_tokens":7}}`)
	NewDecoder(Embeddings, decodetest.Words{}, false).Decode(rec)
	want := decodetest.Decoded{Labels: "whole", Texts: []string{""}, Tokens: []int{0}, In: serverIn, Out: record.Tokens{Local: -1}, Cached: -1}
	if diff := cmp.Diff(want, decodetest.Summarise(rec)); diff != "" {
		t.Error(diff)
	}
	for body, want := range map[string]string{
		`{"data":[]}`: `bad_body: the response holds no embedding: {"data":[]}`,
		`{"data":[{"embedding":[1]},{"embedding":[]}]}`: "bad_body: the response holds an empty embedding",
		`{"data":[{"embedding":""}]}`:                   "bad_body: the response holds an empty embedding",
		`{"data":[{"embedding":[[]]}]}`:                 "bad_body: the response holds an empty embedding",
		`{"data":[{"embedding":null}]}`:                 "bad_body: the response holds an empty embedding",
		`{"data":[{"embedding":"AACAPw=="}]}`:           "",
		`{"data":[{"embedding":[[0.5]]}]}`:              "",
		`{"data":[{"probs":[0.5]}]}`:                    "",
		"data: {}\n\n":                                  "bad_body: the response is neither JSON nor a stream of events: {}",
		`{"error":"oops"}`:                              "stream_error: oops",
	} {
		rec := decodetest.Answered(body)
		NewDecoder(Embeddings, nil, false).Decode(rec)
		if got := decodetest.Summarise(rec).Failure; got != want {
			t.Errorf("%s: %s", body, got)
		}
	}
}

func TestTokenizerCounts(t *testing.T) {
	body := data(chat(`{"content":"abcd"}`), chat(`{"content":"ef"}`), length)
	for _, c := range []struct {
		name, body string
		tok        letters
		tokens     []int
		out        record.Tokens
	}{
		{"no usage", body, 2, []int{2, 1}, record.Tokens{N: 3, Source: record.FromTokenizer, Local: 3}},
		{"a token across two events", data(chat(`{"content":"abc"}`), chat(`{"content":"d"}`), length), 2, []int{1, 1}, record.Tokens{N: 2, Source: record.FromTokenizer, Local: 2}},
		{"sum is the server's", body + data(usageChunk(3)), 2, []int{2, 1}, record.Tokens{N: 3, Source: record.FromServer, Local: 3}},
		{"as many as events", body + data(usageChunk(2)), 1, []int{1, 1}, record.Tokens{N: 2, Source: record.FromServer, Local: 6}},
		{"disagreement", body + data(usageChunk(5)), 2, []int{-1, -1}, record.Tokens{N: 5, Source: record.FromServer, Local: 3}},
	} {
		rec := decodetest.Answered(c.body)
		NewDecoder(Chat, c.tok, true).Decode(rec)
		got := decodetest.Summarise(rec)
		if diff := cmp.Diff(c.tokens, got.Tokens); diff != "" || got.Out != c.out {
			t.Errorf("%s: %v, %+v", c.name, got.Tokens, got.Out)
		}
	}
	rec := decodetest.Answered(`{"choices":[{"text":"abcd"}]}`)
	NewDecoder(Completions, letters(2), true).Decode(rec)
	if want := (record.Tokens{N: 2, Source: record.FromTokenizer, Local: 2}); rec.Out != want {
		t.Errorf("whole: %+v", rec.Out)
	}
}

func TestMarksOfEvents(t *testing.T) {
	one, two := data(chat(`{"content":"a"}`)), data(chat(`{"content":"b"}`))
	body := one + two + one + data("[DONE]")
	n := len(one)
	for _, c := range []struct {
		name   string
		offs   []int
		marks  []int
		merged []bool
		chunks int // in a read, with a mark of its own each
	}{
		{"one read each", []int{n, 2 * n, 3 * n, len(body)}, []int{0, 1, 2, 3}, []bool{false, false, false, false}, 1},
		{"two chunks in a read", []int{n, 2 * n, 3 * n, len(body)}, []int{0, 1, 2, 3}, []bool{true, false, true, false}, 2},
		{"all in one read", []int{len(body)}, []int{0, 0, 0, 0}, []bool{true, true, true, false}, 1},
		{"cut inside events", []int{5, n - 1, n + 3, 3*n - 1, 3 * n, len(body)}, []int{2, 3, 4, 5}, []bool{false, false, false, false}, 1},
		{"second read holds two", []int{n, 3 * n, len(body)}, []int{0, 1, 1, 2}, []bool{false, true, false, false}, 1},
		{"marks short of the body", []int{n}, []int{0, 0, 0, 0}, []bool{true, true, true, false}, 1},
		{"no marks", nil, nil, nil, 1},
	} {
		rec := decodetest.Answered(body)
		rec.Marks = nil
		for i, off := range c.offs {
			rec.Marks = append(rec.Marks, record.Read{Off: off, User: time.Duration(i / c.chunks)})
		}
		NewDecoder(Chat, nil, false).Decode(rec)
		var marks []int
		var merged []bool
		for _, e := range rec.Events {
			marks, merged = append(marks, e.Mark), append(merged, e.Merged)
		}
		if diff := cmp.Diff(c.marks, marks); diff != "" {
			t.Errorf("%s: marks %s", c.name, diff)
		}
		if diff := cmp.Diff(c.merged, merged); diff != "" {
			t.Errorf("%s: merged %s", c.name, diff)
		}
		if string(rec.Text) != "aba" {
			t.Errorf("%s: text %q", c.name, rec.Text)
		}
	}
}

func TestFailureTakesTheEventsStamp(t *testing.T) {
	body := data(chat(`{"content":"a"}`), `{"error":"x"}`)
	rec := decodetest.Answered(body + data("[DONE]"))
	rec.Marks = []record.Read{{Off: len(body), Kernel: 41, User: 42}, {Off: len(rec.Body), Kernel: 51, User: 52}}
	NewDecoder(Chat, nil, false).Decode(rec)
	if rec.Failure == nil || rec.Failure.At != 41 {
		t.Errorf("%+v", rec.Failure)
	}
}

// A record that was used before must decode as a new one does.
func TestReusedRecord(t *testing.T) {
	d := NewDecoder(Chat, decodetest.Words{}, false)
	used := decodetest.Answered(data(chat(`{"content":"long text"}`), length, usageChunk(8)))
	d.Decode(used)
	fresh := decodetest.Answered(data(chat(`{"content":"x"}`), "[DONE]"))
	used.Body, used.Marks, used.In = fresh.Body, fresh.Marks, fresh.In
	d.Decode(used)
	d.Decode(fresh)
	if diff := cmp.Diff(fresh, used, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(record.Exchange{})); diff != "" {
		t.Error(diff)
	}
}
