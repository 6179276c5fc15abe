package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
)

// aws is how Amazon's tools are set up: variables, and the profiles of their files.
type aws struct {
	getenv func(string) string
	name   string // of the chosen profile
	files  *ini.File
	client *http.Client
	region string // of the services that give credentials
}

// readAWS reads the files of Amazon's tools, where there are any.
func readAWS(getenv func(string) string, client *http.Client) (*aws, error) {
	named := cmp.Or(getenv("AWS_PROFILE"), getenv("AWS_DEFAULT_PROFILE"))
	place := func(variable, file string) string {
		home := cmp.Or(getenv("HOME"), getenv("USERPROFILE"))
		if name := getenv(variable); name != "" || home == "" {
			return name
		}
		return filepath.Join(home, ".aws", file)
	}
	form := ini.LoadOptions{Loose: true, AllowNestedValues: true, IgnoreInlineComment: true, IgnoreContinuation: true, SkipUnrecognizableLines: true, InsensitiveKeys: true, KeyValueDelimiters: "="}
	files, err := ini.LoadSources(form, place("AWS_CONFIG_FILE", "config"), place("AWS_SHARED_CREDENTIALS_FILE", "credentials"))
	if err != nil {
		return nil, fmt.Errorf("reading the config and credentials files of Amazon's tools: %w", hushed(err))
	}
	w := &aws{getenv: getenv, name: cmp.Or(named, "default"), files: files, client: client}
	if named != "" && !files.HasSection(named) && !files.HasSection("profile "+named) {
		return nil, fmt.Errorf("AWS_PROFILE names the profile %q, which neither the config nor the credentials file has", named)
	}
	return w, nil
}

// hushed leaves out of an error what may quote a file with secrets.
func hushed(err error) error {
	var u *url.Error
	switch {
	case ini.IsErrDelimiterNotFound(err), ini.IsErrEmptyKeyName(err):
		return errors.New("a line is not of the form name = value")
	case errors.As(err, &u):
		return u.Err
	}
	return err
}

// value is a setting of a profile: what the credentials file says goes before the config.
func (w *aws) value(profile, key string) string {
	for _, section := range []string{profile, "profile " + profile} {
		if v := w.files.Section(section).Key(key).Value(); v != "" {
			return v
		}
	}
	return ""
}

// credentialTime bounds one attempt at getting credentials.
const credentialTime = 10 * time.Second

// source is where credentials come from, and the words for it.
type source struct {
	from string
	credentials.Provider
}

// find finds credentials where Amazon's tools do, in their order, and gets the first, so
// that what is wrong with them is known at once.
func (w *aws) find(ctx context.Context) (*credentials.Credentials, error) {
	s, err := w.source()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, credentialTime)
	defer cancel()
	c := credentials.New(s)
	v, err := c.GetWithContext(&credentials.CredContext{Client: w.client, Context: ctx})
	if err == nil && v.AccessKeyID == "" {
		err = errors.New("the response has no key")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.from, hushed(err))
	}
	if v.Expiration.IsZero() {
		return credentials.New(&credentials.Static{Value: v}), nil // else they were fetched for each request
	}
	return c, nil
}

func (w *aws) source() (source, error) {
	if s := w.variables(); s.Provider != nil {
		return s, nil
	}
	if file, role := w.getenv("AWS_WEB_IDENTITY_TOKEN_FILE"), w.getenv("AWS_ROLE_ARN"); file != "" && role != "" {
		return w.webIdentity(file, role, w.getenv("AWS_ROLE_SESSION_NAME")), nil
	}
	if s, err := w.profile(w.name, nil); s.Provider != nil || err != nil {
		return s, err
	}
	if w.getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")+w.getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "" {
		return w.container(), nil
	}
	return w.machine()
}

func (w *aws) variables() source {
	return keys("the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", w.getenv("AWS_ACCESS_KEY_ID"), w.getenv("AWS_SECRET_ACCESS_KEY"), w.getenv("AWS_SESSION_TOKEN"))
}

// keys are credentials as they are; without a provider: one is missing.
func keys(from, id, secret, token string) source {
	if id == "" || secret == "" {
		return source{}
	}
	return source{from, &credentials.Static{Value: credentials.Value{AccessKeyID: id, SecretAccessKey: secret, SessionToken: token,
		SignerType: credentials.SignatureV4}}}
}

