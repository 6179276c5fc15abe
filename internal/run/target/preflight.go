package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/media"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/collect"
)

const (
	// preflightTime bounds the requests ahead of a run, all of them together.
	preflightTime = 30 * time.Second
	// preflightTries is how often a request is refused before that counts: servers may fail at
	// times.
	preflightTries = 3
	// preflightText is like no prompt of a run, so that no cache has one of those ready.
	preflightText = "Preflight check of a benchmark: answer with one word."
	// preflightTokens is what is asked for: few, and not fewer than servers accept.
	preflightTokens = 16
	// mostPreflights bounds how many servers are asked.
	mostPreflights = 32
	// mostListed is how many models an error names.
	mostListed = 10
)

// Preflight sends one short request to each server, ahead of the run and outside of its
// figures, to find out whether such requests are answered at all.
type Preflight struct {
	plan   *plan.Plan
	client *Client
	getenv func(string) string
	log    io.Writer
}

// NewPreflight makes one of a plan's target; log is told of what may pass.
func NewPreflight(p *plan.Plan, c *Client, getenv func(string) string, log io.Writer) *Preflight {
	return &Preflight{plan: p, client: c, getenv: getenv, log: log}
}

// Check sends the requests. What may pass, such as a busy server, is told and does not stop the
// run.
func (pre *Preflight) Check(ctx context.Context) error {
	t, s := &pre.plan.Target, pre.client.Secrets
	if t.NoPreflight || !pre.client.Protocol.Preflights {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, preflightTime)
	defer cancel()
	n := min(max(len(t.URLs), len(pre.plan.Data.Adapters)), mostPreflights)
	for i := range n {
		f, err := pre.fly(ctx, i)
		switch {
		case err != nil:
			return fmt.Errorf("preparing the preflight request: %w", err)
		case f == nil:
		case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
			return ctx.Err() // stopped by the user
		case lasting(f):
			return pre.refusal(ctx, f, i)
		default:
			fmt.Fprintf(pre.log, "warning: the preflight request to %s failed: %s; going on\n",
				pre.posts(i), s.Redact(answered(f), *t))
		}
	}
	return nil
}

// fly sends the request to server i, again where it fails in a way that would count.
func (pre *Preflight) fly(ctx context.Context, i int) (*record.Failure, error) {
	p, err := pre.prompt(i)
	if err != nil {
		return nil, err
	}
	var f *record.Failure
	for range preflightTries {
		call, err := pre.client.Endpoint.Prepare(p)
		if err != nil {
			return nil, err
		}
		rec := &record.Exchange{Record: record.Record{Sent: record.Never, Written: record.Never, Cached: -1, RequestedTokens: p.Output}}
		collect.Bound(rec, pre.plan.Limits, pre.client.Decoder)
		call.Do(ctx, rec)
		pre.client.Decoder.Decode(rec)
		if rec.Failure == nil || rec.Failure.Class == record.Cancelled && rec.Status/100 == 2 {
			return nil, nil // a stream that goes on for long is a response too
		}
		if f = rec.Failure; !lasting(f) {
			return f, nil
		}
	}
	return f, nil
}

func (pre *Preflight) prompt(i int) (*prompt.Prompt, error) {
	t, adapters := &pre.plan.Target, pre.plan.Data.Adapters
	// Requests are dealt out by their number, which is in their ids: the run's begin at 0.
	p := &prompt.Prompt{Seq: int64(len(t.URLs))<<40 + int64(i), Text: preflightText, Tokens: -1}
	if len(adapters) > 0 {
		p.Model = adapters[i%len(adapters)].Name
	}
	if t.Generates() {
		p.Output = preflightTokens
	}
	if t.Endpoint == plan.EndpointRetrieval {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 64, 64))); err != nil {
			return nil, err
		}
		p.Parts = []prompt.Part{{Kind: prompt.Image, Type: "image/png", Data: b.Bytes()}}
	}
	if t.Endpoint == plan.EndpointTranscriptions {
		p.Parts = []prompt.Part{{Kind: prompt.Audio, Type: "audio/wav", Data: media.WAV(media.Sound{Length: time.Second}, nil)}}
	}
	return p, nil
}

// lasting reports whether a failure is one that every further request would meet too.
func lasting(f *record.Failure) bool {
	switch f.Class {
	case record.ResolveFailed, record.ConnectFailed, record.TLSFailed, record.BadBody:
		return true
	case record.HTTPStatus:
		switch f.Status {
		case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
			return false
		}
		return f.Status < 500
	}
	return false
}

// posts is the address that requests to server i go to.
func (pre *Preflight) posts(i int) string {
	i %= len(pre.plan.Target.URLs)
	if urls := pre.client.Endpoint.URLs; urls != nil {
		return urls[i]
	}
	return plan.SafeURL(pre.plan.Target.URLs[i])
}

// answered is what came back in place of a response.
func answered(f *record.Failure) string {
	if f.Class != record.HTTPStatus {
		return string(f.Class) + " (" + f.Message + ")"
	}
	text := fmt.Sprintf("%d %s", f.Status, http.StatusText(f.Status))
	if f.Message != "" && f.Message != http.StatusText(f.Status) {
		text += " (" + f.Message + ")"
	}
	return strings.TrimSpace(text)
}

// refusal is the error of a target that refuses such requests: what was sent where, what came back,
// and what to do.
func (pre *Preflight) refusal(ctx context.Context, f *record.Failure, i int) error {
	t, models := &pre.plan.Target, pre.served(ctx, i)
	asked := t.Model
	if adapters := pre.plan.Data.Adapters; len(adapters) > 0 {
		asked = adapters[i%len(adapters)].Name
	}
	do := message.New("check %v, %v and %v", message.Endpoint, message.Path, message.Extra).Or("check the request settings")
	switch denied := f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden; {
	case f.Class != record.HTTPStatus:
		do = message.New("this is not a response of protocol %s, endpoint %s: check the URL%v", t.Protocol, t.Endpoint,
			message.New(", %v, %v and %v", message.Path, message.Protocol, message.Endpoint).Or(""))
	case denied && pre.client.Secrets.Key != "":
		do = message.New("check the API key")
	case denied:
		do = message.New("pass the API key with %v", message.APIKey)
	case f.Status/100 == 3:
		do = message.New("give the address that it redirects to, since requests do not follow")
	case asked != "" && len(models) > 0 && !slices.Contains(models, asked):
		do = message.New("the server does not list model %q: name one that it does with %v", asked, message.Model)
	case f.Status == http.StatusNotFound || f.Status == http.StatusMethodNotAllowed:
		do = message.New("check the URL, %v and %v", message.Path, message.Endpoint).Or("check the URL")
	}
	if more := len(models) - mostListed; more > 0 {
		models = append(models[:mostListed:mostListed], fmt.Sprintf("and %d more", more))
	}
	s, serves := pre.client.Secrets, ""
	if len(models) > 0 {
		serves = "; it serves " + strings.Join(models, ", ")
	}
	return message.Errorf("the preflight request, POST %s, was answered with %s: %v%s%v", pre.posts(i), s.Redact(answered(f), *t), do, s.Redact(serves, *t),
		message.New(" (%v skips it)", message.Preflight).Or(""))
}

// served are the models that server i lists; nil means it lists none.
func (pre *Preflight) served(ctx context.Context, i int) []string {
	t, s := &pre.plan.Target, pre.client.Secrets
	p := newLister(pre.client.Protocol, *t, s.TLS, pre.getenv)
	defer p.close()
	models, _, err := p.listModels(ctx, t.URLs[i%len(t.URLs)], *t, s.Key)
	if err != nil {
		return nil
	}
	return models
}
