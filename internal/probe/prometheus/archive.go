package prometheus

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/probe/servermetrics"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/remote/google"
)

// Source is how figures of a Prometheus server are marked.
const Source = "prometheus"

// Client asks a Prometheus server.
type Client struct {
	*api
	start   time.Time     // of the run's clock
	every   time.Duration // how often it scrapes
	server  string
	model   string
	filters []string
}

// Options are what a Client takes besides the plan's word.
type Options struct {
	Start time.Time   // when the run's clock stood at 0
	Model string      // the one under test
	TLS   *tls.Config // nil means as the system has it
	// Getenv gives the variables of Google's credentials.
	Getenv func(string) string
}

const (
	// scrapeEvery is how often servers scrape of which nothing else is known.
	scrapeEvery = 15 * time.Second
	// slack is how long a scrape may take to show.
	slack = 2 * time.Second
)

// NewClient makes what asks a plan's server. For Google's it looks for credentials.
func NewClient(ctx context.Context, p plan.Prometheus, o Options) (*Client, error) {
	a := &Client{
		start: o.Start, every: cmp.Or(time.Duration(p.Interval), scrapeEvery), server: cmp.Or(p.Server, servermetrics.VLLM), model: o.Model,
		filters: p.Filters,
		api:     &api{base: strings.TrimRight(p.URL, "/"), client: NewHTTPClient(o.TLS, queryTime, nil)},
	}
	if !p.GoogleManaged {
		return a, nil
	}
	return a, a.google(ctx, p.Project, o)
}

// google takes the address and the credentials of Google Managed Prometheus.
func (a *Client) google(ctx context.Context, project string, o Options) error {
	credentials, err := google.Find(ctx, google.ScopeMonitoring, o.Getenv)
	if err != nil {
		return fmt.Errorf("Google Managed Prometheus: %w", err)
	}
	if project = cmp.Or(project, credentials.Project); project == "" {
		return message.Errorf("Google Managed Prometheus: the credentials name no project: set %vGOOGLE_CLOUD_PROJECT", message.New("%v or ", message.Project).Or(""))
	}
	service := cmp.Or(o.Getenv("CLOUDSDK_API_ENDPOINT_OVERRIDES_MONITORING"), "https://monitoring.googleapis.com")
	a.base = strings.TrimRight(service, "/") + "/v1/projects/" + project + "/location/global/prometheus"
	a.token = credentials.Token
	return nil
}

// Close gives up the connections.
func (a *Client) Close() error {
	a.client.CloseIdleConnections()
	return nil
}

// Ask asks what the metrics say of each stretch, when the server has seen the end of
// the last. What it does not know is missing from the figures.
func (a *Client) Ask(ctx context.Context, of []probe.TimeRange) []record.Figures {
	if len(of) == 0 {
		return nil
	}
	last := of[0].End
	for _, s := range of {
		last = max(last, s.End)
	}
	filters, faults := a.choose(ctx)
	if err := a.wait(ctx, last, filters); err != nil {
		faults = append(faults, err.Error())
	}
	var out []record.Figures
	for _, s := range of {
		out = append(out, a.stretch(ctx, s, filters, slices.Clone(faults)))
	}
	return out
}

// matchers are what every query has between its braces.
func (a *Client) matchers(model bool) string {
	all := slices.Clone(a.filters)
	if label := servermetrics.ModelLabel(a.server); model && label != "" && a.model != "" {
		all = append([]string{label + "=" + strconv.Quote(a.model)}, all...)
	}
	return strings.Join(all, ",")
}

// choose finds out whether the server's metrics are told apart by the model's name. A
// server that has its metrics under another is asked for all of them.
func (a *Client) choose(ctx context.Context) (filters string, faults []string) {
	with, without := a.matchers(true), a.matchers(false)
	if with == without {
		return with, nil
	}
	now := time.Now()
	if yes, _ := a.there(ctx, with, now); yes {
		return with, nil
	}
	if yes, _ := a.there(ctx, without, now); !yes {
		return with, nil // which the figures will show
	}
	return without, []string{fmt.Sprintf("No metric has the model %q: these cover all models that match the filters.", a.model)}
}

