// Package google finds Google's application-default credentials and turns them into
// access tokens: a service account's key, a user's own authorisation, or the metadata
// server of the machine.
package google

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Scopes of what tokens are for.
const (
	ScopeMonitoring = "https://www.googleapis.com/auth/monitoring.read"
	ScopeStorage    = "https://www.googleapis.com/auth/devstorage.read_write"
)

// Options are what credentials are looked for with.
type Options struct {
	Getenv func(string) string // nil: the environment
	Client *http.Client        // nil: one with a time-out
	Now    func() time.Time    // nil: the clock
}

// Credentials give access tokens. They are safe for use from several goroutines.
type Credentials struct {
	// Project is that of the credentials; empty: they name none.
	Project string

	scope  string
	client *http.Client
	now    func() time.Time
	fetch  func(ctx context.Context) (token, error)

	mu   sync.Mutex
	last token
}

type token struct {
	Access  string  `json:"access_token"`
	Seconds float64 `json:"expires_in"`
	until   time.Time
}

// early is how long before its end a token is not used any more.
const early = time.Minute

// tokenTime bounds one attempt at getting a token.
const tokenTime = 10 * time.Second

// Find looks for credentials where Google's own tools do: in the file that
// GOOGLE_APPLICATION_CREDENTIALS names, in gcloud's, and at the metadata server.
func Find(ctx context.Context, scope string, o Options) (*Credentials, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Client == nil {
		o.Client = &http.Client{Timeout: tokenTime}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Credentials{scope: scope, client: o.Client, now: o.Now, Project: firstOf(o.Getenv("GOOGLE_CLOUD_PROJECT"), o.Getenv("GCLOUD_PROJECT"))}
	if name := o.Getenv("GOOGLE_APPLICATION_CREDENTIALS"); name != "" {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading the file that GOOGLE_APPLICATION_CREDENTIALS names: %w", err)
		}
		return c, c.file(name, text)
	}
	if name := wellKnown(o.Getenv); name != "" {
		text, err := os.ReadFile(name)
		if err == nil {
			return c, c.file(name, text)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading gcloud's credentials: %w", err)
		}
	}
	return c, c.metadata(ctx, o.Getenv("GCE_METADATA_HOST"))
}

func firstOf(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

// wellKnown is where gcloud keeps the user's authorisation.
func wellKnown(getenv func(string) string) string {
	dir := getenv("CLOUDSDK_CONFIG")
	if dir == "" {
		if home := getenv("HOME"); home != "" {
			dir = filepath.Join(home, ".config", "gcloud")
		} else if data := getenv("APPDATA"); data != "" {
			dir = filepath.Join(data, "gcloud")
		}
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "application_default_credentials.json")
}

// keyFile is what both kinds of files hold.
type keyFile struct {
	Type         string `json:"type"`
	Project      string `json:"project_id"`
	QuotaProject string `json:"quota_project_id"`
	TokenURI     string `json:"token_uri"`

	Email string `json:"client_email"` // of a service account
	Key   string `json:"private_key"`
	KeyID string `json:"private_key_id"`

	ClientID     string `json:"client_id"` // of a user
	ClientSecret string `json:"client_secret"`
	RefreshToken string `json:"refresh_token"`
}

const googleTokens = "https://oauth2.googleapis.com/token"

// file takes the credentials of a file.
func (c *Credentials) file(name string, text []byte) error {
	var f keyFile
	if err := json.Unmarshal(text, &f); err != nil {
		return fmt.Errorf("%s holds no credentials in JSON form", name) // the reason could quote a secret
	}
	f.TokenURI = firstOf(f.TokenURI, googleTokens)
	c.Project = firstOf(c.Project, f.Project, f.QuotaProject)
	switch f.Type {
	case "service_account":
		key, err := privateKey(f.Key)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		c.fetch = func(ctx context.Context) (token, error) { return c.serviceAccount(ctx, &f, key) }
	case "authorized_user":
		c.fetch = func(ctx context.Context) (token, error) {
			return c.exchange(ctx, f.TokenURI, url.Values{
				"grant_type": {"refresh_token"}, "client_id": {f.ClientID}, "client_secret": {f.ClientSecret}, "refresh_token": {f.RefreshToken},
			})
		}
	default:
		return fmt.Errorf("%s holds credentials of type %q: those of a service_account or an authorized_user are understood", name, f.Type)
	}
	return nil
}

func privateKey(text string) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("its private_key is not in PEM form")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	any, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("its private_key cannot be read")
	}
	key, ok := any.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("its private_key is no RSA key")
	}
	return key, nil
}

