package mock

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/mock/body"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/schema"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

// cohereRerank is where Cohere's rankings are.
const cohereRerank = "/v2/rerank"

// vllmVersion is the release of vLLM that this server says it is.
const vllmVersion = "0.11.0"

// answer serves one request. The call has been reset for it.
func (s *Server) answer(c *call) {
	switch c.req.path {
	case "/v1/chat/completions":
		s.infer(c, body.Chat)
	case "/v1/completions":
		s.infer(c, body.Completions)
	case "/v1/responses":
		s.infer(c, body.Responses)
	case "/v1/embeddings":
		s.infer(c, body.Embeddings)
	case "/v1/messages":
		s.infer(c, body.Messages)
	case "/v1/ranking":
		s.infer(c, body.Ranking)
	case "/rerank", "/v1/rerank", "/v2/rerank":
		api := body.Rerank
		if c.req.path == cohereRerank || body.IsDocuments(c.req.body) {
			api = body.Documents
		}
		s.infer(c, api)
	case "/score", "/v1/score":
		s.infer(c, body.Score)
	case "/classify":
		s.infer(c, body.Classify)
	case "/pooling":
		s.infer(c, body.Pooling)
	case "/v1/images/generations":
		s.infer(c, body.Images)
	case "/v1/audio/transcriptions":
		s.infer(c, body.Transcriptions)
	case "/v1/infer":
		s.infer(c, body.Retrieval)
	case "/generate":
		api := body.TGI
		if body.IsSGLang(c.req.body) {
			api = body.SGLang
		}
		s.infer(c, api)
	case "/", "/generate_stream":
		s.infer(c, body.TGI)
	case "/v1/messages/count_tokens":
		s.countTokens(c)
	case "/tokenize", "/v1/tokenize":
		s.tokenize(c)
	case "/detokenize", "/v1/detokenize":
		s.detokenize(c)
	case "/version":
		s.get(c, "application/json", func() string { return `{"version":"` + vllmVersion + `"}` })
	case "/reset_prefix_cache", "/flush_cache":
		s.resetCache(c)
	case "/v1/models":
		s.get(c, "application/json", s.models)
	case "/health", "/ping":
		s.get(c, "application/json", func() string { return "" })
	case "/metrics":
		s.get(c, "text/plain; version=0.0.4; charset=utf-8", func() string {
			own := s.metrics.text
			if s.cfg.MetricsNames == config.NamesSGLang {
				own = s.metrics.sglang
			}
			return own(s.cfg.Models[0], s.model) + s.tritonMetrics()
		})
	default:
		if strings.HasPrefix(c.req.path, "/v2") {
			s.tritonHTTP(c)
			return
		}
		c.sendUnstreamed(head{status: http.StatusNotFound, ctype: "application/json"}, `{"detail":"Not Found"}`)
	}
}

func (s *Server) get(c *call, ctype string, page func() string) {
	switch {
	case c.req.method != http.MethodGet:
		c.notAllowed(http.MethodGet)
	case strings.HasPrefix(c.req.path, "/v1/") && !s.authorized(c):
		c.unauthorized()
	default:
		c.sendUnstreamed(head{status: http.StatusOK, ctype: ctype}, page())
	}
}

// resetCache empties the prefix cache, under the names that vLLM and SGLang have for it.
func (s *Server) resetCache(c *call) {
	switch {
	case c.req.method != http.MethodPost:
		c.notAllowed(http.MethodPost)
	case !s.authorized(c):
		c.unauthorized()
	default:
		s.model.ForgetPrompts()
		c.sendUnstreamed(head{status: http.StatusOK, ctype: "application/json"}, `{"success":true}`)
	}
}

func (s *Server) authorized(c *call) bool {
	return s.authorizedBy(c.req.auth) || c.req.key == s.cfg.APIKey
}

func (s *Server) authorizedBy(auth string) bool {
	return s.cfg.APIKey == "" || auth == "Bearer "+s.cfg.APIKey
}

