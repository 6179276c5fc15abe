package target

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/plan"
)

// Credential is the API key of a target where it may change while a run goes on: a file that is written again, or a
// token that expires.
type Credential struct {
	// next looks for the key. It gives when to look again at the latest; changed is false where nothing is new.
	next func(ctx context.Context, refused bool) (key string, again time.Time, changed bool, err error)
	hide string // a secret besides the keys; empty: there is none

	mu   sync.Mutex
	key  string
	seen []string // all keys there were
	wake chan struct{}
}

func newCredential(next func(ctx context.Context, refused bool) (string, time.Time, bool, error)) *Credential {
	return &Credential{next: next, wake: make(chan struct{}, 1)}
}

// Value is the key as it is now.
func (c *Credential) Value() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.key
}

// Refused tells that a server refused a request with a key. Where that is still the one, it is looked for again at once.
func (c *Credential) Refused(key string) {
	if key != c.Value() {
		return
	}
	select {
	case c.wake <- struct{}{}:
	default: // it is being looked for already
	}
}

// secrets are all keys that there were, and what they are had with.
func (c *Credential) secrets() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Clone(c.seen)
	if c.hide != "" {
		all = append(all, c.hide)
	}
	return all
}

func (c *Credential) set(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.key = key; !slices.Contains(c.seen, key) {
		c.seen = append(c.seen, key)
	}
}

// refusedPause is the least time between two looks because of refusals: who is refused with every key does not
// have a server asked for another one for each request.
const refusedPause = time.Second

// Watch keeps the key up to date until ctx ends. What goes wrong is told, once for each reason: the key stays.
func (c *Credential) Watch(ctx context.Context, warn func(text string)) {
	said, again := "", time.Now()
	for {
		refused := false
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(again)):
		case <-c.wake:
			refused = true
		}
		key, next, changed, err := c.next(ctx, refused)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && err.Error() != said:
			said = err.Error()
			warn(Redact(said, c.secrets()) + ": the key stays as it is")
		case err == nil && changed:
			said = ""
			c.set(key)
		}
		again = next
		if refused {
			select {
			case <-ctx.Done():
				return
			case <-time.After(refusedPause):
			}
		}
	}
}

// fileEvery is how often a file is looked at.
const fileEvery = time.Second

// newFileKey reads the key from a file, and again when the file has changed.
func newFileKey(name string, files limitio.Limit) (*Credential, error) {
	var last os.FileInfo
	c := newCredential(func(_ context.Context, refused bool) (string, time.Time, bool, error) {
		again := time.Now().Add(fileEvery)
		now, err := os.Stat(name)
		if err == nil && !refused && last != nil && now.ModTime().Equal(last.ModTime()) && now.Size() == last.Size() && os.SameFile(now, last) {
			return "", again, false, nil
		}
		key, err := readKey(name, files)
		if err != nil {
			return "", again, false, err
		}
		last = now
		return key, again, true, nil
	})
	key, _, _, err := c.next(context.Background(), true)
	c.set(key)
	return c, err
}

// readKey reads a key or another secret of one line.
func readKey(name string, files limitio.Limit) (string, error) {
	text, err := files.ReadFile(name)
	key := strings.TrimSpace(string(text))
	switch {
	case err != nil:
		return "", fmt.Errorf("reading the API key: %w", err)
	case key == "":
		return "", fmt.Errorf("the API key file %s is empty", name)
	case strings.ContainsAny(key, "\r\n"):
		return "", errors.New("the API key has more than one line")
	}
	return key, nil
}

// A token is had again when a tenth of its time is left, a minute of it at most; one that does not say how long it
// holds, when it is refused. After an error it is tried again soon.
const (
	tokenMargin = 10
	mostMargin  = time.Minute
	tokenAgain  = 5 * time.Second
	noExpiry    = 24 * time.Hour
	leastToken  = 100 * time.Millisecond // between two tokens
)

// newToken has tokens by client credentials (RFC 6749, section 4.4).
func newToken(ctx context.Context, o plan.OAuth, secret string) (*Credential, error) {
	config := clientcredentials.Config{ClientID: o.ClientID, ClientSecret: secret, TokenURL: o.TokenURL, Scopes: o.Scopes}
	if o.Audience != "" {
		config.EndpointParams = map[string][]string{"audience": {o.Audience}}
	}
	client := &http.Client{Timeout: probeTime}
	c := newCredential(func(ctx context.Context, _ bool) (string, time.Time, bool, error) {
		asked := time.Now()
		token, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
		if err != nil {
			return "", asked.Add(tokenAgain), false, tokenError(o, err)
		}
		again := asked.Add(noExpiry)
		if !token.Expiry.IsZero() {
			margin := min(token.Expiry.Sub(asked)/tokenMargin, mostMargin)
			again = token.Expiry.Add(-max(margin, 0))
		}
		return token.AccessToken, maxTime(again, asked.Add(leastToken)), true, nil
	})
	c.hide = secret
	key, again, _, err := c.next(ctx, false)
	if err != nil {
		return nil, errors.New(Redact(err.Error(), c.secrets()))
	}
	c.set(key)
	first := c.next
	c.next = func(ctx context.Context, refused bool) (string, time.Time, bool, error) {
		if begun := again; !refused && time.Now().Before(begun) { // the watch begins with a look
			return "", begun, false, nil
		}
		return first(ctx, refused)
	}
	return c, nil
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// tokenError says what the token's server said.
func tokenError(o plan.OAuth, err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response != nil {
		return fmt.Errorf("%s gives no token: HTTP status %d: %s", plan.SafeURL(o.TokenURL), refused.Response.StatusCode, strings.TrimSpace(string(refused.Body)))
	}
	return fmt.Errorf("%s gives no token: %w", plan.SafeURL(o.TokenURL), bare(err))
}