// serviceAccount exchanges a signed claim for a token.
func (c *Credentials) serviceAccount(ctx context.Context, f *keyFile, key *rsa.PrivateKey) (token, error) {
	now := c.now()
	head, _ := json.Marshal(map[string]string{"alg": "RS256", "typ": "JWT", "kid": f.KeyID})
	claim, _ := json.Marshal(map[string]any{
		"iss": f.Email, "scope": c.scope, "aud": f.TokenURI, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	})
	signed := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claim)
	sum := sha256.Sum256([]byte(signed))
	sig, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return token{}, fmt.Errorf("signing with the service account's key: %w", err)
	}
	return c.exchange(ctx, f.TokenURI, url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {signed + "." + base64.RawURLEncoding.EncodeToString(sig)},
	})
}

// exchange posts a form and gets a token.
func (c *Credentials) exchange(ctx context.Context, uri string, form url.Values) (token, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, uri, strings.NewReader(form.Encode()))
	if err != nil {
		return token{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return c.answer(req)
}

func (c *Credentials) answer(req *http.Request) (token, error) {
	var t token
	body, err := c.do(req)
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(body, &t); err != nil || t.Access == "" {
		return t, fmt.Errorf("%s answered without a token", req.URL.Host)
	}
	t.until = c.now().Add(time.Duration(t.Seconds * float64(time.Second)))
	return t, nil
}

// do sends a request for a token. An answer that refuses it is quoted as far as it says
// why, never whole.
func (c *Credentials) do(req *http.Request) ([]byte, error) {
	resp, err := c.client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return nil, fmt.Errorf("asking %s: %w", req.URL.Host, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("the answer of %s: %w", req.URL.Host, err)
	}
	if resp.StatusCode != http.StatusOK {
		var why struct {
			Error       string `json:"error"`
			Description string `json:"error_description"`
		}
		_ = json.Unmarshal(body, &why) // without it the status has to do
		return nil, fmt.Errorf("%s answered %s %s", req.URL.Host, resp.Status, firstOf(why.Description, why.Error))
	}
	return body, nil
}

// metadataHost is the metadata server of Google's machines.
const metadataHost = "metadata.google.internal"

// metadata takes the credentials of the machine, where there is a metadata server.
func (c *Credentials) metadata(ctx context.Context, host string) error {
	host = firstOf(host, metadataHost)
	get := func(ctx context.Context, path string) (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/computeMetadata/v1/"+path, nil)
		if err == nil {
			req.Header.Set("Metadata-Flavor", "Google")
		}
		return req, err
	}
	c.fetch = func(ctx context.Context) (token, error) {
		req, err := get(ctx, "instance/service-accounts/default/token?scopes="+url.QueryEscape(c.scope))
		if err != nil {
			return token{}, err
		}
		return c.answer(req)
	}
	const patience = 3 * time.Second // elsewhere than at Google nobody answers
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := get(ctx, "project/project-id")
	if err != nil {
		return err
	}
	body, err := c.do(req)
	if err != nil {
		return fmt.Errorf("there are no application-default credentials: GOOGLE_APPLICATION_CREDENTIALS is not set, gcloud has none (gcloud auth application-default login makes them), and the metadata server cannot be reached: %w", err)
	}
	c.Project = firstOf(c.Project, strings.TrimSpace(string(body)))
	return nil
}

// Token is a token that is valid for a while yet.
func (c *Credentials) Token(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.Access != "" && c.now().Before(c.last.until.Add(-early)) {
		return c.last.Access, nil
	}
	t, err := c.fetch(ctx)
	if err != nil {
		return "", fmt.Errorf("getting an access token of Google: %w", err)
	}
	c.last = t
	return t.Access, nil
}
