package mock

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// answer serves one request. The call has been reset for it.
func (s *Server) answer(c *call) {
	switch c.req.path {
	case "/v1/chat/completions":
		s.infer(c, chat)
	case "/v1/completions":
		s.infer(c, completions)
	case "/v1/embeddings":
		s.infer(c, embeddings)
	case "/v1/messages":
		s.infer(c, messages)
	case "/v1/ranking":
		s.infer(c, ranking)
	case "/rerank", "/v1/rerank":
		s.infer(c, rerank)
	case "/v1/infer":
		s.infer(c, retrieval)
	case "/", "/generate", "/generate_stream":
		s.infer(c, tgi)
	case "/v1/models":
		s.get(c, "application/json", s.models)
	case "/health", "/ping":
		s.get(c, "application/json", func() string { return "" })
	case "/metrics":
		s.get(c, "text/plain; version=0.0.4; charset=utf-8", func() string {
			return s.metrics.text(s.cfg.Models[0], s.model) + s.tritonMetrics()
		})
	default:
		if strings.HasPrefix(c.req.path, "/v2") {
			s.tritonHTTP(c)
			return
		}
		c.whole(head{status: http.StatusNotFound, ctype: "application/json"}, `{"detail":"Not Found"}`)
	}
}

// get answers the pages that are only looked at.
func (s *Server) get(c *call, ctype string, page func() string) {
	switch {
	case c.req.method != http.MethodGet:
		c.whole(head{status: http.StatusMethodNotAllowed, ctype: "application/json", allow: "GET"}, `{"detail":"Method Not Allowed"}`)
	case strings.HasPrefix(c.req.path, "/v1/") && !s.authorized(c):
		c.unauthorized()
	default:
		c.whole(head{status: http.StatusOK, ctype: ctype}, page())
	}
}

func (s *Server) authorized(c *call) bool {
	return s.authorizedBy(c.req.auth) || c.req.key == s.cfg.APIKey
}

func (s *Server) authorizedBy(auth string) bool {
	return s.cfg.APIKey == "" || auth == "Bearer "+s.cfg.APIKey
}

func (s *Server) models() string {
	var b []byte
	b = append(b, `{"object":"list","data":[`...)
	for i, m := range s.cfg.Models {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = appendQuoted(b, m)
		b = fmt.Appendf(b, `,"object":"model","created":%d,"owned_by":"inferometer","root":`, s.clock.base.Unix())
		b = appendQuoted(b, m)
		b = fmt.Appendf(b, `,"parent":null,"max_model_len":%d,"permission":[]}`, s.cfg.Output.MaxModelLen)
	}
	return string(append(b, `]}`...))
}

// infer serves the endpoints that faults strike and the truth file tells of.
func (s *Server) infer(c *call, a api) {
	defer c.done()
	number := s.requests.Add(1) - 1
	c.api = a
	c.makeID(a.prefix(), number)
	if c.req.method != http.MethodPost {
		c.whole(head{status: http.StatusMethodNotAllowed, ctype: "application/json", allow: "POST"}, `{"detail":"Method Not Allowed"}`)
		return
	}
	if !s.authorized(c) {
		c.unauthorized()
		return
	}
	// Faults have a stream of draws of their own, so that asking for some
	// leaves the latencies of all requests as they were.
	c.pcg.Seed(s.cfg.Seed^faultDraws, number)
	fault, struck := pick(s.cfg.Faults, false, c.seq.rng.Float64())
	if struck {
		c.fault, c.faultName = fault.Kind, fault.name()
		if c.instead(fault) {
			return
		}
	}
	c.pcg.Seed(s.cfg.Seed, number)
	if !c.readBody() {
		return
	}
	c.generate()
}