func (s *Server) models() string {
	list := make([]string, len(s.cfg.Models))
	for i, m := range s.cfg.Models {
		name := body.AppendQuoted(nil, m)
		list[i] = fmt.Sprintf(`{"id":%s,"object":"model","created":%d,"owned_by":"inferometer","root":%s,"parent":null,"max_model_len":%d,"permission":[]}`,
			name, s.clock.Base.Unix(), name, s.cfg.Output.MaxModelLen)
	}
	return `{"object":"list","data":[` + strings.Join(list, ",") + `]}`
}

// infer serves the endpoints that faults strike and the truth file tells of.
func (s *Server) infer(c *call, a body.API) {
	c.api = a
	defer c.done()
	if c.accept() && c.readBody() {
		c.generate()
	}
}

// accept numbers a request for inference, and refuses what cannot be served or a fault strikes.
func (c *call) accept() bool {
	s := c.s
	number := s.requests.Add(1) - 1
	c.makeID(c.api.Prefix(), number)
	if c.req.method != http.MethodPost {
		c.notAllowed(http.MethodPost)
		return false
	}
	if !s.authorized(c) {
		c.unauthorized()
		return false
	}
	if f, struck := c.draw(number); struck && c.instead(f) {
		return false
	}
	return true
}

// draw seeds the request's draws and says which fault strikes it. Faults have a stream of
// draws of their own, so that asking for some leaves the latencies of all requests as they were.
func (c *call) draw(number uint64) (f config.Fault, struck bool) {
	cfg := &c.s.cfg
	if len(cfg.Faults) > 0 {
		c.pcg.Seed(cfg.Seed^faultDraws, number)
		if f, struck = config.PickFault(cfg.Faults, false, c.seq.Rand.Float64()); struck {
			c.fault, c.faultName = f.Kind, f.Name()
		}
	}
	c.pcg.Seed(cfg.Seed, number)
	return f, struck
}

// instead plays the faults that take the place of a response.
func (c *call) instead(f config.Fault) bool {
	switch f.Kind {
	case config.FaultStatus:
		h := head{status: f.Code}
		if f.Code == http.StatusTooManyRequests || f.Code == http.StatusServiceUnavailable {
			h.retryAfter = c.s.cfg.RetryAfter
		}
		c.failWith(h, "injected fault: "+http.StatusText(f.Code))
	case config.FaultClose:
		c.out.cut(false)
	case config.FaultGarbage:
		c.sendUnstreamed(head{status: http.StatusOK, ctype: "application/octet-stream"}, "\x00\xff\xfe{]\x1b[data: \r\n\r\n\x80\x81 not an answer \xc3\x28\n")
	case config.FaultHTML:
		c.sendUnstreamed(head{status: http.StatusOK, ctype: "text/html; charset=utf-8"},
			"<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body><h1>It works</h1><p>There is no model behind this page.</p></body></html>\n")
	default:
		return false
	}
	return true
}

