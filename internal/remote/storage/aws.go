package storage

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// aws is where the credentials of Amazon's tools are looked for.
type aws struct {
	getenv  func(string) string
	profile map[string]string // the chosen one, of both files
}

// readAWS reads the files of Amazon's tools, where there are any.
func readAWS(getenv func(string) string) (*aws, error) {
	w := &aws{getenv: getenv, profile: map[string]string{}}
	name := firstOf(getenv("AWS_PROFILE"), getenv("AWS_DEFAULT_PROFILE"))
	home := firstOf(getenv("HOME"), getenv("USERPROFILE"))
	found := name == ""
	for _, f := range []struct{ variable, file string }{
		{"AWS_CONFIG_FILE", "config"}, {"AWS_SHARED_CREDENTIALS_FILE", "credentials"},
	} {
		path := getenv(f.variable)
		if path == "" && home != "" {
			path = filepath.Join(home, ".aws", f.file)
		}
		if path == "" {
			continue
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the credentials of Amazon's tools: %w", err)
		}
		for section, values := range sections(string(text)) {
			if strings.TrimSpace(strings.TrimPrefix(section, "profile ")) != firstOf(name, "default") {
				continue
			}
			found = true
			for k, v := range values {
				w.profile[k] = v
			}
		}
	}
	if !found {
		return nil, fmt.Errorf("AWS_PROFILE names the profile %q, which neither the config nor the credentials file has", name)
	}
	return w, nil
}

// sections reads a file of sections with lines of the form name = value. Indented lines
// belong to settings of other services and are left out.
func sections(text string) map[string]map[string]string {
	all := map[string]map[string]string{}
	var now map[string]string
	for line := range strings.Lines(text) {
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' || indented {
			continue
		}
		if line[0] == '[' {
			section := strings.TrimSpace(strings.Trim(line, "[]"))
			if all[section] == nil {
				all[section] = map[string]string{}
			}
			now = all[section]
			continue
		}
		if name, value, ok := strings.Cut(line, "="); ok && now != nil {
			now[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
		}
	}
	return all
}

// find finds credentials where Amazon's tools do, in their order.
func (w *aws) find(ctx context.Context, region string, o Options) (awsKey, error) {
	if id, secret := w.getenv("AWS_ACCESS_KEY_ID"), w.getenv("AWS_SECRET_ACCESS_KEY"); id != "" && secret != "" {
		return awsKey{id, secret, w.getenv("AWS_SESSION_TOKEN")}, nil
	}
	if file, role := w.getenv("AWS_WEB_IDENTITY_TOKEN_FILE"), w.getenv("AWS_ROLE_ARN"); file != "" && role != "" {
		return w.webIdentity(ctx, file, role, region, o.Client)
	}
	if id, secret := w.profile["aws_access_key_id"], w.profile["aws_secret_access_key"]; id != "" && secret != "" {
		return awsKey{id, secret, w.profile["aws_session_token"]}, nil
	}
	if k, ok, err := w.container(ctx, o.Client); ok || err != nil {
		return k, err
	}
	k, err := w.machine(ctx)
	if err != nil {
		return k, fmt.Errorf("there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them into ~/.aws/credentials (%w)", err)
	}
	return k, nil
}

// credentialTime bounds one attempt at getting credentials.
const credentialTime = 10 * time.Second

