package google

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// env is an environment with nothing else in it.
func env(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

func write(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "c.json")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestServiceAccount(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	now, asked := time.Unix(1_700_000_000, 0), 0
	var uri string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		parts := strings.Split(r.FormValue("assertion"), ".")
		if len(parts) != 3 || r.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
			t.Errorf("form %v", r.Form)
			return
		}
		sig, _ := base64.RawURLEncoding.DecodeString(parts[2])
		sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
		if err := rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], sig); err != nil {
			t.Errorf("signature: %v", err)
		}
		text, _ := base64.RawURLEncoding.DecodeString(parts[1])
		var claim map[string]any
		_ = json.Unmarshal(text, &claim)
		if claim["iss"] != "robot@p" || claim["scope"] != ScopeStorage || claim["aud"] != uri || claim["exp"] != float64(now.Unix()+3600) {
			t.Errorf("claim %s", text)
		}
		fmt.Fprintf(w, `{"access_token":"t%d","expires_in":3600}`, asked)
	}))
	defer server.Close()
	uri = server.URL + "/token"
	name := write(t, map[string]string{
		"type": "service_account", "project_id": "p", "client_email": "robot@p", "token_uri": uri,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	c, err := Find(t.Context(), ScopeStorage, Options{Getenv: env(map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": name}), Now: func() time.Time { return now }})
	if err != nil || c.Project != "p" {
		t.Fatal(c, err)
	}
	for _, step := range []struct {
		after time.Duration
		want  string
	}{{0, "t1"}, {58 * time.Minute, "t1"}, {61 * time.Second, "t2"}} {
		now = now.Add(step.after)
		if got, err := c.Token(t.Context()); got != step.want || err != nil {
			t.Errorf("after %v: token %q, %v, want %q", step.after, got, err, step.want)
		}
	}
}

func TestAuthorizedUser(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("refresh_token") != "refresh" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant","error_description":"Token has been revoked."}`)
			return
		}
		fmt.Fprint(w, `{"access_token":"t","expires_in":60}`)
	}))
	defer server.Close()
	user := map[string]string{"type": "authorized_user", "client_id": "i", "client_secret": "s3cret", "refresh_token": "refresh", "token_uri": server.URL, "quota_project_id": "q"}
	dir := t.TempDir()
	text, _ := json.Marshal(user)
	if err := os.WriteFile(filepath.Join(dir, "application_default_credentials.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Find(t.Context(), ScopeMonitoring, Options{Getenv: env(map[string]string{"CLOUDSDK_CONFIG": dir})})
	if err != nil || c.Project != "q" {
		t.Fatal(c, err)
	}
	if got, err := c.Token(t.Context()); got != "t" || err != nil {
		t.Errorf("token %q, %v", got, err)
	}
	user["refresh_token"] = "old-s3cret"
	c, err = Find(t.Context(), ScopeMonitoring, Options{Getenv: env(map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": write(t, user)})})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Token(t.Context()); err == nil || !strings.Contains(err.Error(), "Token has been revoked") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %v", err)
	}
}

func TestMetadataServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Metadata-Flavor") != "Google" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		switch r.URL.Path {
		case "/computeMetadata/v1/project/project-id":
			fmt.Fprintln(w, "machine-project")
		case "/computeMetadata/v1/instance/service-accounts/default/token":
			fmt.Fprintf(w, `{"access_token":%q,"expires_in":1800}`, "for "+r.FormValue("scopes"))
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	c, err := Find(t.Context(), ScopeMonitoring, Options{Getenv: env(map[string]string{"GCE_METADATA_HOST": host})})
	if err != nil || c.Project != "machine-project" {
		t.Fatal(c, err)
	}
	if got, err := c.Token(t.Context()); got != "for "+ScopeMonitoring || err != nil {
		t.Errorf("token %q, %v", got, err)
	}
	server.Close()
	if _, err := Find(t.Context(), ScopeMonitoring, Options{Getenv: env(map[string]string{"GCE_METADATA_HOST": host})}); err == nil || !strings.Contains(err.Error(), "gcloud auth application-default login") {
		t.Errorf("without a metadata server: %v", err)
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct {
		file any
		want string
	}{
		{"s3cret", "holds no credentials in JSON form"},
		{map[string]string{"type": "external_account"}, `credentials of type "external_account"`},
		{map[string]string{"type": "service_account", "private_key": "s3cret"}, "private_key is not in PEM form"},
	} {
		_, err := Find(t.Context(), "", Options{Getenv: env(map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": write(t, c.file)})})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v: error %v, want %q", c.file, err, c.want)
		}
	}
	if _, err := Find(t.Context(), "", Options{Getenv: env(map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": "/nowhere/c.json"})}); err == nil {
		t.Error("a file that is not there gives credentials")
	}
}
