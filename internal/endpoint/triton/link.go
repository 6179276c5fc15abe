package triton

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor/v2http"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/remote/proxy"
	"github.com/inferometer/inferometer/internal/wire/grpc"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// link is the way to one of a target's URLs.
type link struct {
	url     *url.URL
	server  server
	sharer  sharer
	tracer  tracer
	speaker speaker
	stamps  bool // reads carry the kernel's receive time

	grpc *grpc.Client // one of grpc and http is set
	http *httpLink
}

// httpLink is what measured requests over HTTP take.
type httpLink struct {
	client *http1.Client
	fields []http1.Field
	proxy  *url.URL
	ask    *http.Client
}

// usualPort is where Triton serves gRPC unless it is told otherwise.
const usualPort = "8001"

// newLink makes the way to a URL. Nothing is sent yet.
func newLink(raw string, t plan.Target, o endpoint.Options) (*link, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return &link{}, fmt.Errorf("target URL %s needs a scheme and a host, as in grpc://localhost:8001", plan.SafeURL(raw))
	}
	l := &link{url: u}
	secure := u.Scheme == "https" || u.Scheme == "grpcs"
	through, err := proxy.For(t, u, o.Getenv)
	if err != nil {
		return l, err
	}
	overGRPC := t.Transport == plan.TransportGRPC
	dial := timedconn.DialOptions{Proxy: through, Tunnel: overGRPC, Timeout: time.Duration(t.Timeouts.Connect), Sources: t.SourceAddresses}
	if secure {
		dial.TLS = o.TLSConfig(u, overGRPC)
	}
	dialer := timedconn.NewDialer(o.Clock, hostPort(u, secure, overGRPC), dial)
	l.stamps = dialer.KernelStamps()
	fields := headers(t, o.Key, u)
	if overGRPC {
		l.grpc = grpc.NewClient(o.Clock, dialer, grpc.Options{
			Limits: o.Timeouts(t), Authority: hostPort(u, secure, true), Metadata: fields, Secure: secure,
			Compression: t.Triton.Compression, MaxMessage: t.Triton.MaxMessage, KeepAlive: time.Duration(t.Triton.KeepAlive),
			Streams: t.Triton.Streams, Largest: largest(t, o.Limits), Control: answerLimit(o.Limits),
		})
		s := grpcServer{l.grpc}
		l.server, l.sharer, l.tracer, l.speaker = s, s, s, s
		return l, nil
	}
	l.http = &httpLink{
		client: http1.NewClient(o.Clock, dialer, o.Timeouts(t)), fields: fields, proxy: through,
		ask: newAsker(t, o, prepareTime),
	}
	l.http.client.Chunks = t.Plain()
	header := http.Header{}
	for _, f := range fields {
		header.Set(f.Name, f.Value)
	}
	s := &httpServer{client: l.http.ask, base: u, header: header}
	l.server, l.sharer, l.tracer, l.speaker = s, s, s, s
	return l, nil
}

// largest bounds a message: it is an event where answers are streams, else an answer.
func largest(t plan.Target, l plan.Limits) limitio.Limit {
	if t.Streaming && t.Endpoint == plan.EndpointStream {
		return limitio.Limit{Name: plan.LimitEvent, Bytes: int64(l.Event)}
	}
	return answerLimit(l)
}

func answerLimit(l plan.Limits) limitio.Limit {
	return limitio.Limit{Name: plan.LimitAnswer, Bytes: int64(l.Answer)}
}

// hostPort is the address behind a URL.
func hostPort(u *url.URL, secure, overGRPC bool) string {
	switch {
	case u.Port() != "":
		return u.Host
	case overGRPC:
		return net.JoinHostPort(u.Hostname(), usualPort)
	case secure:
		return net.JoinHostPort(u.Hostname(), "443")
	default:
		return net.JoinHostPort(u.Hostname(), "80")
	}
}

// headers go with every request. What the user gives wins.
func headers(t plan.Target, key string, u *url.URL) []http1.Field {
	var fields []http1.Field
	if key != "" {
		fields = append(fields, http1.Field{Name: "Authorization", Value: "Bearer " + key})
	} else if auth := timedconn.ProxyAuthorization(u); auth != "" {
		fields = append(fields, http1.Field{Name: "Authorization", Value: auth})
	}
	for _, name := range slices.Sorted(maps.Keys(t.Headers)) {
		fields = slices.DeleteFunc(fields, func(f http1.Field) bool { return strings.EqualFold(f.Name, name) })
		fields = append(fields, http1.Field{Name: name, Value: t.Headers[name]})
	}
	return fields
}

func (l *link) close() {
	if l.grpc != nil {
		l.grpc.Close()
	}
	if l.http != nil {
		l.http.client.Close()
		l.http.ask.CloseIdleConnections()
	}
}

func (l *link) replica(y *layout, t plan.Target, wanted []v2http.Output) (replica, error) {
	if l.grpc == nil {
		return newHTTPReplica(l, y, t, wanted)
	}
	stream := t.Endpoint == plan.EndpointStream
	m, err := newMessages(y, t.Triton.Version, t.Triton.Parameters, stream)
	if err != nil {
		return nil, err
	}
	m.ask(wanted)
	return &grpcReplica{client: l.grpc, messages: m, stream: stream}, nil
}

// grpcReplica carries out requests over gRPC.
type grpcReplica struct {
	client   *grpc.Client
	messages *messages
	stream   bool
}

func (r *grpcReplica) warm(ctx context.Context, n int) error {
	if r.stream {
		return r.client.Open(ctx, kserve.ModelStreamInferMethod, sortResponse, n)
	}
	return r.client.Warm(ctx, n)
}

func (r *grpcReplica) close() error { return r.client.Close() }

func (r *grpcReplica) prepare(p *prompt.Prompt, id string, m *material) (call, error) {
	var message []byte
	if m.in == nil {
		message = r.messages.encode(p, id, &m.content)
	} else {
		var err error
		if message, err = r.messages.tensors(p, id, m.in); err != nil {
			return nil, err
		}
	}
	ready, err := r.client.Prepare(message)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, rec *record.Exchange) {
		if r.stream {
			r.client.Stream(ctx, kserve.ModelStreamInferMethod, id, ready, rec, sortResponse)
		} else {
			r.client.Unary(ctx, kserve.ModelInferMethod, ready, rec)
		}
	}, nil
}
