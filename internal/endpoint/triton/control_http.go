package triton

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/lib/localaddr"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/remote/proxy"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

type httpServer struct {
	client *http.Client
	base   *url.URL
	header http.Header
}

// newAsker makes a client for questions. It speaks HTTP/1.1, as Triton does, and
// keeps no connection: questions are few.
func newAsker(t plan.Target, o endpoint.Options, timeout time.Duration) *http.Client {
	config := o.TLS
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = proxy.Func(t, o.Getenv)
	transport.TLSClientConfig = config.Clone() // of nil means nil
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP1(true)
	transport.DisableKeepAlives = true
	localaddr.NewDialer(t.SourceAddresses).Use(transport)
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		return newPatient(dial(ctx, network, address))
	}
	transport.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		return newPatient(secure(ctx, config, address, dial))
	}
	return &http.Client{Transport: transport, Timeout: timeout}
}

// secure opens a TLS connection on one of dial's.
func secure(ctx context.Context, config *tls.Config, address string,
	dial func(ctx context.Context, network, address string) (net.Conn, error)) (net.Conn, error) {
	plain, err := dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := new(tls.Config)
	if config != nil {
		c = config.Clone()
	}
	if c.ServerName == "" {
		c.ServerName, _, _ = net.SplitHostPort(address)
	}
	conn := tls.Client(plain, c)
	if err := conn.HandshakeContext(ctx); err != nil {
		plain.Close()
		return nil, &timedconn.Error{Class: record.TLSFailed, Err: err}
	}
	return conn, nil
}

// writeFirstConn is a connection that reads nothing before it has written: net/http logs
// what comes unasked, as from a server that speaks another protocol.
type writeFirstConn struct {
	net.Conn
	once  sync.Once
	wrote chan struct{}
}

func newPatient(c net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	return &writeFirstConn{Conn: c, wrote: make(chan struct{})}, nil
}

func (p *writeFirstConn) Read(b []byte) (int, error) {
	<-p.wrote
	return p.Conn.Read(b)
}

func (p *writeFirstConn) Write(b []byte) (int, error) {
	p.once.Do(func() { close(p.wrote) })
	return p.Conn.Write(b)
}

func (p *writeFirstConn) Close() error {
	p.once.Do(func() { close(p.wrote) })
	return p.Conn.Close()
}

// notFound: there is nothing at that path, and the answer is not in the words of the
// protocol.
type notFound struct{ path, status string }

func (e *notFound) Error() string { return "it answers " + e.path + " with " + e.status }

// strange: the answer is no document of the protocol.
type strange struct{ path, what string }

func (e *strange) Error() string { return "it answers " + e.path + " with " + e.what }

// mostAnswer bounds what a server may tell about itself.
const mostAnswer = 16 << 20

// ask gets a JSON document; nil means whether there is an answer is all. send is what a POST carries.
func (s *httpServer) ask(ctx context.Context, method, path, send string, answer any) error {
	u := *s.base
	u.Path = strings.TrimRight(u.Path, "/") + path
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader(send)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return err
	}
	req.Header = s.header.Clone()
	resp, err := s.client.Do(req)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) { // its text has the whole URL, which may hold a secret
			err = failed.Err
		}
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return fmt.Errorf("the response to %s was cut off: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		var said struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(text, &said) == nil && said.Error != "" {
			return &serverError{said.Error}
		}
		return &notFound{path, resp.Status}
	}
	switch answer := answer.(type) {
	case nil:
		return nil
	case *kserve.ModelMetadata:
		err = kserve.Response(kserve.ModelMetadataMethod).DecodeJSON(text, answer)
	case *kserve.ModelConfig:
		err = kserve.Response(kserve.ModelConfigMethod).Field("config").DecodeJSON(text, answer)
	default:
		err = json.Unmarshal(text, answer)
	}
	if err != nil {
		what := "something other than the protocol's JSON"
		if text = bytes.TrimSpace(text); len(text) > 0 && text[0] == '<' {
			what = "an HTML page"
		}
		return &strange{path, what}
	}
	return nil
}

func (s *httpServer) alive(ctx context.Context) error {
	var about struct {
		Name string `json:"name"`
	}
	err := s.ask(ctx, http.MethodGet, "/v2", "", &about)
	if err == nil && about.Name == "" {
		return errors.New("it answers /v2 without the name of a server")
	}
	return err
}

func (s *httpServer) model(ctx context.Context, name, version string) (*kserve.ModelMetadata, *kserve.ModelConfig, error) {
	path := modelPath(name, version)
	var m kserve.ModelMetadata
	if err := s.ask(ctx, http.MethodGet, path, "", &m); err != nil {
		return nil, nil, err
	}
	var c kserve.ModelConfig
	err := s.ask(ctx, http.MethodGet, path+"/config", "", &c)
	if missing := (*notFound)(nil); errors.As(err, &missing) {
		return &m, nil, nil
	}
	return &m, &c, err
}

func (s *httpServer) index(ctx context.Context) ([]listed, error) {
	var list []listed
	err := s.ask(ctx, http.MethodPost, "/v2/repository/index", "{}", &list)
	return list, err
}

func (s *httpServer) register(ctx context.Context, name, key string, size int64) error {
	send, err := json.Marshal(map[string]any{"key": key, "offset": 0, "byte_size": size})
	if err != nil {
		return err
	}
	return s.ask(ctx, http.MethodPost, regionPath(name)+"/register", string(send), nil)
}

func (s *httpServer) unregister(ctx context.Context, name string) error {
	return s.ask(ctx, http.MethodPost, regionPath(name)+"/unregister", "", nil)
}

// regionPath is where a region of shared memory is.
func regionPath(name string) string { return "/v2/systemsharedmemory/region/" + name }

// modelPath is where a model is.
func modelPath(name, version string) string {
	path := "/v2/models/" + name
	if version != "" {
		path += "/versions/" + version
	}
	return path
}