// known are metrics that a server is sure to have, by one of which it is recognised.
func (a *Client) known(filters string) []selector {
	var forms []selector
	for _, m := range servermetrics.Metrics(a.server) {
		switch {
		case strings.Contains(m.Own, "{"):
		case m.Name == servermetrics.Requests && m.Kind == record.FigureCounter:
			forms = append(forms, counterOf(m.Own, filters))
		case m.Name == servermetrics.Queue:
			forms = append(forms, selector{[]string{m.Own}, filters})
		}
	}
	return forms
}

// there reports whether the server had any metrics at a given time. sure: it answered.
func (a *Client) there(ctx context.Context, filters string, at time.Time) (yes, sure bool) {
	for _, form := range a.known(filters) {
		v, err := a.query(ctx, "count("+form.now()+")", at)
		if err == nil && v != nil {
			return true, true
		}
		sure = sure || err == nil
	}
	return false, sure
}

// wait waits until the server has scraped all servers after the last stretch, within reason.
func (a *Client) wait(ctx context.Context, end time.Duration, filters string) error {
	at := a.start.Add(end)
	patience := time.NewTimer(time.Until(at.Add(a.every + slack)))
	defer patience.Stop()
	tick := time.NewTicker(min(max(a.every/20, 50*time.Millisecond), time.Second))
	defer tick.Stop()
	for {
		for _, form := range a.known(filters) {
			v, err := a.query(ctx, "min("+form.stamps()+")", time.Now())
			if err == nil && v != nil && *v > float64(at.UnixMilli())/1e3 {
				return nil
			}
			if err != nil && ctx.Err() == nil {
				return nil // the queries to come will tell why
			}
		}
		select {
		case <-tick.C:
		case <-patience.C:
			return nil
		case <-ctx.Done():
			return errors.New("the run was stopped before Prometheus had scraped its end")
		}
	}
}

// atOnce is how many queries may be in flight.
const atOnce = 8

// stretch asks for all metrics of one stretch of time.
func (a *Client) stretch(ctx context.Context, s probe.TimeRange, filters string, faults []string) record.Figures {
	out := record.Figures{Source: Source, Stage: s.Stage, Begin: s.Begin, End: s.End, Faults: faults}
	q := &query{archive: a, filters: filters, begin: s.Begin, end: s.End, until: s.End + a.every + slack}
	if s.Next > 0 {
		q.until = min(q.until, max(s.Next, s.End))
	}
	metrics := servermetrics.Metrics(a.server)
	found := make([]*record.Figure, len(metrics))
	var wg sync.WaitGroup
	permits := make(chan struct{}, atOnce)
	for i := range metrics {
		wg.Go(func() {
			permits <- struct{}{}
			defer func() { <-permits }()
			found[i] = q.figure(ctx, &metrics[i])
		})
	}
	wg.Wait()
	for _, f := range found {
		if f != nil && !slices.ContainsFunc(out.Figures, func(o record.Figure) bool { return o.Name == f.Name }) {
			out.Figures = append(out.Figures, *f)
		}
	}
	out.Figures = servermetrics.Derive(out.Figures)
	out.Faults = append(out.Faults, q.faults...)
	if yes, sure := a.there(ctx, filters, a.start.Add(s.Begin)); sure && !yes && len(out.Figures) > 0 {
		out.Faults = append(out.Faults, "The Prometheus server has nothing from before the first request: counter increases are its estimate.")
	}
	if len(out.Figures) == 0 && len(q.faults) == 0 {
		out.Faults = append(out.Faults, fmt.Sprintf("The Prometheus server has no metric of %s with {%s}: does it scrape the servers, and are the filters right?", a.server, filters))
	}
	return out
}
