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

	"github.com/inferometer/inferometer/internal/mock/repository"
)

// statusOf is the HTTP status of a refusal.
func statusOf(code repository.Code) int {
	switch code {
	case repository.CodeInvalid, repository.CodeExists:
		return http.StatusBadRequest
	case repository.CodeNotFound:
		return http.StatusNotFound
	case repository.CodeUnimplemented:
		return http.StatusNotImplemented
	case repository.CodeUnavailable:
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
		s.page(c, http.MethodGet, func() (any, *repository.Refusal) {
			return struct {
				Name       string   `json:"name"`
				Version    string   `json:"version"`
				Extensions []string `json:"extensions"`
			}{"triton", serverVersion, extensions()}, nil
		})
	case parts[0] == "health" && len(parts) == 2 && (parts[1] == "live" || parts[1] == "ready"):
		c.whole(head{status: http.StatusOK, ctype: "text/plain"}, "")
	case parts[0] == "models" && len(parts) == 2 && parts[1] == "stats":
		s.page(c, http.MethodGet, func() (any, *repository.Refusal) { return s.triton.StatisticsJSON("", "") })
	case parts[0] == "models" && len(parts) > 1:
		s.tritonModelHTTP(c, parts[1:])
	case parts[0] == "repository":
		s.repositoryHTTP(c, parts[1:])
	case parts[0] == "systemsharedmemory":
		s.sharedMemoryHTTP(c, parts[1:])
	default:
		c.refuse(repository.Refuse(repository.CodeNotFound, "Not Found"))
	}
}

// refuse answers with an error in Triton's form.
func (c *call) refuse(e *repository.Refusal) {
	c.fail(head{status: statusOf(e.Code), ctype: "application/json"}, e.Message)
}

// page answers with JSON. A nil value is an empty page.
func (s *Server) page(c *call, method string, value func() (any, *repository.Refusal)) {
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
			c.refuse(repository.Refuse(repository.CodeInternal, "%s", err.Error()))
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
		s.page(c, http.MethodGet, func() (any, *repository.Refusal) {
			m, failure := s.triton.Find(name, version)
			if failure != nil {
				return nil, failure
			}
			return m.MetadataJSON(), nil
		})
	case "config":
		s.page(c, http.MethodGet, func() (any, *repository.Refusal) {
			m, failure := s.triton.Find(name, version)
			if failure != nil {
				return nil, failure
			}
			return m.ConfigJSON(), nil
		})
	case "stats":
		s.page(c, http.MethodGet, func() (any, *repository.Refusal) { return s.triton.StatisticsJSON(name, version) })
	case "ready":
		if _, failure := s.triton.Find(name, version); failure != nil {
			c.fail(head{status: http.StatusBadRequest, ctype: "text/plain"}, "Model version not ready")
			return
		}
		c.whole(head{status: http.StatusOK, ctype: "text/plain"}, "")
	case "trace/setting":
		c.whole(head{status: http.StatusOK, ctype: "application/json"}, "{}")
	default:
		c.refuse(repository.Refuse(repository.CodeNotFound, "Not Found"))
	}
}

// repositoryHTTP serves the index, and loading and unloading.
func (s *Server) repositoryHTTP(c *call, parts []string) {
	switch {
	case len(parts) == 1 && parts[0] == "index":
		s.page(c, http.MethodPost, func() (any, *repository.Refusal) {
			var r struct {
				Ready bool `json:"ready"`
			}
			if len(c.req.body) > 0 {
				if err := json.Unmarshal(c.req.body, &r); err != nil {
					return nil, repository.Refuse(repository.CodeInternal, "failed to parse the request JSON buffer: %v", err)
				}
			}
			return s.triton.Index(r.Ready), nil
		})
	case len(parts) == 3 && parts[0] == "models" && parts[2] == "load":
		s.page(c, http.MethodPost, func() (any, *repository.Refusal) { return nil, s.triton.Load(parts[1]) })
	case len(parts) == 3 && parts[0] == "models" && parts[2] == "unload":
		s.page(c, http.MethodPost, func() (any, *repository.Refusal) {
			var r struct {
				Parameters struct {
					Dependents bool `json:"unload_dependents"`
				} `json:"parameters"`
			}
			if len(c.req.body) > 0 {
				if err := json.Unmarshal(c.req.body, &r); err != nil {
					return nil, repository.Refuse(repository.CodeInternal, "failed to parse the request JSON buffer: %v", err)
				}
			}
			return nil, s.triton.Unload(parts[1], r.Parameters.Dependents)
		})
	default:
		c.refuse(repository.Refuse(repository.CodeNotFound, "Not Found"))
	}
}

// sharedMemoryHTTP serves the regions of shared memory.
func (s *Server) sharedMemoryHTTP(c *call, parts []string) {
	name := ""
	if len(parts) == 3 && parts[0] == "region" {
		name, parts = parts[1], parts[2:]
	}
	if len(parts) != 1 {
		c.refuse(repository.Refuse(repository.CodeNotFound, "Not Found"))
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
		s.page(c, http.MethodGet, func() (any, *repository.Refusal) {
			regions, failure := s.triton.Regions.Status(name)
			all := []status{}
			for _, r := range regions {
				all = append(all, status{r.Name, r.Key, r.Offset, r.Size})
			}
			return all, failure
		})
	case "register":
		s.page(c, http.MethodPost, func() (any, *repository.Refusal) {
			var r status
			if err := json.Unmarshal(c.req.body, &r); err != nil {
				return nil, repository.Refuse(repository.CodeInternal, "failed to parse the request JSON buffer: %v", err)
			}
			return nil, s.triton.Regions.Register(repository.Region{Name: name, Key: r.Key, Offset: r.Offset, Size: r.Size})
		})
	case "unregister":
		s.page(c, http.MethodPost, func() (any, *repository.Refusal) {
			s.triton.Regions.Unregister(name)
			return nil, nil
		})
	default:
		c.refuse(repository.Refuse(repository.CodeNotFound, "Not Found"))
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
func (c *call) readTriton(name, version, verb string) *repository.Refusal {
	m, failure := c.s.triton.Find(name, version)
	if failure != nil {
		return failure
	}
	if verb == "infer" && m.Spec.Decoupled {
		return repository.Refuse(repository.CodeUnimplemented, "HTTP end point doesn't support models with decoupled transaction policy")
	}
	body, err := unpackBody(c.req.encoding, c.req.body)
	if err != nil {
		return repository.Refuse(repository.CodeInvalid, "failed to decompress the request: %v", err)
	}
	r := &c.t.request
	r.Reset()
	r.Model, r.Version = name, version
	if verb == "infer" {
		failure = r.ReadJSON(body, c.req.jsonLength)
	} else {
		failure = r.ReadGenerate(body, m)
	}
	if failure != nil {
		return failure
	}
	if r.ID != "" {
		c.req.id = r.ID
	}
	return c.acceptTriton(m, r)
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
