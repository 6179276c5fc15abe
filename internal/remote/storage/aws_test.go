package storage

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// credentialServer answers as Amazon's services do that give credentials.
func credentialServer(t *testing.T) *httptest.Server {
	const answer = `{"AccessKeyId":"%s","SecretAccessKey":"S","Token":"T","Expiration":"2099-01-01T00:00:00Z"}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const token = "X-Aws-Ec2-Metadata-Token"
		switch {
		case r.FormValue("Action") == "AssumeRoleWithWebIdentity" && r.FormValue("WebIdentityToken") == "jwt" && r.FormValue("RoleArn") == "arn:role":
			fmt.Fprint(w, `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>WEB</AccessKeyId><SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`)
		case r.URL.Path == "/agent" && r.Header.Get("Authorization") == "agent-token":
			fmt.Fprintf(w, answer, "AGENT")
		case r.URL.Path == "/latest/api/token" && r.Method == http.MethodPut:
			fmt.Fprint(w, "tok")
		case r.URL.Path == "/latest/meta-data/iam/security-credentials/" && r.Header.Get(token) == "tok":
			fmt.Fprint(w, "role")
		case r.URL.Path == "/latest/meta-data/iam/security-credentials/role" && r.Header.Get(token) == "tok":
			fmt.Fprintf(w, answer, "MACHINE")
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestCredentials(t *testing.T) {
	s, dir := credentialServer(t), t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		return name
	}
	write(".aws/credentials", "# mine\n[default]\naws_access_key_id = FILE\naws_secret_access_key=S\n[ci]\naws_access_key_id = CI\naws_secret_access_key = S\naws_session_token = T\n")
	write(".aws/config", "[default]\nregion = eu-central-1\ns3 =\n  addressing_style = path\n[profile ci]\nregion = ap-south-1\n")
	jwt, agent := write("jwt", "jwt\n"), write("agent", "agent-token\n")
	for _, c := range []struct {
		name string
		env  map[string]string
		want awsKey
	}{
		{"variables", map[string]string{"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "S", "HOME": dir}, awsKey{"ENV", "S", ""}},
		{"file", map[string]string{"HOME": dir}, awsKey{"FILE", "S", ""}},
		{"profile", map[string]string{"HOME": dir, "AWS_PROFILE": "ci"}, awsKey{"CI", "S", "T"}},
		{"service account", map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": jwt, "AWS_ROLE_ARN": "arn:role", "AWS_ENDPOINT_URL_STS": s.URL}, awsKey{"WEB", "S", "T"}},
		{"container", map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": s.URL + "/agent", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": agent}, awsKey{"AGENT", "S", "T"}},
		{"machine", map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": s.URL}, awsKey{"MACHINE", "S", "T"}},
	} {
		w, err := readAWS(env(c.env))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := w.find(t.Context(), "us-east-1", Options{}.filled()); got != c.want || err != nil {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
	w, err := readAWS(env(map[string]string{"HOME": dir, "AWS_PROFILE": "ci"}))
	if err != nil || w.profile["region"] != "ap-south-1" {
		t.Errorf("%+v, %v", w, err)
	}
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"HOME": dir, "AWS_PROFILE": "none"}, `the profile "none"`},
		{map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": jwt, "AWS_ROLE_ARN": "arn:other", "AWS_ENDPOINT_URL_STS": s.URL}, "gives no credentials for the role arn:other"},
		{map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": s.URL + "/agent"}, "gives no credentials: HTTP status 403"},
	} {
		w, err := readAWS(env(c.env))
		if err == nil {
			_, err = w.find(t.Context(), "us-east-1", Options{}.filled())
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.env, err, c.want)
		}
	}
}

func FuzzSections(f *testing.F) {
	f.Add("[default]\na = b\n[profile x]\n c = d\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, values := range sections(text) {
			for name, value := range values {
				if name != strings.TrimSpace(name) || value != strings.TrimSpace(value) || strings.Contains(name+value, "\n") {
					t.Errorf("%q = %q", name, value)
				}
			}
		}
	})
}

// TestTokenServiceOfTheRegion: the service that gives credentials is that of the region,
// and China's is under a domain of its own.
func TestTokenServiceOfTheRegion(t *testing.T) {
	jwt := filepath.Join(t.TempDir(), "jwt")
	if err := os.WriteFile(jwt, []byte("jwt"), 0o600); err != nil {
		t.Fatal(err)
	}
	for region, want := range map[string]string{
		"eu-west-1":      "sts.eu-west-1.amazonaws.com",
		"cn-north-1":     "sts.cn-north-1.amazonaws.com.cn",
		"cn-northwest-1": "sts.cn-northwest-1.amazonaws.com.cn",
	} {
		asked := ""
		client := &http.Client{Transport: asking(func(r *http.Request) { asked = r.URL.Host })}
		w, err := readAWS(env(map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": jwt, "AWS_ROLE_ARN": "arn:role"}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.find(t.Context(), region, Options{Client: client}.filled()); err == nil || asked != want {
			t.Errorf("%s: asked %s, want %s (%v)", region, asked, want, err)
		}
	}
}

// asking is a network that only notes who is asked.
type asking func(*http.Request)

func (a asking) RoundTrip(r *http.Request) (*http.Response, error) {
	a(r)
	return nil, errors.New("nobody is there")
}
