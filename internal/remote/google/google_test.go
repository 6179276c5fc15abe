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
)

// environment is one with nothing else in it. The library reads it itself.
func environment(t *testing.T, pairs ...string) func(string) string {
	t.Helper()
	for _, name := range []string{"GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "GCE_METADATA_HOST"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	for i := 0; i+1 < len(pairs); i += 2 {
		t.Setenv(pairs[i], pairs[i+1])
	}
	return os.Getenv
}

func write(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "application_default_credentials.json")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// tokenServer serves tokens t1, t2, … to who is accepted.
func tokenServer(t *testing.T, seconds int, accept func(*http.Request) bool) string {
	t.Helper()
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if !accept(r) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant","error_description":"Token has been revoked."}`)
			return
		}
		n++
		fmt.Fprintf(w, `{"access_token":"t%d","token_type":"Bearer","issued_token_type":"urn:ietf:params:oauth:token-type:access_token","expires_in":%d}`, n, seconds)
	}))
	t.Cleanup(server.Close)
	return server.URL
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
	var uri string
	uri = tokenServer(t, 3600, func(r *http.Request) bool {
		parts := strings.Split(r.FormValue("assertion"), ".")
		if len(parts) != 3 || r.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
			t.Errorf("form %v", r.Form)
			return false
		}
		sig, _ := base64.RawURLEncoding.DecodeString(parts[2])
		sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
		if err := rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], sig); err != nil {
			t.Errorf("signature: %v", err)
		}
		text, _ := base64.RawURLEncoding.DecodeString(parts[1])
		var claim map[string]any
		_ = json.Unmarshal(text, &claim)
		if claim["iss"] != "robot@p" || claim["scope"] != ScopeStorage || claim["aud"] != uri {
			t.Errorf("claim %s", text)
		}
		return true
	})
	name := write(t, map[string]string{
		"type": "service_account", "project_id": "p", "client_email": "robot@p", "token_uri": uri,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	c, err := Find(t.Context(), ScopeStorage, environment(t, "GOOGLE_APPLICATION_CREDENTIALS", name))
	if err != nil || c.Project != "p" {
		t.Fatal(c, err)
	}
	if got, err := c.Token(); got != "t1" || err != nil {
		t.Errorf("token %q, %v: want the first, which is valid yet", got, err)
	}
}

func TestAuthorizedUser(t *testing.T) {
	uri := tokenServer(t, 1, func(r *http.Request) bool { return r.FormValue("refresh_token") == "refresh" })
	user := map[string]string{"type": "authorized_user", "client_id": "i", "client_secret": "s3cret", "refresh_token": "refresh", "token_uri": uri, "quota_project_id": "q"}
	c, err := Find(t.Context(), ScopeMonitoring, environment(t, "CLOUDSDK_CONFIG", filepath.Dir(write(t, user))))
	if err != nil || c.Project != "q" {
		t.Fatal(c, err)
	}
	if got, err := c.Token(); got != "t2" || err != nil {
		t.Errorf("token %q, %v: want a new one, the first is about to end", got, err)
	}
	user["refresh_token"] = "old-s3cret"
	_, err = Find(t.Context(), ScopeMonitoring, environment(t, "GOOGLE_APPLICATION_CREDENTIALS", write(t, user)))
	if err == nil || !strings.Contains(err.Error(), "answers with HTTP status 400 Bad Request Token has been revoked.") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %v", err)
	}
}

// TestExternalAccount: the token of another provider, in a file, becomes one of Google's,
// and that one of a service account.
func TestExternalAccount(t *testing.T) {
	uri := tokenServer(t, 3600, func(r *http.Request) bool {
		return r.FormValue("subject_token") == "jwt" && r.FormValue("audience") == "//iam.googleapis.com/pool" && r.FormValue("grant_type") == "urn:ietf:params:oauth:grant-type:token-exchange"
	})
	impersonation := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t1" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, `{"accessToken":"robot","expireTime":"2099-01-01T00:00:00Z"}`)
	}))
	defer impersonation.Close()
	jwt := filepath.Join(t.TempDir(), "jwt")
	if err := os.WriteFile(jwt, []byte("jwt"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := map[string]any{
		"type": "external_account", "audience": "//iam.googleapis.com/pool", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
		"token_url": uri, "service_account_impersonation_url": impersonation.URL, "credential_source": map[string]string{"file": jwt},
	}
	c, err := Find(t.Context(), ScopeStorage, environment(t, "GOOGLE_APPLICATION_CREDENTIALS", write(t, file), "GOOGLE_CLOUD_PROJECT", "mine"))
	if err != nil || c.Project != "mine" {
		t.Fatal(c, err)
	}
	if got, err := c.Token(); got != "robot" || err != nil {
		t.Errorf("token %q, %v", got, err)
	}
	file["credential_source"] = map[string]string{"url": "http://127.0.0.1:1/token?key=s3cret"}
	_, err = Find(t.Context(), ScopeStorage, environment(t, "GOOGLE_APPLICATION_CREDENTIALS", write(t, file)))
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("error %v", err)
	}
}

func TestMetadataServer(t *testing.T) {
	there := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Metadata-Flavor") != "Google" || !there:
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Path == "/computeMetadata/v1/project/project-id":
			fmt.Fprintln(w, "machine-project")
		case r.URL.Path == "/computeMetadata/v1/instance/service-accounts/default/token":
			fmt.Fprintf(w, `{"access_token":%q,"expires_in":1800}`, "for "+r.FormValue("scopes"))
		}
	}))
	defer server.Close()
	getenv := environment(t, "GCE_METADATA_HOST", strings.TrimPrefix(server.URL, "http://"))
	c, err := Find(t.Context(), ScopeMonitoring, getenv)
	if err != nil || c.Project != "machine-project" {
		t.Fatal(c, err)
	}
	if got, err := c.Token(); got != "for "+ScopeMonitoring || err != nil {
		t.Errorf("token %q, %v", got, err)
	}
	there = false
	if _, err := Find(t.Context(), ScopeMonitoring, getenv); err == nil || !strings.Contains(err.Error(), "gcloud auth application-default login") {
		t.Errorf("without an account: %v", err)
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct {
		file any
		want string
	}{
		{"s3cret", "GOOGLE_APPLICATION_CREDENTIALS"},
		{map[string]string{"type": "s0mething"}, `unknown credential type: "s0mething"`},
		{map[string]string{"type": "external_account"}, "Audience must be set"},
		{map[string]string{"type": "service_account", "private_key": "s3cret"}, "private key should be a PEM"},
	} {
		_, err := Find(t.Context(), "", environment(t, "GOOGLE_APPLICATION_CREDENTIALS", write(t, c.file)))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v: error %v, want %q", c.file, err, c.want)
		}
	}
	if _, err := Find(t.Context(), "", environment(t, "GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/c.json")); err == nil || !strings.Contains(err.Error(), "/nowhere/c.json") {
		t.Errorf("a file that is not there: %v", err)
	}
}
