package prometheus

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/localaddr"
	"github.com/inferometer/inferometer/internal/probe/servermetrics"
	"github.com/inferometer/inferometer/internal/record"
)

// PageProbe is the metrics page of one server or exporter.
type PageProbe struct {
	url    string
	key    func() string
	client *http.Client
	now    func() time.Duration
}

// PageOptions are what a Page takes besides its address.
type PageOptions struct {
	Now func() time.Duration // the clock of the run
	TLS *tls.Config          // nil means as the system has it
	Key string               // API key; empty: none
	// Live is the key where it may change; else nil.
	Live interface{ Value() string }
	// Sources are the local addresses that connections come from; none: the system chooses.
	Sources []netip.Prefix
}

const (
	// pageTime bounds one response.
	pageTime = 5 * time.Second
	// mostPage bounds the size of a page.
	mostPage = 64 << 20
)

// NewPage makes a reader of the page at an address. It asks nothing yet.
func NewPage(address string, o PageOptions) *PageProbe {
	key := func() string { return o.Key }
	if o.Live != nil {
		key = o.Live.Value
	}
	return &PageProbe{url: address, key: key, client: NewHTTPClient(o.TLS, pageTime, o.Sources), now: o.Now}
}

// NewHTTPClient makes a client that waits so long for a response and whose connections come from
// sources. A nil config, and no sources, are as the system has it.
func NewHTTPClient(config *tls.Config, patience time.Duration, sources []netip.Prefix) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if config != nil {
		t.TLSClientConfig = config.Clone()
	}
	t.MaxIdleConnsPerHost = atOnce
	localaddr.NewDialer(sources).Use(t)
	return &http.Client{Transport: t, Timeout: patience}
}

// Close gives up the connection.
func (p *PageProbe) Close() error {
	p.client.CloseIdleConnections()
	return nil
}

// Read reads the page: the metrics of known servers and exporters. whole: with histogram buckets.
func (p *PageProbe) Read(ctx context.Context, whole bool) record.Page {
	page := record.Page{At: p.now()}
	text, err := p.get(ctx)
	if err == nil {
		page.Samples, err = Parse(text, func(name string) bool {
			return servermetrics.Known(name) && (whole || !strings.HasSuffix(name, "_bucket"))
		})
	}
	if err != nil {
		page.Error = err.Error()
	}
	return page
}

func (p *PageProbe) get(ctx context.Context) ([]byte, error) {
	// The older text form is asked for: all servers have it.
	h := http.Header{"Accept": {"text/plain;version=0.0.4"}}
	if key := p.key(); key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	text, status, err := Get(ctx, p.client, p.url, h)
	if err == nil && status != http.StatusOK {
		err = NotMetrics(status)
	}
	return text, err
}

// NotMetrics is the error of a page of metrics that comes with another status than 200.
func NotMetrics(status int) error {
	return fmt.Errorf("the server answers with HTTP status %d: is this the address of its metrics?", status)
}

// Get fetches a page. Its errors do not repeat the address, which may hold a secret.
func Get(ctx context.Context, client *http.Client, address string, h http.Header) (text []byte, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, errors.New("the address is not a URL")
	}
	req.Header = h.Clone()
	resp, err := client.Do(req)
	if err != nil {
		return nil, 0, bare(err)
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(io.LimitReader(resp.Body, mostPage+1))
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("the response was cut short: %w", err)
	case len(text) > mostPage: // half a line may be another number
		return nil, 0, fmt.Errorf("the page is larger than %d MiB", mostPage>>20)
	}
	return text, resp.StatusCode, nil
}

// bare takes the address off an error of net/http: it may hold a secret.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		if u.Timeout() {
			return errors.New("no response in time")
		}
		return u.Err
	}
	return err
}
