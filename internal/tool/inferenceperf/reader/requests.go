package reader

import (
	"encoding/json"
	"fmt"
	"math"
)

// Request is an entry of the report of single requests. Times are seconds on its own clock.
type Request struct {
	Stage     *int     `json:"stage_id"` // nil means not said, which the original never does
	Session   string   `json:"session_id"`
	Scheduled *float64 `json:"scheduled_time"`
	Start     float64  `json:"start_time"`
	End       float64  `json:"end_time"`
	Body      string   `json:"request"`
	Answer    string   `json:"response"`
	Info      struct {
		Input   int    `json:"input_tokens"`
		Adapter string `json:"lora_adapter"`
		Request struct {
			Text struct {
				Input int `json:"input_tokens"`
			} `json:"text"`
		} `json:"request_metrics"`
		Response struct {
			Output int                        `json:"output_tokens"`
			Usage  map[string]json.RawMessage `json:"server_usage"`
			// Of a response that was streamed: what came, when, and when each token did.
			Chunks     []string  `json:"response_chunks"`
			ChunkTimes []float64 `json:"chunk_times"`
			TokenTimes []float64 `json:"output_token_times"`
		} `json:"response_metrics"`
	} `json:"info"`
	Error *struct {
		Type    string `json:"error_type"`
		Message string `json:"error_msg"`
	} `json:"error"`
}

// Requests reads the report of single requests.
func Requests(text []byte) ([]Request, error) {
	var list []Request
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("not a per-request report: %w", err)
	}
	const most = 1 << 32 // seconds; more does not fit into nanoseconds
	for i := range list {
		r := &list[i]
		if r.Info.Input == 0 {
			r.Info.Input = r.Info.Request.Text.Input
		}
		if r.Stage != nil && (*r.Stage < 0 || *r.Stage > 1<<16) {
			return nil, fmt.Errorf("entry %d: stage_id is %d", i, *r.Stage)
		}
		if r.End < r.Start || math.Abs(r.Start) > most || math.Abs(r.End) > most {
			return nil, fmt.Errorf("entry %d: start_time is %v and end_time %v", i, r.Start, r.End)
		}
	}
	return list, nil
}

// Streamed reports whether the response came in pieces.
func (r *Request) Streamed() bool {
	return len(r.Info.Response.ChunkTimes) > 0 || len(r.Info.Response.TokenTimes) > 0
}

// Model is the model that was asked for; empty: the file does not say.
func (r *Request) Model() string {
	var body struct{ Model string }
	_ = json.Unmarshal([]byte(r.Body), &body) // it may not have been kept
	return body.Model
}

// Usage is the server's own count of the response's tokens; -1: it gave none.
func (r *Request) Usage() int { return r.count("completion_tokens", "output_tokens") }

// UsageIn is the server's own count of the prompt's tokens; -1: it gave none.
func (r *Request) UsageIn() int { return r.count("prompt_tokens", "input_tokens") }

func (r *Request) count(names ...string) int {
	for _, name := range names {
		var n *int
		if json.Unmarshal(r.Info.Response.Usage[name], &n) == nil && n != nil && *n >= 0 {
			return *n
		}
	}
	return -1
}

// Text is what the model wrote in a piece of a response, or in a whole one, as OpenAI's
// protocol or Anthropic's has it; empty: nothing that is known.
func Text(piece string) string {
	type said struct {
		Text      string          `json:"text"`
		Content   json.RawMessage `json:"content"`
		Reasoning string          `json:"reasoning_content"`
	}
	var v struct {
		Choices []struct {
			said
			Delta   said `json:"delta"`
			Message said `json:"message"`
		} `json:"choices"`
		Delta   said   `json:"delta"`
		Content []said `json:"content"`
	}
	if json.Unmarshal([]byte(piece), &v) != nil {
		return ""
	}
	parts := append([]said{v.Delta}, v.Content...)
	for _, c := range v.Choices {
		parts = append(parts, c.said, c.Delta, c.Message)
	}
	text := ""
	for _, p := range parts {
		var content string
		_ = json.Unmarshal(p.Content, &content) // null, or a list of parts
		text += p.Reasoning + p.Text + content
	}
	return text
}