// readBody decodes the body, and answers those that cannot be served.
func (c *call) readBody() bool {
	s := c.s
	var err error
	if c.api == body.Transcriptions {
		err = body.ReadForm(c.req.ctype, s.cfg.Strict, c.req.body, &c.p)
	} else {
		err = c.reader.Read(c.api, s.cfg.Strict, c.req.body, &c.p)
	}
	if err != nil {
		c.fail(http.StatusBadRequest, err.Error())
		return false
	}
	if (c.api == body.Messages || c.api == body.CountTokens) && s.cfg.Strict && c.req.version == "" {
		c.fail(http.StatusBadRequest, "anthropic-version: header is required")
		return false
	}
	if c.api == body.TGI && c.req.path != "/" {
		c.p.Stream = c.req.path == "/generate_stream"
	}
	if len(c.p.Model) == 0 {
		c.p.Model = s.firstModel
	} else if (s.cfg.Strict || !s.cfg.AnyModel) && !slices.Contains(s.cfg.Models, body.Unquote(c.p.Model)) {
		c.fail(http.StatusNotFound, "The model `"+body.Unquote(c.p.Model)+"` does not exist.")
		return false
	}
	if len(c.p.Previous) > 0 { // responses are not kept
		c.fail(http.StatusNotFound, "Response with id '"+body.Unquote(c.p.Previous)+"' not found.")
		return false
	}
	if !c.api.Generates() {
		return true
	}
	c.choices = c.p.N * c.p.Inputs
	c.tokens, c.finish = outputLength(&s.cfg.Output, &c.p, c.seq.Rand)
	room := s.cfg.Output.MaxModelLen - c.p.Words.N
	if limit := c.p.Limit(); room < 1 || limit > room {
		c.finish = ""
		c.fail(http.StatusBadRequest, fmt.Sprintf(
			"This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion). Please reduce the length of the messages or completion.",
			s.cfg.Output.MaxModelLen, c.p.Words.N+max(limit, 0), c.p.Words.N, max(limit, 0)))
		return false
	}
	if c.tokens > room {
		c.tokens, c.finish = room, "length"
	}
	return c.shapeOutput()
}

// shapeOutput makes the JSON that the response has to be. One without a text that may be any is a single token.
func (c *call) shapeOutput() bool {
	if c.p.Schema == nil || c.callsTool() {
		return true
	}
	d, err := schema.New(c.p.Schema)
	if err != nil {
		c.finish = ""
		c.fail(http.StatusBadRequest, err.Error())
		return false
	}
	c.shape, c.finish = &d, "stop" // it is complete
	if !d.Open {
		c.tokens = c.reasoning() + 1
	}
	return true
}

func (c *call) unauthorized() {
	c.fail(http.StatusUnauthorized, "Unauthorized: the API key is missing or wrong")
}

// notAllowed answers a request of another method.
func (c *call) notAllowed(allow string) {
	h := head{status: http.StatusMethodNotAllowed, ctype: "application/json", allow: allow}
	if c.api == body.Triton {
		c.failWith(h, "Method Not Allowed")
		return
	}
	c.sendUnstreamed(h, `{"detail":"Method Not Allowed"}`)
}

func (c *call) fail(status int, message string) { c.failWith(head{status: status}, message) }

func (c *call) failWith(h head, message string) {
	h.ctype = "application/json"
	c.sendUnstreamed(h, c.errorText(message, h.status))
}

// errorText is an error in the form of the API that was called.
func (c *call) errorText(message string, status int) string {
	switch c.api {
	case body.Triton:
		return `{"error":` + string(body.AppendQuoted(nil, message)) + `}`
	case body.Messages, body.CountTokens:
		return messageError(message, status)
	case body.Documents:
		if c.req.path == cohereRerank {
			return `{"id":"` + string(c.id) + `","message":` + string(body.AppendQuoted(nil, message)) + `}`
		}
	case body.SGLang:
		return `{"error":{"message":` + string(body.AppendQuoted(nil, message)) + `}}`
	case body.TGI, body.Rerank:
		return tgiError(message, status)
	}
	return errorObject(message, status)
}

func errorObject(message string, status int) string {
	return fmt.Sprintf(`{"error":{"message":%s,"type":%q,"param":null,"code":%d}}`, body.AppendQuoted(nil, message), errorType(status), status)
}

func errorType(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "AuthenticationError"
	case status == http.StatusNotFound:
		return "NotFoundError"
	case status == http.StatusTooManyRequests:
		return "RateLimitError"
	case status == http.StatusServiceUnavailable:
		return "ServiceUnavailableError"
	case status < http.StatusInternalServerError:
		return "BadRequestError"
	}
	return "InternalServerError"
}

// sendUnstreamed sends a response that is not a stream, in one write.
func (c *call) sendUnstreamed(h head, body string) {
	h.length = len(body)
	c.begin(h)
	c.str(body)
	c.event(truthfile.KindBody, 0, true)
}
