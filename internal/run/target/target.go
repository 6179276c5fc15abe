// Package target looks at what a run is to measure, ahead of its first request: whether the servers are there,
// which models they have, whether they take such requests, and whether this machine can open the connections.
// It keeps the secrets that a target needs.
package target

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/lib/localaddr"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/remote/proxy"
)

// Secrets are what a target needs and no plan holds.
type Secrets struct {
	Key  string
	TLS  *tls.Config
	Live *Credential // where the key may change while a run goes on, what has it then; else nil
}

// ReadSecrets reads the API key and the certificates of a target, or has a token for it.
func ReadSecrets(ctx context.Context, t plan.Target, l plan.Limits, getenv func(string) string) (Secrets, error) {
	files := limitio.Limit{Name: plan.LimitFile, Bytes: int64(l.File)}
	var s Secrets
	var errs []error
	var err error
	switch {
	case t.APIKey.Env != "":
		s.Key, err = envKey("the API key", t.APIKey.Env, getenv)
	case t.APIKey.File != "":
		s.Live, err = newFileKey(t.APIKey.File, files)
	case t.OAuth.TokenURL != "":
		s.Live, err = oauthToken(ctx, t.OAuth, files, getenv)
	}
	if err != nil {
		errs = append(errs, err)
	}
	if s.Live != nil {
		s.Key = s.Live.Value()
	}
	if s.TLS, err = tlsConfig(t.TLS, files); err != nil {
		errs = append(errs, err)
	}
	return s, errors.Join(errs...)
}

// envKey is a secret of one line that an environment variable holds.
func envKey(what, name string, getenv func(string) string) (string, error) {
	key := strings.TrimSpace(getenv(name))
	switch {
	case key == "":
		return "", fmt.Errorf("%s should be in the environment variable %s, which is empty or not set", what, name)
	case strings.ContainsAny(key, "\r\n"):
		return "", fmt.Errorf("%s has more than one line", what)
	}
	return key, nil
}

// oauthToken has the first token of a target.
func oauthToken(ctx context.Context, o plan.OAuth, files limitio.Limit, getenv func(string) string) (*Credential, error) {
	var secret string
	var err error
	if o.ClientSecret.File != "" {
		secret, err = readKey(o.ClientSecret.File, files)
	} else {
		secret, err = envKey("the client secret", o.ClientSecret.Env, getenv)
	}
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithTimeout(ctx, probeTime)
	defer end()
	return newToken(ctx, o, secret)
}