// instead plays the faults that take the place of an answer.
func (c *call) instead(f Fault) bool {
	switch f.Kind {
	case Status:
		h := head{status: f.Code, ctype: "application/json"}
		if f.Code == http.StatusTooManyRequests || f.Code == http.StatusServiceUnavailable {
			h.retryAfter = c.s.cfg.RetryAfter
		}
		c.fail(h, "injected fault: "+http.StatusText(f.Code))
	case Close:
		c.out.cut(false)
	case Garbage:
		c.whole(head{status: http.StatusOK, ctype: "application/octet-stream"}, "\x00\xff\xfe{]\x1b[data: \r\n\r\n\x80\x81 not an answer \xc3\x28\n")
	case HTML:
		c.whole(head{status: http.StatusOK, ctype: "text/html; charset=utf-8"},
			"<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body><h1>It works</h1><p>There is no model behind this page.</p></body></html>\n")
	default:
		return false
	}
	return true
}

// readBody decodes the body, and answers those that cannot be served.
func (c *call) readBody() bool {
	s := c.s
	c.reader = bodyReader{api: c.api, strict: s.cfg.Strict, p: &c.p}
	if err := c.reader.read(c.req.body); err != nil {
		c.fail(head{status: http.StatusBadRequest, ctype: "application/json"}, err.Error())
		return false
	}
	if c.api == messages && s.cfg.Strict && c.req.version == "" {
		c.fail(head{status: http.StatusBadRequest, ctype: "application/json"}, "anthropic-version: header is required")
		return false
	}
	if c.api == tgi && c.req.path != "/" {
		c.p.stream = c.req.path == "/generate_stream"
	}
	if len(c.p.model) == 0 {
		c.p.model = s.firstModel
	} else if s.cfg.Strict && !s.serves(c.p.model) {
		c.fail(head{status: http.StatusNotFound, ctype: "application/json"}, "The model `"+unquote(c.p.model)+"` does not exist.")
		return false
	}
	if !c.api.generates() {
		return true
	}
	c.choices = c.p.n * c.p.inputs
	c.tokens, c.finish = outputLength(&s.cfg.Output, &c.p, c.seq.rng)
	room := s.cfg.Output.MaxModelLen - c.p.words.n
	if limit := c.p.limit(); room < 1 || limit > room {
		c.finish = ""
		c.fail(head{status: http.StatusBadRequest, ctype: "application/json"}, fmt.Sprintf(
			"This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion). Please reduce the length of the messages or completion.",
			s.cfg.Output.MaxModelLen, c.p.words.n+max(limit, 0), c.p.words.n, max(limit, 0)))
		return false
	}
	if c.tokens > room {
		c.tokens, c.finish = room, "length"
	}
	return true
}

// serves says whether the model, as it stands in the JSON, is one of ours.
func (s *Server) serves(raw []byte) bool {
	name := unquote(raw)
	for _, m := range s.cfg.Models {
		if m == name {
			return true
		}
	}
	return false
}

func (c *call) unauthorized() {
	c.fail(head{status: http.StatusUnauthorized, ctype: "application/json"}, "Unauthorized: the API key is missing or wrong")
}

// fail answers with an error object.
func (c *call) fail(h head, message string) {
	c.whole(h, c.errorText(message, h.status))
}

// errorText is an error in the form of the API that was called.
func (c *call) errorText(message string, status int) string {
	switch c.api {
	case tritonAPI:
		return `{"error":` + string(appendQuoted(nil, message)) + `}`
	case messages:
		return messageError(message, status)
	case tgi, rerank:
		return tgiError(message, status)
	}
	return errorObject(message, status)
}

func errorObject(message string, status int) string {
	b := append([]byte(nil), `{"error":{"message":`...)
	b = appendQuoted(b, message)
	b = append(b, `,"type":"`...)
	b = append(b, errorType(status)...)
	b = append(b, `","param":null,"code":`...)
	b = strconv.AppendInt(b, int64(status), 10)
	return string(append(b, `}}`...))
}

func errorType(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "BadRequestError"
	case http.StatusUnauthorized:
		return "AuthenticationError"
	case http.StatusNotFound:
		return "NotFoundError"
	case http.StatusTooManyRequests:
		return "RateLimitError"
	case http.StatusServiceUnavailable:
		return "ServiceUnavailableError"
	}
	if status < http.StatusInternalServerError {
		return "BadRequestError"
	}
	return "InternalServerError"
}

// whole sends an answer that is not a stream, in one write.
func (c *call) whole(h head, body string) {
	h.length = len(body)
	c.begin(h)
	c.str(body)
	c.event(kindBody, 0, true)
}
