package remotewrite

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/snappy"

	"github.com/inferometer/inferometer/internal/lib/protostruct"
)

// batchSize is how many samples go in one request at most.
const batchSize = 2000

// tries is how often a request is sent at most, and pause the first wait between tries.
const (
	tries = 4
	pause = 500 * time.Millisecond
)

// requestTime is how long a receiver may take, and maxAnswer how much of its response is read.
const (
	requestTime = 30 * time.Second
	maxAnswer   = 1 << 16
)

// Client sends series to a receiver.
type Client struct {
	URL     string // with a user and a password, they are sent
	Headers map[string]string
	Agent   string // what the client calls itself
}

// Check makes sure that an address can be one of a receiver.
func Check(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("is not a URL of a remote-write receiver: use one such as http://localhost:9090/api/v1/write")
	}
	return nil
}

// WriteResult says how much arrived.
type WriteResult struct {
	Sent, Lost int64 // samples and histograms
	// NoHistograms: the receiver takes samples and no native histograms.
	NoHistograms bool
}

// Write sends all series, in the order of time: receivers refuse what is much older than the newest
// that they have. Histograms, which some receivers refuse, go apart. The error says why some did
// not arrive.
func (c *Client) Write(ctx context.Context, all []Series) (WriteResult, error) {
	var out WriteResult
	err := c.samples(ctx, all, &out)
	if out.Sent == 0 && err != nil {
		for i := range all {
			out.Lost += int64(len(all[i].Histograms))
		}
		return out, err
	}
	return out, errors.Join(err, c.histograms(ctx, all, &out))
}

// seriesSample is a sample or a histogram of a series.
type seriesSample struct {
	at            int64
	series, index int
}

// places are all of those, in the order of time.
func places(all []Series, count func(s *Series) int, at func(s *Series, i int) int64) []seriesSample {
	var list []seriesSample
	for k := range all {
		for i := range count(&all[k]) {
			list = append(list, seriesSample{at(&all[k], i), k, i})
		}
	}
	slices.SortStableFunc(list, func(a, b seriesSample) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.series, b.series))
	})
	return list
}

func (c *Client) samples(ctx context.Context, all []Series, out *WriteResult) error {
	list := places(all, func(s *Series) int { return len(s.Samples) }, func(s *Series, i int) int64 { return s.Samples[i].At })
	return c.batches(ctx, all, list, out, func(t *timeSeries, s *Series, i int) { t.Samples = append(t.Samples, s.Samples[i]) })
}

// noHistograms is in the responses of receivers that take none.
const noHistograms = "native histogram"

func (c *Client) histograms(ctx context.Context, all []Series, out *WriteResult) error {
	list := places(all, func(s *Series) int { return len(s.Histograms) }, func(s *Series, i int) int64 { return s.Histograms[i].At })
	sent := out.Sent
	err := c.batches(ctx, all, list, out,
		func(t *timeSeries, s *Series, i int) { t.Histograms = append(t.Histograms, s.Histograms[i].native()) })
	var refused *refusal
	if errors.As(err, &refused) && out.Sent == sent && refused.about(noHistograms) {
		out.NoHistograms, out.Lost = true, out.Lost-int64(len(list))
		return nil
	}
	return err
}

// batches sends a list in batches. After one whose content is refused, the next is tried; after
// one that cannot be delivered, no other is.
func (c *Client) batches(ctx context.Context, all []Series, list []seriesSample, out *WriteResult,
	put func(t *timeSeries, s *Series, i int)) error {
	var first error
	broken := false
	for part := range slices.Chunk(list, batchSize) {
		n := int64(len(part))
		if broken {
			out.Lost += n
			continue
		}
		if err := c.deliver(ctx, request(all, part, put)); err != nil {
			var refused *refusal
			broken = !errors.As(err, &refused) || refused.code != http.StatusBadRequest || refused.about(noHistograms)
			out.Lost += n
			first = cmp.Or(first, err)
			continue
		}
		out.Sent += n
	}
	return first
}

func request(all []Series, part []seriesSample, put func(t *timeSeries, s *Series, i int)) []byte {
	slices.SortStableFunc(part, func(a, b seriesSample) int { return cmp.Compare(a.series, b.series) })
	var body writeRequest
	named := map[string]bool{}
	for len(part) > 0 {
		k := part[0].series
		s := &all[k]
		series := timeSeries{Labels: s.labels()}
		for ; len(part) > 0 && part[0].series == k; part = part[1:] {
			put(&series, s, part[0].index)
		}
		body.Series = append(body.Series, series)
		if !named[s.Name] {
			named[s.Name] = true
			body.Metadata = append(body.Metadata, metadata{s.Kind, s.Name, s.Help})
		}
	}
	return snappy.Encode(nil, protostruct.Append(nil, body))
}

type refusal struct {
	code        int
	status, why string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("it returned %s: %.300q%s", r.status, r.why, r.hint())
}

// about reports whether the reason has one of these words.
func (r *refusal) about(words ...string) bool {
	why := strings.ToLower(r.why)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(why, w) })
}

func (r *refusal) hint() string {
	switch {
	case r.code == http.StatusUnauthorized || r.code == http.StatusForbidden:
		return "; set INFEROMETER_REMOTE_WRITE_TOKEN or INFEROMETER_REMOTE_WRITE_HEADERS"
	case r.code == http.StatusNotFound || r.code == http.StatusMethodNotAllowed:
		return "; Prometheus takes series at /api/v1/write if it was started with --web.enable-remote-write-receiver"
	case r.about("out of order", "out-of-order", "out of bounds", "too old", "duplicate sample"):
		return "; it has newer samples or the same ones: send a run once and right after it, or set storage.tsdb.out_of_order_time_window there"
	}
	return ""
}

// deliver sends a request until the receiver takes it or refuses it for good.
func (c *Client) deliver(ctx context.Context, body []byte) error {
	for try, wait := 1, pause; ; try, wait = try+1, wait*2 {
		again, err := c.post(ctx, body)
		if err == nil {
			return nil
		}
		if !again || try == tries {
			return fmt.Errorf("writing to %s: %w", c.shown(), err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("writing to %s: %w", c.shown(), errors.Join(err, ctx.Err()))
		}
	}
}

// shown is the address without a user and a query, which may be secret.
func (c *Client) shown() string {
	u, err := url.Parse(c.URL)
	if err != nil {
		return "the receiver"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// post sends a request once; again: the same may go well later.
func (c *Client) post(ctx context.Context, body []byte) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("this is not a URL") // which its error would repeat
	}
	for name, value := range c.Headers {
		req.Header.Set(name, value)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "0.1.0", "User-Agent": c.Agent,
	} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		if u := (*url.Error)(nil); errors.As(err, &u) {
			err = u.Err // the address may hold a password
		}
		return true, err
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer)) // what it says of a refusal; the status is what counts
	why := strings.TrimSpace(string(answer))
	if res.StatusCode/100 == 2 {
		return false, nil
	}
	no := &refusal{res.StatusCode, res.Status, why}
	return (no.code == http.StatusTooManyRequests || no.code/100 == 5) && !no.about(noHistograms), no
}