// webIdentity exchanges the token of a Kubernetes service account for credentials.
func (w *aws) webIdentity(ctx context.Context, file, role, region string, c *http.Client) (awsKey, error) {
	token, err := os.ReadFile(file)
	if err != nil {
		return awsKey{}, fmt.Errorf("reading the token that AWS_WEB_IDENTITY_TOKEN_FILE names: %w", err)
	}
	service := firstOf(w.getenv("AWS_ENDPOINT_URL_STS"), "https://sts."+region+"."+amazonDomain(region))
	form := url.Values{
		"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleArn": {role},
		"RoleSessionName": {firstOf(w.getenv("AWS_ROLE_SESSION_NAME"), "inferometer")}, "WebIdentityToken": {strings.TrimSpace(string(token))},
	}
	ctx, cancel := context.WithTimeout(ctx, credentialTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, service, strings.NewReader(form.Encode()))
	if err != nil {
		return awsKey{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, body, err := send(c, req)
	if err != nil {
		return awsKey{}, fmt.Errorf("asking %s for credentials: %w", req.URL.Host, err)
	}
	var answer struct {
		Result struct {
			Credentials struct{ AccessKeyId, SecretAccessKey, SessionToken string }
		} `xml:"AssumeRoleWithWebIdentityResult"`
		Error struct{ Message string }
	}
	err = xml.Unmarshal(body, &answer)
	k := answer.Result.Credentials
	if resp.StatusCode != http.StatusOK || err != nil || k.AccessKeyId == "" {
		return awsKey{}, fmt.Errorf("%s gives no credentials for the role %s: HTTP status %d %.200s", req.URL.Host, role, resp.StatusCode, answer.Error.Message)
	}
	return awsKey{k.AccessKeyId, k.SecretAccessKey, k.SessionToken}, nil
}

// keyAnswer is how credentials come from a container's agent and from a machine.
type keyAnswer struct{ AccessKeyID, SecretAccessKey, Token string }

// UnmarshalJSON reads the names that the services use.
func (a *keyAnswer) UnmarshalJSON(text []byte) error {
	var m struct {
		ID     string `json:"AccessKeyId"`
		Secret string `json:"SecretAccessKey"`
		Token  string `json:"Token"`
	}
	err := json.Unmarshal(text, &m)
	*a = keyAnswer{m.ID, m.Secret, m.Token}
	return err
}

// container asks the agent of a container; not ok: there is none.
func (w *aws) container(ctx context.Context, c *http.Client) (k awsKey, ok bool, err error) {
	uri := w.getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if rel := w.getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); rel != "" {
		uri = "http://169.254.170.2" + rel
	}
	if uri == "" {
		return k, false, nil
	}
	token := w.getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if file := w.getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return k, false, fmt.Errorf("reading the token of the container's agent: %w", err)
		}
		token = strings.TrimSpace(string(text))
	}
	ctx, cancel := context.WithTimeout(ctx, credentialTime)
	defer cancel()
	k, err = askKey(ctx, c, uri, "Authorization", token)
	return k, err == nil, err
}

// askKey gets credentials in JSON form.
func askKey(ctx context.Context, c *http.Client, uri, header, value string) (awsKey, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, uri, nil)
	if err != nil {
		return awsKey{}, err
	}
	if value != "" {
		req.Header.Set(header, value)
	}
	resp, body, err := send(c, req)
	if err != nil {
		return awsKey{}, fmt.Errorf("asking %s for credentials: %w", req.URL.Host, err)
	}
	var k keyAnswer
	if err := json.Unmarshal(body, &k); resp.StatusCode != http.StatusOK || err != nil || k.AccessKeyID == "" {
		return awsKey{}, fmt.Errorf("%s gives no credentials: HTTP status %d", req.URL.Host, resp.StatusCode)
	}
	return awsKey{k.AccessKeyID, k.SecretAccessKey, k.Token}, nil
}

// machineTime is how long the metadata server of a machine may take: elsewhere than at
// Amazon nobody answers.
const machineTime = 2 * time.Second

// machine asks the metadata server of the machine for the credentials of its role.
func (w *aws) machine(ctx context.Context) (awsKey, error) {
	if strings.EqualFold(w.getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		return awsKey{}, errors.New("the machine's own are switched off by AWS_EC2_METADATA_DISABLED")
	}
	base := strings.TrimRight(firstOf(w.getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), "http://169.254.169.254"), "/")
	ctx, cancel := context.WithTimeout(ctx, machineTime)
	defer cancel()
	c := &http.Client{Transport: &http.Transport{}} // never through a proxy
	defer c.CloseIdleConnections()
	get := func(method, path, header, value string) (string, error) {
		req, err := http.NewRequestWithContext(ctx, method, base+path, nil)
		if err != nil {
			return "", err
		}
		req.Header.Set(header, value)
		resp, body, err := send(c, req)
		if err != nil {
			return "", fmt.Errorf("the machine's metadata server: %w", err)
		}
		if resp.StatusCode != http.StatusOK {
			return "", fmt.Errorf("the machine's metadata server answers with HTTP status %d", resp.StatusCode)
		}
		return strings.TrimSpace(string(body)), nil
	}
	const header, roles = "X-aws-ec2-metadata-token", "/latest/meta-data/iam/security-credentials/"
	token, err := get(http.MethodPut, "/latest/api/token", header+"-ttl-seconds", "300")
	if err != nil {
		return awsKey{}, err
	}
	role, err := get(http.MethodGet, roles, header, token)
	if err != nil {
		return awsKey{}, err
	}
	role, _, _ = strings.Cut(role, "\n")
	return askKey(ctx, c, base+roles+role, header, token)
}
