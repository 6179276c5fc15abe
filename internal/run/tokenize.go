package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Tokenize asks a server for the token ids of a text, where it has a /tokenize:
// vLLM and SGLang, llama.cpp and TGI each have one of their own shape.
func Tokenize(ctx context.Context, base, model, key, text string) ([]int32, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("server URL %q needs a scheme and a host, as in http://localhost:8000", base)
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1") + "/tokenize"
	var tried []error
	for _, d := range tokenizeDialects(model, text) {
		ids, err := askTokens(ctx, u.String(), key, d.body)
		if err == nil {
			return ids, nil
		}
		var answered *answerError
		if !errors.As(err, &answered) {
			return nil, fmt.Errorf("asking %s to tokenize: %w", u.Redacted(), bare(err))
		}
		tried = append(tried, fmt.Errorf("as %s: %w", d.name, err))
	}
	return nil, fmt.Errorf("%s does not tokenize in a way that is known here:\n%w", u.Redacted(), errors.Join(tried...))
}

// tokenizeDialect is how one family of servers wants to be asked.
type tokenizeDialect struct {
	name string
	body map[string]any
}

func tokenizeDialects(model, text string) []tokenizeDialect {
	vllm := map[string]any{"prompt": text, "add_special_tokens": false}
	if model != "" {
		vllm["model"] = model
	}
	return []tokenizeDialect{
		{"vLLM", vllm},
		{"llama.cpp", map[string]any{"content": text, "add_special": false}},
		{"TGI", map[string]any{"inputs": text, "add_special_tokens": false}},
	}
}

func askTokens(ctx context.Context, url, key string, body map[string]any) ([]int32, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, &answerError{"the server answered " + resp.Status}
	}
	return readTokens(answer)
}

// readTokens takes {"tokens":[1,2]}, {"tokens":[{"id":1}]} and [{"id":1}].
func readTokens(answer []byte) ([]int32, error) {
	var object struct {
		Tokens json.RawMessage `json:"tokens"`
	}
	list := json.RawMessage(answer)
	if json.Unmarshal(answer, &object) == nil && object.Tokens != nil {
		list = object.Tokens
	}
	var ids []int32
	if json.Unmarshal(list, &ids) == nil && ids != nil {
		return ids, nil
	}
	var rows []struct {
		ID *int32 `json:"id"`
	}
	if json.Unmarshal(list, &rows) != nil || rows == nil {
		return nil, &answerError{"the answer has no list of tokens"}
	}
	ids = make([]int32, len(rows))
	for i, r := range rows {
		if r.ID == nil {
			return nil, &answerError{"the answer's tokens have no ids"}
		}
		ids[i] = *r.ID
	}
	return ids, nil
}
