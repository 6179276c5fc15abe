package report

import (
	"testing"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// differs: ip-anthropic-usage
func TestAnswers(t *testing.T) {
	const thinking = `{"choices":[{"delta":{"content":null,"reasoning_content":"hm"}}]}`
	openAI := "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\ndata: " + thinking + "\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n" +
		": ping\n\ndata: no JSON\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"total_tokens\":5,\"completion_tokens\":2,\"extra\":{\"b\":1.50,\"a\":[null,true]}}}\n\ndata: [DONE]\n\n"
	anthropic := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":4}}\n\n"
	for _, c := range []struct {
		name, body       string
		stream           bool
		chunks, faithful int
		usage            string
	}{
		{"a stream", openAI, true, 2, 1, "{\n  \"prompt_tokens\": 3,\n  \"total_tokens\": 5,\n  \"completion_tokens\": 2,\n  \"extra\": {\n    \"b\": 1.50,\n    \"a\": [\n      null,\n      true\n    ]\n  }\n}"},
		{"Anthropic", anthropic, true, 1, 1, "{\n  \"input_tokens\": 7,\n  \"output_tokens\": 4\n}"},
		{"in one", `{"choices":[{"text":"a"}],"usage":{"prompt_tokens":3}}`, false, 1, 1, "{\n  \"prompt_tokens\": 3\n}"},
		{"Anthropic in one", `{"content":[{"type":"text","text":"a"}],"usage":{"input_tokens":3}}`, false, 0, 0, "{\n  \"input_tokens\": 3\n}"},
		{"no usage", "data: {\"choices\":[{\"text\":\"a\"}],\"usage\":null}\n\n", true, 1, 1, "null"},
	} {
		rec := &record.Record{Body: []byte(c.body), Streamed: c.stream, Marks: []record.Read{{Off: len(c.body)}}, Cached: -1}
		for faithful, want := range map[bool]int{false: c.chunks, true: c.faithful} {
			if data, times := chunks(rec, faithful); len(data) != want || len(times) != want {
				t.Errorf("%s, faithful %v: %d chunks and %d times, want %d: %v", c.name, faithful, len(data), len(times), want, data)
			}
		}
		if got := string(appendJSON(nil, usage(rec, &dialect.Values{}), 0)); got != c.usage {
			t.Errorf("%s: %s, want %s", c.name, got, c.usage)
		}
	}
}

// Turns of users name their session and count from 1; those of recorded sessions do not.
func TestTurnsOfUsers(t *testing.T) {
	rec := &record.Record{Session: "user_session_3", Turn: 1}
	for users, want := range map[bool]string{false: "{}", true: "{\n  \"user_session\": \"user_session_3\",\n  \"chat_round\": 2\n}"} {
		r := NewRequests(nil, Fields{}, &dialect.Options{UserSessions: users})
		if got := string(appendJSON(nil, r.extra(rec), 0)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
