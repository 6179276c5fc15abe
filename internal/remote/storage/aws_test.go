package storage

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// credentialServer answers as Amazon's services do that give credentials. The key of a
// role that is assumed says with which it was.
func credentialServer(t *testing.T) *httptest.Server {
	const space = `xmlns="https://sts.amazonaws.com/doc/2011-06-15/"`
	const keys = `{"Code":"Success","AccessKeyId":"%s","SecretAccessKey":"S","Token":"T","Expiration":"2099-01-01T00:00:00Z"}`
	role := func(w io.Writer, action, id string) {
		fmt.Fprintf(w, `<%sResponse %s><%sResult><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></%sResult></%sResponse>`,
			action, space, action, id, action, action)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const token = "X-Aws-Ec2-Metadata-Token"
		signed, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="), ",")
		switch action := r.FormValue("Action"); {
		case action == "AssumeRoleWithWebIdentity" && r.FormValue("WebIdentityToken") == "jwt" && r.FormValue("RoleArn") == "arn:role":
			role(w, action, "WEB-"+r.FormValue("RoleSessionName"))
		case action == "AssumeRole" && r.FormValue("RoleArn") == "arn:role" && strings.HasSuffix(signed, "/us-east-1/sts/aws4_request"):
			by, _, _ := strings.Cut(signed, "/")
			role(w, action, by+"-"+r.FormValue("RoleSessionName")+r.FormValue("ExternalId"))
		case action != "":
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `<ErrorResponse %s><Error><Code>AccessDenied</Code><Message>Not authorized to do that</Message></Error></ErrorResponse>`, space)
		case r.URL.Path == "/agent" && r.Header.Get("Authorization") == "agent-token":
			fmt.Fprintf(w, keys, "AGENT")
		case r.URL.Path == "/latest/api/token" && r.Method == http.MethodPut:
			fmt.Fprint(w, "tok")
		case r.URL.Path == "/latest/meta-data/iam/security-credentials/" && r.Header.Get(token) == "tok":
			fmt.Fprint(w, "role")
		case r.URL.Path == "/latest/meta-data/iam/security-credentials/role" && r.Header.Get(token) == "tok":
			fmt.Fprintf(w, keys, "MACHINE")
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// home makes a home directory with the files of Amazon's tools.
func home(t *testing.T, config, credentials string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{".aws/config": config, ".aws/credentials": credentials, "jwt": "jwt", "agent": "agent-token"} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// config has profiles of all kinds.
func config(dir string) string {
	return `[default]
region = eu-central-1
s3 =
  addressing_style = path
  region = nonsense
[profile ci]
region = ap-south-1
[profile role]
role_arn = arn:role
source_profile = ci
external_id = .ext
[profile chained]
role_arn = arn:role
source_profile = role
role_session_name = mine
[profile self]
role_arn = arn:role
source_profile = self
aws_access_key_id = SELF
aws_secret_access_key = S
[profile web]
role_arn = arn:role
web_identity_token_file = ` + dir + `/jwt
[profile machine]
role_arn = arn:role
credential_source = Ec2InstanceMetadata
[profile other]
role_arn = arn:other
source_profile = ci
[profile bare]
role_arn = arn:role
[profile loop]
role_arn = arn:role
source_profile = loop2
[profile loop2]
role_arn = arn:role
source_profile = loop
[profile code]
role_arn = arn:role
source_profile = ci
mfa_serial = arn:device
[profile process]
credential_process = echo {"Version":1,"AccessKeyId":"PROCESS","SecretAccessKey":"S"}
[sso-session mine]
sso_region = eu-west-1
sso_start_url = https://start
[profile sso]
sso_session = mine
sso_account_id = 1
sso_role_name = reader
`
}

func TestCredentials(t *testing.T) {
	s := credentialServer(t)
	dir := home(t, "", "# mine\n[default]\naws_access_key_id = FILE\naws_secret_access_key=S#;%(x)s\n[ci]\naws_access_key_id = CI\naws_secret_access_key = S\naws_session_token = T\n")
	if err := os.WriteFile(filepath.Join(dir, ".aws/config"), []byte(config(dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		env  []string
		want string // id, secret and token, or what is in the error
	}{
		{"variables", []string{"AWS_ACCESS_KEY_ID", "ENV", "AWS_SECRET_ACCESS_KEY", "S"}, "ENV S "},
		{"file", nil, "FILE S#;%(x)s "},
		{"profile", []string{"AWS_PROFILE", "ci"}, "CI S T"},
		{"service account", []string{"AWS_WEB_IDENTITY_TOKEN_FILE", dir + "/jwt", "AWS_ROLE_ARN", "arn:role"}, "WEB-inferometer S T"},
		{"its session has a name", []string{"AWS_WEB_IDENTITY_TOKEN_FILE", dir + "/jwt", "AWS_ROLE_ARN", "arn:role", "AWS_ROLE_SESSION_NAME", "n"}, "WEB-n S T"},
		{"container", []string{"HOME", "/nowhere", "AWS_CONTAINER_CREDENTIALS_FULL_URI", s.URL + "/agent", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", dir + "/agent"}, "AGENT S T"},
		{"machine", []string{"HOME", "/nowhere", "AWS_EC2_METADATA_SERVICE_ENDPOINT", s.URL}, "MACHINE S T"},
		{"role", []string{"AWS_PROFILE", "role"}, "CI-inferometer.ext S T"},
		{"role of a role", []string{"AWS_PROFILE", "chained"}, "CI-inferometer.ext-mine S T"},
		{"role by its own key", []string{"AWS_PROFILE", "self"}, "SELF-inferometer S T"},
		{"role by a token", []string{"AWS_PROFILE", "web"}, "WEB-inferometer S T"},
		{"role of the machine", []string{"AWS_PROFILE", "machine", "AWS_EC2_METADATA_SERVICE_ENDPOINT", s.URL}, "MACHINE-inferometer S T"},
		{"process", []string{"AWS_PROFILE", "process"}, "PROCESS S "},

		{"no such profile", []string{"AWS_PROFILE", "none"}, `the profile "none", which neither`},
		{"not for this role", []string{"AWS_PROFILE", "other"}, "credentials for the role arn:other from " + s.URL + ": Not authorized to do that"},
		{"no key for the role", []string{"AWS_PROFILE", "bare"}, `"bare" has a role and no credentials`},
		{"profiles in a circle", []string{"AWS_PROFILE", "loop"}, "has a role and no credentials"},
		{"a one-time code", []string{"AWS_PROFILE", "code"}, "needs a one-time code"},
		{"no portal", []string{"AWS_PROFILE", "sso"}, "aws sso login"},
		{"no token", []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "/nowhere/jwt", "AWS_ROLE_ARN", "arn:role"}, "open /nowhere/jwt"},
		{"not for this agent", []string{"HOME", "/nowhere", "AWS_CONTAINER_CREDENTIALS_FULL_URI", s.URL + "/agent"}, "credentials of the container's agent: 403 Forbidden"},
		{"no machine", []string{"HOME", "/nowhere", "AWS_EC2_METADATA_SERVICE_ENDPOINT", s.URL + "/elsewhere"}, "there are no credentials: set AWS_ACCESS_KEY_ID"},
	} {
		t.Run(c.name, func(t *testing.T) {
			getenv := environment(t, append([]string{"HOME", dir, "AWS_ENDPOINT_URL_STS", s.URL}, c.env...)...)
			if got := found(t, getenv, http.DefaultClient); !strings.Contains(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// found are the credentials that there are in an environment, or why there are none.
func found(t *testing.T, getenv func(string) string, client *http.Client) string {
	t.Helper()
	w, err := readAWS(getenv, client)
	if err != nil {
		return err.Error()
	}
	w.region = "us-east-1"
	c, err := w.find(t.Context())
	if err != nil {
		return err.Error()
	}
	v, err := c.GetWithContext(nil)
	if err != nil {
		return err.Error()
	}
	return v.AccessKeyID + " " + v.SecretAccessKey + " " + v.SessionToken
}

// TestSingleSignOn: the token that aws sso login has left is exchanged at the portal.
func TestSingleSignOn(t *testing.T) {
	dir := home(t, config(""), "")
	sum := sha1.Sum([]byte("mine"))
	cache := filepath.Join(dir, ".aws/sso/cache")
	if err := errors.Join(os.MkdirAll(cache, 0o700), os.WriteFile(filepath.Join(cache, hex.EncodeToString(sum[:])+".json"), []byte(`{"accessToken":"login","expiresAt":"2099-01-01T00:00:00Z"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: network(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host != "portal.sso.eu-west-1.amazonaws.com" || r.Header.Get("X-Amz-Sso_bearer_token") != "login" || r.FormValue("role_name") != "reader" {
			return answer(r, http.StatusUnauthorized, "")
		}
		return answer(r, http.StatusOK, `{"roleCredentials":{"accessKeyId":"SSO","secretAccessKey":"S","sessionToken":"T","expiration":4070908800000}}`)
	})}
	if got := found(t, environment(t, "HOME", dir, "AWS_PROFILE", "sso"), client); got != "SSO S T" {
		t.Error(got)
	}
}

// TestSecretsStayIn: a file that cannot be read is not quoted.
func TestSecretsStayIn(t *testing.T) {
	for _, text := range []string{"[default\naws_secret_access_key = s3cret\n", "[default]\n= s3cret\ns3cret\n", "[default]\ncredential_process = false s3cret\n=s3cret\n"} {
		got := found(t, environment(t, "HOME", home(t, "", text), "AWS_EC2_METADATA_DISABLED", "true"), http.DefaultClient)
		if got == "" || strings.Contains(got, "s3cret") {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestProfileSettings(t *testing.T) {
	dir := home(t, config(""), "[ci]\nregion = first\n")
	for profile, want := range map[string]string{"": "eu-central-1", "ci": "first", "role": ""} {
		w, err := readAWS(environment(t, "HOME", dir, "AWS_PROFILE", profile), nil)
		if err != nil || w.value(w.name, "region") != want {
			t.Errorf("%s: %q, %v, want %q", profile, w.value(w.name, "region"), err, want)
		}
	}
}

// TestTokenServiceOfTheRegion: the service that gives credentials is that of the region,
// and China's is under a domain of its own.
func TestTokenServiceOfTheRegion(t *testing.T) {
	dir := home(t, config(""), "[ci]\naws_access_key_id = CI\naws_secret_access_key = S\n")
	for region, want := range map[string]string{
		"eu-west-1":      "sts.eu-west-1.amazonaws.com",
		"cn-north-1":     "sts.cn-north-1.amazonaws.com.cn",
		"cn-northwest-1": "sts.cn-northwest-1.amazonaws.com.cn",
	} {
		for _, env := range [][]string{{"AWS_WEB_IDENTITY_TOKEN_FILE", dir + "/jwt", "AWS_ROLE_ARN", "arn:role"}, {"AWS_PROFILE", "role"}} {
			asked := ""
			client := &http.Client{Transport: network(func(r *http.Request) (*http.Response, error) {
				asked = r.URL.Host
				return nil, errors.New("nobody is there")
			})}
			w, err := readAWS(environment(t, append(env, "HOME", dir)...), client)
			if err != nil {
				t.Fatal(err)
			}
			w.region = region
			if _, err := w.find(t.Context()); err == nil || asked != want || !strings.HasSuffix(err.Error(), ": nobody is there") {
				t.Errorf("%s: asked %s, want %s (%v)", region, asked, want, err)
			}
		}
	}
}
