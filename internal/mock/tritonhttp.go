package mock

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// statusOf is the HTTP status of a refusal.
func statusOf(code grpcCode) int {
	switch code {
	case codeInvalid, codeExists:
		return http.StatusBadRequest
	case codeNotFound:
		return http.StatusNotFound
	case codeUnimplemented:
		return http.StatusNotImplemented
	case codeUnavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// tritonHTTP serves Triton's HTTP API.
func (s *Server) tritonHTTP(c *call) {
	c.api = tritonAPI
	path, err := url.PathUnescape(c.req.path)
	if err != nil {
		path = c.req.path
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")[1:]
	switch {
	case len(parts) == 0:
		s.page(c, http.MethodGet, func() (any, *rpcError) {
			return struct {
				Name       string   `json:"name"`
				Version    string   `json:"version"`
				Extensions []string `json:"extensions"`
			}{"triton", serverVersion, extensions()}, nil
		})
	case parts[0] == "health" && len(parts) == 2 && (parts[1] == "live" || parts[1] == "ready"):
		c.whole(head{status: http.StatusOK, ctype: "text/plain"}, "")
	case parts[0] == "models" && len(parts) == 2 && parts[1] == "stats":
		s.page(c, http.MethodGet, func() (any, *rpcError) { return s.triton.statisticsJSON("", "") })
	case parts[0] == "models" && len(parts) > 1:
		s.tritonModelHTTP(c, parts[1:])
	case parts[0] == "repository":
		s.repositoryHTTP(c, parts[1:])
	case parts[0] == "systemsharedmemory":
		s.sharedMemoryHTTP(c, parts[1:])
	default:
		c.refuse(&rpcError{codeNotFound, "Not Found"})
	}
}

// refuse answers with an error in Triton's form.
func (c *call) refuse(e *rpcError) {
	c.fail(head{status: statusOf(e.code), ctype: "application/json"}, e.message)
}

// page answers with JSON. A nil value is an empty page.
func (s *Server) page(c *call, method string, value func() (any, *rpcError)) {
	if c.req.method != method {
		c.fail(head{status: http.StatusMethodNotAllowed, ctype: "application/json", allow: method}, "Method Not Allowed")
		return
	}
	v, failure := value()
	if failure != nil {
		c.refuse(failure)
		return
	}
	text := ""
	if v != nil {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			c.refuse(&rpcError{codeInternal, err.Error()})
			return
		}
		text = strings.TrimSuffix(b.String(), "\n")
	}
	c.whole(head{status: http.StatusOK, ctype: "application/json"}, text)
}

// tritonModelHTTP serves the pages and the work of a model.
func (s *Server) tritonModelHTTP(c *call, parts []string) {
	name, version, verb := parts[0], "", ""
	rest := parts[1:]
	if len(rest) >= 2 && rest[0] == "versions" {
		version, rest = rest[1], rest[2:]
	}
	if len(rest) > 0 {
		verb = strings.Join(rest, "/")
	}
	switch verb {
	case "infer", "generate", "generate_stream":
		s.inferHTTP(c, name, version, verb)
	case "":
		s.page(c, http.MethodGet, func() (any, *rpcError) {
			m, failure := s.triton.find(name, version)
			if failure != nil {
				return nil, failure
			}
			return m.metadataJSON(), nil
		})
	case "config":
		s.page(c, http.MethodGet, func() (any, *rpcError) {
			m, failure := s.triton.find(name, version)
			if failure != nil {
				return nil, failure
			}
			return m.configJSON(), nil
		})
	case "stats":
		s.page(c, http.MethodGet, func() (any, *rpcError) { return s.triton.statisticsJSON(name, version) })
	case "ready":
		if _, failure := s.triton.find(name, version); failure != nil {
			c.fail(head{status: http.StatusBadRequest, ctype: "text/plain"}, "Model version not ready")
			return
		}
		c.whole(head{status: http.StatusOK, ctype: "text/plain"}, "")
	case "trace/setting":
		c.whole(head{status: http.StatusOK, ctype: "application/json"}, "{}")
	default:
		c.refuse(&rpcError{codeNotFound, "Not Found"})
	}
}

// repositoryHTTP serves the index, and loading and unloading.
func (s *Server) repositoryHTTP(c *call, parts []string) {
	switch {
	case len(parts) == 1 && parts[0] == "index":
		s.page(c, http.MethodPost, func() (any, *rpcError) {
			var r struct {
				Ready bool `json:"ready"`
			}
			if len(c.req.body) > 0 {
				if err := json.Unmarshal(c.req.body, &r); err != nil {
					return nil, refusal(codeInternal, "failed to parse the request JSON buffer: %v", err)
				}
			}
			return s.triton.index(r.Ready), nil
		})
	case len(parts) == 3 && parts[0] == "models" && parts[2] == "load":
		s.page(c, http.MethodPost, func() (any, *rpcError) { return nil, s.triton.load(parts[1]) })
	case len(parts) == 3 && parts[0] == "models" && parts[2] == "unload":
		s.page(c, http.MethodPost, func() (any, *rpcError) {
			var r struct {
				Parameters struct {
					Dependents bool `json:"unload_dependents"`
				} `json:"parameters"`
			}
			if len(c.req.body) > 0 {
				if err := json.Unmarshal(c.req.body, &r); err != nil {
					return nil, refusal(codeInternal, "failed to parse the request JSON buffer: %v", err)
				}
			}
			return nil, s.triton.unload(parts[1], r.Parameters.Dependents)
		})
	default:
		c.refuse(&rpcError{codeNotFound, "Not Found"})
	}
}

// sharedMemoryHTTP serves the regions of shared memory.
func (s *Server) sharedMemoryHTTP(c *call, parts []string) {
	name := ""
	if len(parts) == 3 && parts[0] == "region" {
		name, parts = parts[1], parts[2:]
	}
	if len(parts) != 1 {
		c.refuse(&rpcError{codeNotFound, "Not Found"})
		return
	}
	type status struct {
		Name   string `json:"name"`
		Key    string `json:"key"`
		Offset uint64 `json:"offset"`
		Size   uint64 `json:"byte_size"`
	}
	switch parts[0] {
	case "status":
		s.page(c, http.MethodGet, func() (any, *rpcError) {
			regions, failure := s.triton.regions.status(name)
			all := []status{}
			for _, r := range regions {
				all = append(all, status{r.name, r.key, r.offset, r.size})
			}
			return all, failure
		})
	case "register":
		s.page(c, http.MethodPost, func() (any, *rpcError) {
			var r status
			if err := json.Unmarshal(c.req.body, &r); err != nil {
				return nil, refusal(codeInternal, "failed to parse the request JSON buffer: %v", err)
			}
			return nil, s.triton.regions.register(region{name, r.Key, r.Offset, r.Size})
		})
	case "unregister":
		s.page(c, http.MethodPost, func() (any, *rpcError) {
			s.triton.regions.unregister(name)
			return nil, nil
		})
	default:
		c.refuse(&rpcError{codeNotFound, "Not Found"})
	}
}

// inferHTTP serves a request for inference: faults strike it and the truth file tells of it.
func (s *Server) inferHTTP(c *call, name, version, verb string) {
	defer c.done()
	number := s.requests.Add(1) - 1
	c.makeID("triton-", number)
	if c.req.method != http.MethodPost {
		c.fail(head{status: http.StatusMethodNotAllowed, ctype: "application/json", allow: http.MethodPost}, "Method Not Allowed")
		return
	}
	if !s.authorized(c) {
		c.unauthorized()
		return
	}
	c.pcg.Seed(s.cfg.Seed^faultDraws, number)
	if f, struck := pick(s.cfg.Faults, false, c.seq.rng.Float64()); struck {
		c.fault, c.faultName = f.Kind, f.name()
		if c.instead(f) {
			return
		}
	}
	c.pcg.Seed(s.cfg.Seed, number)
	if failure := c.readTriton(name, version, verb); failure != nil {
		c.refuse(failure)
		return
	}
	c.tritonAnswer(verb)
}

// readTriton reads the body of a request for inference.
func (c *call) readTriton(name, version, verb string) *rpcError {
	m, failure := c.s.triton.find(name, version)
	if failure != nil {
		return failure
	}
	if verb == "infer" && m.spec.decoupled {
		return refusal(codeUnimplemented, "HTTP end point doesn't support models with decoupled transaction policy")
	}
	body, err := unpackBody(c.req.encoding, c.req.body)
	if err != nil {
		return refusal(codeInvalid, "failed to decompress the request: %v", err)
	}
	r := &c.t.request
	r.reset()
	r.model, r.version = name, version
	if verb == "infer" {
		failure = r.readJSON(body, c.req.jsonLength)
	} else {
		failure = r.readGenerate(body, m)
	}
	if failure != nil {
		return failure
	}
	if r.id != "" {
		c.req.id = r.id
	}
	return c.s.triton.accept(c, m, r)
}

// unpackBody undoes a body's compression.
func unpackBody(encoding string, b []byte) ([]byte, error) {
	var r io.Reader
	var err error
	switch encoding {
	case "gzip":
		r, err = gzip.NewReader(bytes.NewReader(b))
	case "deflate":
		r, err = zlib.NewReader(bytes.NewReader(b))
	default:
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxBody))
}
