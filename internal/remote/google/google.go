// Package google turns Google's application-default credentials into access tokens: a service
// account's key, a user's authorisation, an external account, or the machine's metadata server.
package google

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/inferometer/inferometer/internal/lib/pattern"
)

// Scopes of what tokens are for.
const (
	ScopeMonitoring = "https://www.googleapis.com/auth/monitoring.read"
	ScopeStorage    = "https://www.googleapis.com/auth/devstorage.read_write"
)

// Credentials give access tokens. They are safe for use from several goroutines.
type Credentials struct {
	// Project is that of the credentials; empty: they name none.
	Project string

	tokens oauth2.TokenSource
}

// tokenTime bounds one attempt at getting a token.
const tokenTime = 10 * time.Second

// Find looks for credentials where Google's own tools do, and gets a first token, so that
// what is wrong with them is known at once. Most variables are read by the library.
func Find(ctx context.Context, scope string, getenv func(string) string) (*Credentials, error) {
	// Tokens are asked for long after this call.
	ctx = context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, &http.Client{Timeout: tokenTime})
	c := new(Credentials)
	found, err := find(ctx, scope, getenv)
	if err == nil {
		var file struct {
			QuotaProject string `json:"quota_project_id"`
		}
		_ = json.Unmarshal(found.JSON, &file) // the library has read it; those of a machine have none
		c.Project = cmp.Or(getenv("GOOGLE_CLOUD_PROJECT"), getenv("GCLOUD_PROJECT"), found.ProjectID, file.QuotaProject)
		c.tokens = found.TokenSource
		_, err = c.Token()
	}
	if err != nil {
		return nil, fmt.Errorf("no usable application-default credentials: %w; set GOOGLE_APPLICATION_CREDENTIALS to a file of credentials, or run gcloud auth application-default login", reason(err))
	}
	return c, nil
}

// find adds to what the library knows the directory in which gcloud is told to keep its files.
func find(ctx context.Context, scope string, getenv func(string) string) (*google.Credentials, error) {
	if dir := getenv("CLOUDSDK_CONFIG"); dir != "" && getenv("GOOGLE_APPLICATION_CREDENTIALS") == "" {
		text, err := os.ReadFile(filepath.Join(dir, "application_default_credentials.json"))
		if err == nil {
			var file struct{ Type google.CredentialsType }
			_ = json.Unmarshal(text, &file) // which the library does again
			return google.CredentialsFromJSONWithType(ctx, text, file.Type, scope)
		}
	}
	return google.FindDefaultCredentials(ctx, scope)
}

// Token is a token that is valid for a while yet.
func (c *Credentials) Token() (string, error) {
	t, err := c.tokens.Token()
	if err != nil {
		return "", fmt.Errorf("getting an access token of Google: %w", reason(err))
	}
	return t.AccessToken, nil
}

// query is that of an address in a message: it may hold a secret.
var query = pattern.New(`(://[^\s"?]*)\?[^\s"]*`)

// reason says why there are no credentials. A refusal is quoted as far as it says why.
func reason(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response != nil {
		var why struct {
			Error       string `json:"error"`
			Description string `json:"error_description"`
		}
		_ = json.Unmarshal(refused.Body, &why) // without it the status has to do
		return fmt.Errorf("%s answers with HTTP status %s %.200s", refused.Response.Request.URL.Host, refused.Response.Status, cmp.Or(why.Description, why.Error))
	}
	text, _, _ := strings.Cut(err.Error(), "\n") // a response may follow
	return fmt.Errorf("%.300s", query().ReplaceAllString(text, "$1"))
}