// tlsConfig is whom to trust and who we are.
func tlsConfig(t plan.TLS, files limitio.Limit) (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: t.Insecure}
	var errs []error
	if t.CA != "" {
		text, err := files.ReadFile(t.CA)
		if err != nil {
			errs = append(errs, fmt.Errorf("reading the CA certificates: %w", err))
		}
		c.RootCAs = x509.NewCertPool()
		if err == nil && !c.RootCAs.AppendCertsFromPEM(text) {
			errs = append(errs, fmt.Errorf("%s contains no PEM certificate", t.CA))
		}
	}
	if t.Cert != "" || t.Key != "" {
		pair, err := keyPair(t, files)
		if err != nil {
			errs = append(errs, fmt.Errorf("reading the client certificate: %w", err))
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, errors.Join(errs...)
}

func keyPair(t plan.TLS, files limitio.Limit) (tls.Certificate, error) {
	cert, err := files.ReadFile(t.Cert)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := files.ReadFile(t.Key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// probeTime bounds one look at the target before the run.
const probeTime = 10 * time.Second

// Checker looks at a plan's target ahead of a run.
type Checker struct {
	Plan      *plan.Plan // whose target is filled in with what is found out
	Protocol  endpoint.Protocol
	Protocols map[string]endpoint.Protocol // all there are: the server may speak another
	Getenv    func(string) string
	Log       message.Log
}

// Check makes sure that each URL answers, asks for the model's name where
// the plan has none, and finds out whether HTTP/2 is spoken where the plan wants it.
func (c *Checker) Check(ctx context.Context, s Secrets) error {
	t := &c.Plan.Target
	if t.Plain() && t.Model != "" && !t.HTTP2 {
		if err := takesConnections(ctx, t, c.Getenv); err != nil || c.Protocol.Settle == nil {
			return err
		}
	}
	if c.Protocol.Settle != nil {
		return c.Protocol.Settle(ctx, t, endpoint.Options{TLS: s.TLS, Key: s.Key, Getenv: c.Getenv, Data: c.Plan.Data}, c.Log)
	}
	lister := newLister(c.Protocol, *t, s.TLS, c.Getenv)
	defer lister.close()
	var errs []error
	var plain []string // URLs that do not speak HTTP/2
	for i, raw := range t.URLs {
		models, http2, err := lister.listModels(ctx, raw, *t, s.Key)
		if !http2 {
			plain = append(plain, plan.SafeURL(raw))
		}
		if err == nil && !t.Shaped() { // whose models need not be listed
			errs = append(errs, lacksAdapters(raw, models, c.Plan.Data.Adapters))
		}
		var answered *answerError
		var another error
		if errors.As(err, &answered) && answered.status == http.StatusNotFound {
			another = c.speaksAnother(ctx, lister.any, raw)
		}
		switch {
		case err == nil && t.Model == "" && len(models) > 0:
			t.Model = models[0]
			if len(models) > 1 {
				c.Log.Printf("%s serves %d models; taking %s (%v names another)\n", plan.SafeURL(raw), len(models), t.Model, message.Model)
			}
		case err == nil && t.Model == "" && !c.Protocol.Modelless:
			errs = append(errs, message.Errorf("%s lists no model: name one with %v", plan.SafeURL(raw), message.Model))
		case another != nil:
			errs = append(errs, another)
		case errors.As(err, &answered) && (t.Model != "" || c.Protocol.Modelless):
			// It is there, which is all that matters. Its requests may stay where they are, even
			// where this one is sent elsewhere.
			if answered.status/100 == 3 {
				c.Log.Printf("warning: listing the models of %s: %s%v\n", plan.SafeURL(raw), answered.text, answered.advice(s.Key != ""))
			}
		case errors.As(err, &answered):
			errs = append(errs, message.Errorf("listing the models of %s: %s%v", plan.SafeURL(raw), s.Redact(answered.text, *t), answered.advice(s.Key != "")))
		case err != nil && strings.Contains(err.Error(), "malformed HTTP"):
			errs = append(errs, message.Errorf("target %d, %s, does not speak HTTP/1.1, and looks like a gRPC port: give the server's HTTP port (8000 unless set otherwise)%v", i+1, plan.SafeURL(raw), otherPort()))
		case err != nil:
			errs = append(errs, message.Errorf("target %d, %s, cannot be reached: %w%v", i+1, plan.SafeURL(raw), bare(err), remedy(err, raw)))
		}
	}
	if t.HTTP2 && errors.Join(errs...) == nil {
		errs = append(errs, settleHTTP2(t, plain, c.Log))
	}
	return errors.Join(errs...)
}

// speaksAnother says which protocol a server speaks in place of the plan's, as far as that
// can be told. Its root is asked: the path below it is that of the plan's protocol.
func (c *Checker) speaksAnother(ctx context.Context, client *http.Client, base string) error {
	models, err := c.Protocol.Models(base)
	if err != nil {
		return err
	}
	models.Path = strings.TrimSuffix(models.Path, "/v1/models")
	for _, name := range slices.Sorted(maps.Keys(c.Protocols)) {
		other := c.Protocols[name]
		if other.Recognize == nil {
			continue
		}
		if what := other.Recognize(ctx, client, models.String()); what != "" {
			return message.Errorf("%s is %s: %v", plan.SafeURL(base), what, message.Speak(name))
		}
	}
	return nil
}

// lacksAdapters says which adapters a server does not list.
func lacksAdapters(url string, models []string, adapters []plan.Adapter) error {
	var missing []string
	for _, a := range adapters {
		if !slices.Contains(models, a.Name) {
			missing = append(missing, a.Name)
		}
	}
	if len(missing) == 0 || len(models) == 0 {
		return nil
	}
	return fmt.Errorf("%s has no model %s; it lists %s: load the adapters, or name those that are there",
		plan.SafeURL(url), strings.Join(missing, ", "), strings.Join(models, ", "))
}

// settleHTTP2 falls back to HTTP/1.1 where no server speaks HTTP/2. Replicas must not differ.
func settleHTTP2(t *plan.Target, plain []string, log message.Log) error {
	switch len(plain) {
	case 0:
		return nil
	case len(t.URLs):
		t.HTTP2 = false
		log.Printf("%s does not speak HTTP/2: measuring over HTTP/1.1\n", strings.Join(plain, ", "))
		return nil
	default:
		return message.Errorf("%s does not speak HTTP/2 and the other targets do: leave out %v, or measure them apart", strings.Join(plain, ", "), message.HTTP2)
	}
}

// lister asks targets for their models before the run.
type lister struct {
	endpoint.Protocol
	any   *http.Client
	http2 *http.Client // speaks nothing else; nil means not wanted
}

func newLister(protocol endpoint.Protocol, t plan.Target, config *tls.Config, getenv func(string) string) *lister {
	client := func() (*http.Client, *http.Transport) {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.Proxy = proxy.Func(t, getenv)
		localaddr.NewDialer(t.SourceAddresses).Use(transport)
		transport.TLSClientConfig = config.Clone() // net/http adds its protocols to it
		return &http.Client{Transport: transport, Timeout: probeTime, CheckRedirect: stayThere}, transport
	}
	p := &lister{Protocol: protocol}
	p.any, _ = client()
	if t.HTTP2 {
		var transport *http.Transport
		p.http2, transport = client()
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetHTTP2(true)
		transport.Protocols.SetUnencryptedHTTP2(true)
	}
	return p
}

// stayThere follows to no other server, since the run's requests would not either.
func stayThere(req *http.Request, via []*http.Request) error {
	if first := via[0].URL; req.URL.Scheme != first.Scheme || req.URL.Host != first.Host || len(via) > 9 {
		return http.ErrUseLastResponse
	}
	return nil
}

func (p *lister) close() {
	p.any.CloseIdleConnections()
	if p.http2 != nil {
		p.http2.CloseIdleConnections()
	}
}

// listModels asks a server which models it has, and says whether it spoke HTTP/2.
func (p *lister) listModels(ctx context.Context, base string, t plan.Target, key string) (models []string, http2 bool, err error) {
	if p.http2 != nil {
		models, err = p.ask(ctx, p.http2, base, t, key)
		var answered *answerError
		if err == nil || errors.As(err, &answered) {
			return models, true, err
		}
	}
	models, err = p.ask(ctx, p.any, base, t, key)
	return models, false, err
}

// bare takes the request line off an error of net/http: it may hold a secret.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// remedy says what may help against an error of connecting; empty: the error says it.
func remedy(err error, url string) message.Message {
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &cert):
		return message.Untrusted()
	case strings.Contains(err.Error(), "tls: certificate required"):
		return message.New("; %v and %v name a client certificate", message.Cert, message.Key).Or("")
	case errors.Is(err, io.EOF) && strings.HasPrefix(url, "http:"):
		return message.New("; does it speak https?")
	}
	return message.New("")
}

// otherPort says what to do about a port of gRPC. Net/http has no error of its own for
// what such a port answers: frames of HTTP/2 in place of a status line.
func otherPort() message.Message {
	return message.New(", or %v for a Triton model", message.UseTritonGRPC).Or("")
}

// answerError: a server answered, and not with a list of models.
type answerError struct {
	text   string
	status int  // of HTTP; 0: it does not matter
	page   bool // it was a page for people
}

func (e *answerError) Error() string { return e.text }

// advice is what to do about the error. keyed: a key was sent.
func (e *answerError) advice(keyed bool) message.Message {
	switch {
	case e.page:
		return message.New(": is this the address of an inference server? If it is, name the model with %v", message.Model)
	case e.status/100 == 3:
		return message.New(": give that address, since requests are not sent on")
	case (e.status == http.StatusUnauthorized || e.status == http.StatusForbidden) && keyed:
		return message.New("; is the API key the right one?")
	case e.status == http.StatusUnauthorized || e.status == http.StatusForbidden:
		return message.New("; pass its API key with %v", message.APIKey).Or("; is an API key required?")
	}
	return message.New("; name the model with %v", message.Model)
}

func (p *lister) ask(ctx context.Context, client *http.Client, base string, t plan.Target, key string) ([]string, error) {
	u, err := p.Models(base)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Auth != nil:
		req.Header = p.Auth(key)
	case key != "":
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for name, value := range t.Headers {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	if err != nil {
		return nil, &answerError{text: "response truncated: " + err.Error()}
	}
	return readModels(resp, body)
}

func readModels(resp *http.Response, body []byte) ([]string, error) {
	if resp.StatusCode != http.StatusOK {
		text := "the server answered " + resp.Status
		if to, err := resp.Location(); err == nil {
			return nil, &answerError{text: text + ", sending on to " + plan.SafeURL(to.Scheme+"://"+to.Host), status: resp.StatusCode}
		}
		if said := decode.Message(body); said != "" {
			text += " (" + said + ")"
		}
		return nil, &answerError{text: text, status: resp.StatusCode}
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		what, page := "something that is not JSON", bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
		if page {
			what = "an HTML page"
		}
		return nil, &answerError{text: "the server answered with " + what, page: page}
	}
	var names []string
	for _, m := range list.Data {
		if m.ID != "" {
			names = append(names, m.ID)
		}
	}
	return names, nil
}
