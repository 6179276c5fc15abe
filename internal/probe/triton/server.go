package triton

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe/prometheus"
	"github.com/inferometer/inferometer/internal/remote/proxy"
	"github.com/inferometer/inferometer/internal/wire/grpc"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// header is what every question carries.
func header(t plan.Target, key string, u *url.URL) http.Header {
	h := http.Header{"User-Agent": {"inferometer"}}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	} else if auth := timedconn.ProxyAuthorization(u); auth != "" {
		h.Set("Authorization", auth)
	}
	for name, value := range t.Headers {
		h.Set(name, value)
	}
	return h
}

// grpcServer asks over gRPC, on a connection of its own.
type grpcServer struct {
	client *grpc.Client
	dialer *timedconn.Dialer
}

func newGRPCServer(t plan.Target, u *url.URL, o Options) (*grpcServer, error) {
	secure := u.Scheme == "grpcs" || u.Scheme == "https"
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), "8001")
	}
	opt := timedconn.DialOptions{Tunnel: true, Timeout: time.Duration(t.Timeouts.Connect), Sources: t.SourceAddresses}
	if secure {
		opt.TLS = new(tls.Config)
		if o.TLS != nil {
			opt.TLS = o.TLS.Clone()
		}
		opt.TLS.ServerName = u.Hostname()
		opt.TLS.NextProtos = []string{"h2"}
	}
	var err error
	if opt.Proxy, err = proxy.For(t, u, o.Getenv); err != nil {
		return nil, err
	}
	h := header(t, o.Key, u)
	var metadata []http1.Field
	for _, name := range slices.Sorted(maps.Keys(h)) {
		metadata = append(metadata, http1.Field{Name: name, Value: h.Get(name)})
	}
	s := &grpcServer{dialer: timedconn.NewDialer(o.Clock, address, opt)}
	s.client = grpc.NewClient(o.Clock, s.dialer, grpc.Options{Authority: address, Metadata: metadata, Secure: secure})
	return s, nil
}

func (s *grpcServer) call(ctx context.Context, method, name, version string, answer any) error {
	message, err := kserve.Request(method).Encode(kserve.ModelName{Name: name, Version: version})
	if err != nil {
		return err
	}
	got, err := s.client.Call(ctx, method, message)
	if err != nil {
		return err
	}
	if err := kserve.Response(method).Decode(got, answer); err != nil {
		return fmt.Errorf("malformed response to %s: %w", method, err)
	}
	return nil
}

func (s *grpcServer) statistics(ctx context.Context, name, version string) ([]kserve.ModelStatistics, error) {
	var answer kserve.ModelStatisticsResponse
	err := s.call(ctx, kserve.ModelStatisticsMethod, name, version, &answer)
	return answer.ModelStats, err
}

func (s *grpcServer) config(ctx context.Context, name, version string) (*kserve.ModelConfig, error) {
	var answer kserve.ModelConfigResponse
	err := s.call(ctx, kserve.ModelConfigMethod, name, version, &answer)
	return answer.Config, err
}

func (s *grpcServer) close() error {
	err := s.client.Close()
	s.dialer.Close()
	return err
}

type httpServer struct {
	client *http.Client
	base   *url.URL
	header http.Header
}

func (s *httpServer) ask(ctx context.Context, path string, kind kserve.Message, answer any) error {
	u := *s.base
	u.Path = strings.TrimRight(u.Path, "/") + path
	u.User = nil
	text, status, err := prometheus.Get(ctx, s.client, u.String(), s.header)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		var said struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(text, &said) == nil && said.Error != "" {
			return errors.New(said.Error)
		}
		return fmt.Errorf("the server answers %s with HTTP status %d", path, status)
	}
	if err := kind.DecodeJSON(text, answer); err != nil {
		return fmt.Errorf("malformed response to %s: %w", path, err)
	}
	return nil
}

func (s *httpServer) statistics(ctx context.Context, name, version string) ([]kserve.ModelStatistics, error) {
	var answer kserve.ModelStatisticsResponse
	err := s.ask(ctx, modelPath(name, version)+"/stats", kserve.Response(kserve.ModelStatisticsMethod), &answer)
	return answer.ModelStats, err
}

func (s *httpServer) config(ctx context.Context, name, version string) (*kserve.ModelConfig, error) {
	c := new(kserve.ModelConfig)
	return c, s.ask(ctx, modelPath(name, version)+"/config", kserve.Response(kserve.ModelConfigMethod).Field("config"), c)
}

func (s *httpServer) close() error { return nil }

// modelPath is where a model is; all of them where it has no name.
func modelPath(name, version string) string {
	path := "/v2/models"
	if name != "" {
		path += "/" + name
	}
	if version != "" {
		path += "/versions/" + version
	}
	return path
}
