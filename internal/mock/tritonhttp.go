package mock

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/mock/body"
	"github.com/inferometer/inferometer/internal/mock/repository"
)

func statusOf(code repository.Code) int {
	switch code {
	case repository.CodeInvalid, repository.CodeExists:
		return http.StatusBadRequest
	case repository.CodeNotFound:
		return http.StatusNotFound
	case repository.CodeUnimplemented:
		return http.StatusNotImplemented
	}
	return http.StatusInternalServerError
}

func (s *Server) tritonHTTP(c *call) {
	c.api = body.Triton
	path, err := url.PathUnescape(c.req.path)
	if err != nil {
		path = c.req.path
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")[1:]
	switch {
	case len(parts) == 0:
		s.page(c, http.MethodGet, func() (any, *repository.StatusError) {
			return struct {
				Name       string   `json:"name"`
				Version    string   `json:"version"`
				Extensions []string `json:"extensions"`
			}{"triton", serverVersion, extensions()}, nil
		})
	case parts[0] == "health" && len(parts) == 2 && (parts[1] == "live" || parts[1] == "ready"):
		c.sendUnstreamed(head{status: http.StatusOK, ctype: "text/plain"}, "")
	case parts[0] == "models" && len(parts) == 2 && parts[1] == "stats":
		s.page(c, http.MethodGet, func() (any, *repository.StatusError) { return s.triton.Statistics("", "") })
	case parts[0] == "models" && len(parts) > 1:
		s.tritonModelHTTP(c, parts[1:])
	case parts[0] == "repository":
		s.repositoryHTTP(c, parts[1:])
	case parts[0] == "systemsharedmemory":
		s.sharedMemoryHTTP(c, parts[1:])
	default:
		c.notFound()
	}
}

func (c *call) notFound() { c.fail(http.StatusNotFound, "Not Found") }

// refuse answers with an error in Triton's form.
func (c *call) refuse(e *repository.StatusError) { c.fail(statusOf(e.Code), e.Message) }

// page answers with JSON. A nil value is an empty page.
func (s *Server) page(c *call, method string, value func() (any, *repository.StatusError)) {
	if c.req.method != method {
		c.notAllowed(method)
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
	c.sendUnstreamed(head{status: http.StatusOK, ctype: "application/json"}, text)
}

// into reads the JSON that a request brings.
func (c *call) into(v any) *repository.StatusError {
	if err := json.Unmarshal(c.req.body, v); err != nil {
		return repository.Refuse(repository.CodeInternal, "failed to parse the request JSON buffer: %v", err)
	}
	return nil
}

// tritonModelHTTP serves the pages and the work of a model.
func (s *Server) tritonModelHTTP(c *call, parts []string) {
	name, version, rest := parts[0], "", parts[1:]
	if len(rest) >= 2 && rest[0] == "versions" {
		version, rest = rest[1], rest[2:]
	}
	about := func(describe func(*repository.Model) any) {
		s.page(c, http.MethodGet, func() (any, *repository.StatusError) {
			m, failure := s.triton.Find(name, version)
			if failure != nil {
				return nil, failure
			}
			return describe(m), nil
		})
	}
	switch verb := strings.Join(rest, "/"); verb {
	case "infer", "generate", "generate_stream":
		s.inferHTTP(c, name, version, verb)
	case "":
		about((*repository.Model).Metadata)
	case "config":
		about((*repository.Model).Config)
	case "stats":
		s.page(c, http.MethodGet, func() (any, *repository.StatusError) { return s.triton.Statistics(name, version) })
	case "ready":
		if _, failure := s.triton.Find(name, version); failure != nil {
			c.sendUnstreamed(head{status: http.StatusBadRequest, ctype: "text/plain"}, c.errorText("Model version not ready", http.StatusBadRequest))
			return
		}
		c.sendUnstreamed(head{status: http.StatusOK, ctype: "text/plain"}, "")
	case "trace/setting":
		c.sendUnstreamed(head{status: http.StatusOK, ctype: "application/json"}, "{}")
	default:
		c.notFound()
	}
}

func (s *Server) repositoryHTTP(c *call, parts []string) {
	switch {
	case len(parts) == 1 && parts[0] == "index":
		s.page(c, http.MethodPost, func() (any, *repository.StatusError) {
			var r struct {
				Ready bool `json:"ready"`
			}
			if len(c.req.body) > 0 {
				if failure := c.into(&r); failure != nil {
					return nil, failure
				}
			}
			return s.triton.Index(r.Ready), nil
		})
	case len(parts) == 3 && parts[0] == "models" && parts[2] == "load":
		s.page(c, http.MethodPost, func() (any, *repository.StatusError) { return nil, s.triton.Load(parts[1]) })
	case len(parts) == 3 && parts[0] == "models" && parts[2] == "unload":
		s.page(c, http.MethodPost, func() (any, *repository.StatusError) {
			var r struct {
				Parameters struct {
					Dependents bool `json:"unload_dependents"`
				} `json:"parameters"`
			}
			if len(c.req.body) > 0 {
				if failure := c.into(&r); failure != nil {
					return nil, failure
				}
			}
			return nil, s.triton.Unload(parts[1], r.Parameters.Dependents)
		})
	default:
		c.notFound()
	}
}

func (s *Server) sharedMemoryHTTP(c *call, parts []string) {
	name := ""
	if len(parts) == 3 && parts[0] == "region" {
		name, parts = parts[1], parts[2:]
	}
	if len(parts) != 1 {
		c.notFound()
		return
	}
	switch parts[0] {
	case "status":
		s.page(c, http.MethodGet, func() (any, *repository.StatusError) {
			regions, failure := s.triton.Regions.Status(name)
			return append([]repository.Region{}, regions...), failure // never null
		})
	case "register":
		s.page(c, http.MethodPost, func() (any, *repository.StatusError) {
			var r repository.Region
			if failure := c.into(&r); failure != nil {
				return nil, failure
			}
			r.Name = name
			return nil, s.triton.Regions.Register(r)
		})
	case "unregister":
		s.page(c, http.MethodPost, func() (any, *repository.StatusError) {
			s.triton.Regions.Unregister(name)
			return nil, nil
		})
	default:
		c.notFound()
	}
}

// inferHTTP serves a request for inference: faults strike it and the truth file tells of it.
func (s *Server) inferHTTP(c *call, name, version, verb string) {
	defer c.done()
	if !c.accept() {
		return
	}
	if failure := c.readTriton(name, version, verb); failure != nil {
		c.refuse(failure)
		return
	}
	c.tritonAnswer(verb)
}

// readTriton reads the body of a request for inference.
func (c *call) readTriton(name, version, verb string) *repository.StatusError {
	m, failure := c.s.triton.Find(name, version)
	if failure != nil {
		return failure
	}
	if verb == "infer" && m.Spec.Decoupled {
		return repository.Refuse(repository.CodeUnimplemented, "HTTP end point doesn't support models with decoupled transaction policy")
	}
	body := c.req.body
	unpacked, err := decompress(c.req.encoding, body)
	if err == nil && unpacked != nil {
		body, err = io.ReadAll(io.LimitReader(unpacked, maxBody))
	}
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

// decompress undoes a compression; nil means there is none of that name.
func decompress(encoding string, b []byte) (io.Reader, error) {
	switch encoding {
	case "gzip":
		return gzip.NewReader(bytes.NewReader(b))
	case "deflate":
		return zlib.NewReader(bytes.NewReader(b))
	}
	return nil, nil
}

// appendJSONValues writes raw values as JSON, separated by commas.
func appendJSONValues(b []byte, datatype string, data []byte) []byte {
	size := repository.ElementSize(datatype)
	for i := 0; len(data) > 0; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		if size == 0 {
			n := min(repository.StringLength(data), len(data)-4)
			b = body.AppendQuoted(b, string(data[4:4+n]))
			data = data[4+n:]
			continue
		}
		b = appendJSONValue(b, datatype, data[:size])
		data = data[size:]
	}
	return b
}

func appendJSONValue(b []byte, datatype string, data []byte) []byte {
	var v uint64
	for i := len(data) - 1; i >= 0; i-- {
		v = v<<8 | uint64(data[i])
	}
	float := func(f float64, bits int) []byte {
		from := len(b)
		b = strconv.AppendFloat(b, f, 'g', -1, bits)
		if !bytes.ContainsAny(b[from:], ".e") {
			b = append(b, ".0"...)
		}
		return b
	}
	switch datatype {
	case "BOOL":
		return strconv.AppendBool(b, v != 0)
	case "FP32":
		return float(float64(math.Float32frombits(uint32(v))), 32)
	case "FP64":
		return float(math.Float64frombits(v), 64)
	case "INT8":
		return strconv.AppendInt(b, int64(int8(v)), 10)
	case "INT16":
		return strconv.AppendInt(b, int64(int16(v)), 10)
	case "INT32":
		return strconv.AppendInt(b, int64(int32(v)), 10)
	case "INT64":
		return strconv.AppendInt(b, int64(v), 10)
	}
	return strconv.AppendUint(b, v, 10)
}
