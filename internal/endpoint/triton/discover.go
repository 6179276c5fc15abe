package triton

import (
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
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// lookTime bounds the look at one server before the run.
const lookTime = 10 * time.Second

// Discover looks at a target before the run. It fills in what has to be found out, the
// model's name and the convention that it follows, so that answers can be decoded from
// the plan alone. Its error tells everything that stands in the way.
func Discover(ctx context.Context, t *plan.Target, o endpoint.Options, log message.Log) error {
	if o.Clock == nil {
		o.Clock = timedconn.NewClock()
	}
	var errs []error
	for i, raw := range t.URLs {
		if err := settleOne(ctx, t, raw, i == 0, o, log); err != nil {
			errs = append(errs, fmt.Errorf("target %d, %s: %w", i+1, plan.SafeURL(raw), err))
		}
	}
	return errors.Join(errs...)
}

func settleOne(ctx context.Context, t *plan.Target, raw string, first bool, o endpoint.Options, log message.Log) error {
	if unasked(*t) {
		t.Triton.Convention = plan.ConventionTRTLLM // its answers are those of all language models
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	l, err := newLink(raw, *t, o)
	defer l.close()
	if err != nil {
		return err
	}
	var said *serverError
	switch err := l.server.alive(ctx); {
	case err != nil && bodies(*t) && l.answers(ctx), t.Path != "":
		t.Triton.Convention = plan.ConventionTRTLLM // its answers are those of all language models
		return nil
	case errors.As(err, &said):
		return fmt.Errorf("the server rejected the request: %w", err)
	case err != nil:
		return l.stranger(ctx, *t, o, err)
	}
	if t.Model == "" {
		if t.Model, err = chooseModel(ctx, l.server); err != nil {
			return err
		}
		log.Printf("Measuring model %s at %s (choose another with %v).\n", t.Model, plan.SafeURL(raw), message.Model)
	}
	m, err := describeModel(ctx, l.server, t.Model, t.Triton.Version)
	if err != nil {
		return err
	}
	if err := setTraces(ctx, l.tracer, t.Triton.Trace); err != nil {
		return err
	}
	if _, err := findComposing(ctx, l.server, t.Triton.Composing); err != nil {
		return err
	}
	wanted := t.Triton.Convention
	c, err := chooseConvention(&m, wanted)
	if err != nil {
		return err
	}
	if first {
		t.Triton.Convention = c.name
	} else if wanted != "" && c.name != wanted {
		return fmt.Errorf("model %s follows the convention %s here and %s at the first target: measure them separately", m.Name, c.name, wanted)
	}
	if first {
		explain(t, &m, c, o.Data, log)
	}
	return fits(t, &m, first, log)
}

// bodies reports whether requests are whole bodies that were made without knowing the
// model: what answers them is Triton enough, whatever else it lacks.
func bodies(t plan.Target) bool {
	return t.Shaped() && t.Endpoint == plan.EndpointGenerate
}

// unasked reports whether nothing is asked about the model: requests are whole, and the client
// sends nothing else.
func unasked(t plan.Target) bool { return t.Plain() && bodies(t) }

// answers reports whether anything answers over HTTP.
func (l *link) answers(ctx context.Context) bool {
	s, ok := l.server.(*httpServer)
	if !ok {
		return false
	}
	var answer json.RawMessage
	var missing *notFound
	var other *strange
	var said *serverError
	err := s.ask(ctx, http.MethodGet, "/", "", &answer)
	return err == nil || errors.As(err, &missing) || errors.As(err, &other) || errors.As(err, &said)
}

// findComposing looks for the models that the user says are behind this one.
func findComposing(ctx context.Context, s server, models []string) ([]ModelInfo, error) {
	var found []ModelInfo
	for _, m := range models {
		name, version, _ := strings.Cut(m, ":")
		c, err := describeModel(ctx, s, name, version)
		if err != nil {
			return nil, fmt.Errorf("the composing model %s: %w", m, err)
		}
		found = append(found, c)
	}
	return found, nil
}

func explain(t *plan.Target, m *ModelInfo, c convention, d plan.Data, log message.Log) {
	prompts := d.Source != plan.SourceTensors
	switch s := m.input(c.length); {
	case c.name == plan.ConventionTensors && prompts:
		log.Printf("Model %s takes plain tensors: sending random values%v.\n", m.Name, message.New(" (set your own with %v)", message.InputData).Or(""))
	case prompts && s != nil && !s.Optional && d.Output == (plan.Length{}) && d.Source == plan.SourceSynthetic && t.Body[c.length] == nil:
		log.Printf("Model %s requires an output length: asking for %d tokens%v.\n", m.Name, usualLength,
			message.New(" (change with %v)", message.OutputTokens).Or(""))
	}
}

// fits checks whether the endpoint can carry what the model does.
func fits(t *plan.Target, m *ModelInfo, first bool, log message.Log) error {
	switch {
	case t.Endpoint == plan.EndpointInfer && m.Decoupled:
		use := message.UseStream
		if t.Transport == plan.TransportHTTP {
			use = message.UseGenerate
		}
		return message.Errorf("model %s is decoupled: a request may have any number of responses, which infer does not support; use %v", m.Name, use)
	case t.Endpoint != plan.EndpointInfer && t.Streaming && !m.Streams() && m.Backend+m.Platform != "":
		// One response is a whole answer, however it is asked for.
		t.Streaming = false
		if first && t.Triton.Convention != plan.ConventionTensors {
			log.Printf("Model %s is not decoupled: it sends one response per request, so there is no token stream to time.\n", m.Name)
		}
	}
	return nil
}

// strangerTime bounds each question to what may be no Triton.
const strangerTime = 3 * time.Second

// stranger says what is behind a URL that does not answer as Triton does.
func (l *link) stranger(ctx context.Context, t plan.Target, o endpoint.Options, err error) error {
	var dial *net.OpError
	var certificate *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	switch class := timedconn.Classify(err); {
	case errors.As(err, &certificate):
		return message.Errorf("its certificate is not trusted: %w%v", certificate, message.Untrusted())
	case errors.As(err, &dial) && dial.Op == "dial":
		return fmt.Errorf("cannot be reached: %w", dial)
	case class == record.TLSFailed && (errors.Is(err, io.EOF) || errors.As(err, &plain)):
		u := *l.url
		u.Scheme = strings.TrimSuffix(u.Scheme, "s")
		return fmt.Errorf("no TLS on this port: use %s, or the port that has TLS (%w)", plan.SafeURL(u.String()), err)
	case class == record.ConnectFailed || class == record.ResolveFailed || class == record.TLSFailed || class == record.ClientResource ||
		ctx.Err() != nil:
		return fmt.Errorf("cannot be reached: %w", err)
	}
	plainURL := *l.url
	plainURL.User, plainURL.Path = nil, ""
	if l.grpc != nil {
		plainURL.Scheme = strings.Replace(strings.Replace(l.url.Scheme, "grpcs", "https", 1), "grpc", "http", 1)
		plainURL.Host = hostPort(l.url, false, true)
	}
	other := &httpServer{client: newAsker(t, o, strangerTime), base: &plainURL}
	if l.grpc != nil && other.alive(ctx) == nil {
		return fmt.Errorf("this is the HTTP port of an inference server, not its gRPC port: use the gRPC port (8001 by default), or Triton's HTTP API at %s", plan.SafeURL(plainURL.String()))
	}
	var models struct {
		Data []json.RawMessage `json:"data"`
	}
	if other.ask(ctx, http.MethodGet, "/v1/models", "", &models) == nil && models.Data != nil {
		return fmt.Errorf("this is an OpenAI-compatible server, not Triton: use the OpenAI protocol with %s", plan.SafeURL(plainURL.String()))
	}
	if l.http != nil && speaksGRPC(ctx, &plainURL, t, o) {
		plainURL.Scheme = strings.Replace(plainURL.Scheme, "http", "grpc", 1)
		return fmt.Errorf("this is the gRPC port of an inference server, not its HTTP port: use %s, or the HTTP port (8000 by default)", plan.SafeURL(plainURL.String()))
	}
	return fmt.Errorf("this does not look like Triton: %w", err)
}

// speaksGRPC reports whether the service answers at a URL.
func speaksGRPC(ctx context.Context, u *url.URL, t plan.Target, o endpoint.Options) bool {
	t.Transport = plan.TransportGRPC
	l, err := newLink(u.String(), t, o)
	defer l.close()
	return err == nil && l.server.alive(ctx) == nil
}

// recognize says what a server is that speaks the protocol over HTTP at a base URL.
func recognize(ctx context.Context, client *http.Client, base string) string {
	u, err := url.Parse(base)
	if err != nil || (&httpServer{client: client, base: u}).alive(ctx) != nil {
		return ""
	}
	return "a Triton server"
}
