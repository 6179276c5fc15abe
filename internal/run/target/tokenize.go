package target

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/lib/localaddr"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/remote/proxy"
)

// TokenizeRequest says what to ask a server's /tokenize.
type TokenizeRequest struct {
	URL     string // of the server, with or without /v1
	Model   string // "": not said
	Key     string
	Text    string
	Special bool // with the special tokens that the model's tokenizer adds
}

// ErrNoTokenize: a server has no /tokenize, or none that is known here.
var ErrNoTokenize = errors.New("it does not tokenize in a way that is known here")

// Tokenize asks a server for the token ids of a text, where it has a /tokenize:
// vLLM and SGLang, llama.cpp and TGI each have one of their own shape.
func Tokenize(ctx context.Context, q TokenizeRequest) ([]int32, error) {
	return (&TokenServer{Request: q, Client: http.DefaultClient}).Tokens(ctx, q.Text)
}

// TokenServer is a server asked for the tokens of texts, in the shape that it took the first time.
type TokenServer struct {
	Request TokenizeRequest // but for its text
	Client  *http.Client
	Header  http.Header // also sent; nil means nothing
	shape   string      // that it took; empty: not known yet
}

// OpenTokenServer makes what asks the first of a target's servers.
func OpenTokenServer(t *plan.Target, s Secrets, getenv func(string) string) *TokenServer {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = proxy.Func(*t, getenv)
	localaddr.NewDialer(t.SourceAddresses).Use(transport)
	transport.TLSClientConfig = s.TLS.Clone()
	q := &TokenServer{
		Request: TokenizeRequest{URL: t.URLs[0], Model: t.Model, Key: s.Key},
		Client:  &http.Client{Transport: transport, CheckRedirect: stayThere},
		Header:  http.Header{},
	}
	for name, value := range t.Headers {
		q.Header.Set(name, value)
	}
	return q
}

// OpenPlainTokenServer is one that is vLLM's, takes requests without the target's headers and key, and knows
// the model by this name.
func OpenPlainTokenServer(t *plan.Target, model string, s Secrets, getenv func(string) string) *TokenServer {
	q := OpenTokenServer(t, s, getenv)
	q.Request.Model, q.Request.Key, q.Header, q.shape = model, "", nil, shapeVLLM
	return q
}

// Tokens are the ids of a text.
func (s *TokenServer) Tokens(ctx context.Context, text string) ([]int32, error) {
	q := s.Request
	q.Text = text
	var tried []error
	for _, d := range tokenizeDialects(q) {
		if s.shape != "" && s.shape != d.name {
			continue
		}
		ids, err := s.ask(ctx, q, d.body)
		if err == nil {
			s.shape = d.name
			return ids, nil
		}
		var answered *answerError
		if !errors.As(err, &answered) {
			return nil, fmt.Errorf("asking %s to tokenize: %w", plan.SafeURL(q.page("/tokenize")), bare(err))
		}
		tried = append(tried, fmt.Errorf("as %s: %w", d.name, err))
	}
	return nil, fmt.Errorf("%s: %w:\n%w", plan.SafeURL(q.page("/tokenize")), ErrNoTokenize, errors.Join(tried...))
}

// shapeVLLM is the shape of vLLM and SGLang.
const shapeVLLM = "vLLM or SGLang"

// Text is what ids stand for, where the server is vLLM's.
func (s *TokenServer) Text(ctx context.Context, ids []int32) (string, error) {
	said, err := s.post(ctx, "/detokenize", map[string]any{"model": s.Request.Model, "tokens": ids})
	if err != nil {
		return "", err
	}
	var answer struct {
		Prompt *string `json:"prompt"`
	}
	if err := json.Unmarshal(said, &answer); err != nil || answer.Prompt == nil {
		return "", &answerError{text: "the response has no prompt"}
	}
	return *answer.Prompt, nil
}

// tokenizeDialect is how one family of servers wants to be asked.
type tokenizeDialect struct {
	name string
	body map[string]any
}

func tokenizeDialects(q TokenizeRequest) []tokenizeDialect {
	vllm := map[string]any{"prompt": q.Text, "add_special_tokens": q.Special}
	if q.Model != "" {
		vllm["model"] = q.Model
	}
	return []tokenizeDialect{
		{shapeVLLM, vllm},
		{"llama.cpp", map[string]any{"content": q.Text, "add_special": q.Special}},
		{"TGI", map[string]any{"inputs": q.Text}}, // it adds special tokens whatever one says
	}
}

func (s *TokenServer) ask(ctx context.Context, q TokenizeRequest, body map[string]any) ([]int32, error) {
	said, err := s.post(ctx, "/tokenize", body)
	if err != nil {
		return nil, err
	}
	ids, err := readTokens(said, q.Special)
	if err == nil && len(ids) == 0 && q.Text != "" {
		// llama.cpp answers so where it does not find the text in a request.
		return nil, &answerError{text: "the server answered with no tokens at all"}
	}
	return ids, err
}

// page is where the server has a path.
func (q *TokenizeRequest) page(path string) string {
	u, err := url.Parse(q.URL)
	if err != nil {
		return q.URL
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1") + path
	return u.String()
}

// post is what the server answers on one of its paths.
func (s *TokenServer) post(ctx context.Context, path string, body map[string]any) ([]byte, error) {
	q := s.Request
	if u, err := url.Parse(q.URL); err != nil || u.Host == "" {
		return nil, fmt.Errorf("server URL %q needs a scheme and a host, as in http://localhost:8000", q.URL)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, q.page(path), bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, s.Header)
	req.Header.Set("Content-Type", "application/json")
	if q.Key != "" {
		req.Header.Set("Authorization", "Bearer "+q.Key)
	}
	resp, err := s.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		text := "the server answered " + resp.Status
		if q.Key != "" {
			said = bytes.ReplaceAll(said, []byte(q.Key), []byte("…"))
		}
		if why := decode.Message(said); why != "" {
			text += ": " + why
		}
		return nil, &answerError{text: text}
	}
	return said, nil
}

// readTokens takes {"tokens":[1,2]}, {"tokens":[{"id":1}]} and [{"id":1}]. Special tokens
// that TGI has added cover no text; without special they are left out.
func readTokens(answer []byte, special bool) ([]int32, error) {
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
		ID    *int32 `json:"id"`
		Start *int   `json:"start"`
		Stop  *int   `json:"stop"`
	}
	if json.Unmarshal(list, &rows) != nil || rows == nil {
		return nil, &answerError{text: "the response has no list of tokens"}
	}
	ids = make([]int32, 0, len(rows))
	for _, r := range rows {
		if r.ID == nil {
			return nil, &answerError{text: "the response's tokens have no ids"}
		}
		if !special && r.Start != nil && r.Stop != nil && *r.Start == *r.Stop {
			continue
		}
		ids = append(ids, *r.ID)
	}
	return ids, nil
}