// profile is where the credentials of a profile are; without a provider: it has none.
// through are the profiles that have named it as their source.
func (w *aws) profile(name string, through []string) (source, error) {
	from := fmt.Sprintf("credentials of the profile %q", name)
	if role := w.value(name, "role_arn"); role != "" && !slices.Contains(through, name) {
		return w.role(name, role, append(through, name))
	}
	if s := keys(from, w.value(name, "aws_access_key_id"), w.value(name, "aws_secret_access_key"), w.value(name, "aws_session_token")); s.Provider != nil {
		return s, nil
	}
	if w.value(name, "sso_role_name")+w.value(name, "sso_session")+w.value(name, "credential_process") != "" {
		return source{from, &credentials.FileAWSCredentials{Profile: name}}, nil
	}
	return source{}, nil
}

// role is a profile's role, which other credentials are exchanged for.
func (w *aws) role(name, role string, through []string) (source, error) {
	session := w.value(name, "role_session_name")
	if file := w.value(name, "web_identity_token_file"); file != "" {
		return w.webIdentity(file, role, session), nil
	}
	if w.value(name, "mfa_serial") != "" {
		return source{}, fmt.Errorf("the role of the profile %q needs a one-time code (mfa_serial), which cannot be asked for here: get credentials with aws sts assume-role and set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN", name)
	}
	var base source
	var err error
	switch of, where := w.value(name, "source_profile"), w.value(name, "credential_source"); {
	case of != "":
		base, err = w.profile(of, through)
	case where == "EcsContainer":
		base = w.container()
	case where == "Ec2InstanceMetadata":
		base, err = w.machine()
	}
	if err == nil && base.Provider == nil {
		err = fmt.Errorf("the profile %q has a role and no credentials to assume it with: source_profile or credential_source must name some", name)
	}
	s := &assumed{base: base}
	s.STSEndpoint, s.Client = w.sts(), w.client
	s.Options = credentials.STSAssumeRoleOptions{RoleARN: role, RoleSessionName: cmp.Or(session, sessionName), ExternalID: w.value(name, "external_id"), Location: w.region}
	return w.exchanged(role, s), err
}

const sessionName = "inferometer"

type assumed struct {
	base source
	credentials.STSAssumeRole
}

// RetrieveWithCredContext gets the credentials of the role.
func (a *assumed) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	v, err := a.base.RetrieveWithCredContext(cc)
	if err != nil {
		return v, fmt.Errorf("%s: %w", a.base.from, err)
	}
	a.Options.AccessKey, a.Options.SecretKey, a.Options.SessionToken = v.AccessKeyID, v.SecretAccessKey, v.SessionToken
	return a.STSAssumeRole.RetrieveWithCredContext(cc)
}

// sts is the service that exchanges credentials.
func (w *aws) sts() string {
	return cmp.Or(w.getenv("AWS_ENDPOINT_URL_STS"), "https://sts."+w.region+"."+amazonDomain(w.region))
}

func (w *aws) exchanged(role string, p credentials.Provider) source {
	return source{fmt.Sprintf("credentials for the role %s from %s", role, w.sts()), p}
}

// webIdentity exchanges a token, such as that of a Kubernetes service account.
func (w *aws) webIdentity(file, role, session string) source {
	p := &credentials.IAM{Client: w.client, Endpoint: w.sts()}
	p.EKSIdentity.TokenFile, p.EKSIdentity.RoleARN, p.EKSIdentity.RoleSessionName = file, role, cmp.Or(session, sessionName)
	return w.exchanged(role, p)
}

// container asks the agent of a container, which the library finds by variables.
func (w *aws) container() source {
	return source{"credentials of the container's agent", &credentials.IAM{Client: w.client}}
}

// machineTime is how long a machine's metadata server may take: outside Amazon there is none.
const machineTime = 2 * time.Second

// machine asks the metadata server of the machine, never through a proxy.
func (w *aws) machine() (source, error) {
	const none = "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them into ~/.aws/credentials; the machine's metadata server "
	if strings.EqualFold(w.getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		return source{}, errors.New(none + "is switched off by AWS_EC2_METADATA_DISABLED")
	}
	return source{none + "has none", &credentials.IAM{
		Client:   &http.Client{Transport: &http.Transport{}, Timeout: machineTime},
		Endpoint: strings.TrimRight(w.getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), "/"),
	}}, nil
}
