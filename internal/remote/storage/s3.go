package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"inferometer/internal/plan"
)

// S3 is a bucket of Amazon S3 or of a server that speaks like it.
type S3 struct {
	bucket  string
	region  string
	base    url.URL
	virtual bool // the bucket stands in the host's name
	amazon  bool
	key     awsKey
	client  *http.Client
	now     func() time.Time
}

// NewS3 makes a store of a bucket. The region, the address and the credentials come from
// the variables and files that Amazon's own tools read, where the plan is silent.
func NewS3(ctx context.Context, p plan.S3, o Options) (*S3, error) {
	o = o.filled()
	w, err := readAWS(o.Getenv)
	if err != nil {
		return nil, err
	}
	s := &S3{bucket: p.Bucket, client: o.Client, now: time.Now}
	s.region = firstOf(p.Region, o.Getenv("AWS_REGION"), o.Getenv("AWS_DEFAULT_REGION"), w.profile["region"], "us-east-1")
	endpoint := firstOf(p.Endpoint, o.Getenv("AWS_ENDPOINT_URL_S3"), o.Getenv("AWS_ENDPOINT_URL"), w.profile["endpoint_url"])
	s.amazon = endpoint == ""
	if s.amazon {
		endpoint = amazonEndpoint(s.region)
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the address of the S3 server is no URL: %q", plan.SafeURL(endpoint))
	}
	s.base = url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}
	s.virtual = virtual(p.Addressing, p.Bucket, u.Hostname(), s.amazon || strings.HasSuffix(u.Hostname(), ".amazonaws.com") || strings.HasSuffix(u.Hostname(), ".amazonaws.com.cn"))
	s.key, err = w.find(ctx, s.region, o)
	return s, err
}

func amazonEndpoint(region string) string { return "https://s3." + region + "." + amazonDomain(region) }

// amazonDomain is where Amazon's services of a region are: those in China have their own.
func amazonDomain(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}

// virtual decides where the bucket stands. By itself it is in the host's name at Amazon,
// which will have it no other way, and in the path elsewhere, where names of hosts need
// not exist.
func virtual(style, bucket, host string, amazon bool) bool {
	switch style {
	case plan.AddressingVirtual:
		return true
	case plan.AddressingPath:
		return false
	}
	// A dot in the bucket's name does not fit the certificate.
	return amazon && !strings.Contains(bucket, ".") && net.ParseIP(host) == nil
}

// URL names a key.
func (s *S3) URL(key string) string { return "s3://" + s.bucket + "/" + key }

// request makes a request about a key.
func (s *S3) request(ctx context.Context, method, key string, body io.Reader) (*http.Request, error) {
	u := s.base
	p := u.Path + "/" + key
	if s.virtual {
		u.Host = s.bucket + "." + u.Host
	} else {
		p = u.Path + "/" + s.bucket + "/" + key
	}
	u.Path, u.RawPath = p, escape(p)
	return http.NewRequestWithContext(ctx, method, u.String(), body)
}

// emptySum is the hash of a request without a body.
var emptySum = hex.EncodeToString(sha256.New().Sum(nil))

// Put copies a file unless its key is taken.
func (s *S3) Put(ctx context.Context, key, file string) (existed bool, err error) {
	there, err := s.head(ctx, key)
	if there || err != nil {
		return there, err
	}
	f, size, err := open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return false, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	req, err := s.request(ctx, http.MethodPut, key, f)
	if err != nil {
		return false, err
	}
	if size == 0 {
		req.Body = http.NoBody
	}
	req.ContentLength = size
	req.Header.Set("Content-Type", contentType(key))
	s.key.sign(req, s.region, "s3", hex.EncodeToString(sum.Sum(nil)), s.now())
	resp, body, err := send(s.client, req)
	if err != nil {
		return false, err
	}
	if resp.StatusCode != http.StatusOK {
		return false, refused(resp.StatusCode, body)
	}
	return false, nil
}

// Check begins an upload in parts, which takes the same permission as Put, and breaks it
// off: nothing is stored. A server that knows no such uploads is believed to take files.
func (s *S3) Check(ctx context.Context, key string) error {
	if _, err := s.head(ctx, key); err != nil {
		return err
	}
	resp, body, err := s.parts(ctx, http.MethodPost, key, "uploads=")
	if err != nil {
		return err
	}
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotImplemented, http.StatusMethodNotAllowed:
		return nil
	default:
		return refused(resp.StatusCode, body)
	}
	var begun struct{ UploadId string }
	if err := xml.Unmarshal(body, &begun); err != nil || begun.UploadId == "" {
		return fmt.Errorf("the store begins an upload without naming it: %.100q", body)
	}
	_, _, err = s.parts(ctx, http.MethodDelete, key, url.Values{"uploadId": {begun.UploadId}}.Encode())
	return err
}

// parts sends a request about an upload in parts.
func (s *S3) parts(ctx context.Context, method, key, query string) (*http.Response, []byte, error) {
	req, err := s.request(ctx, method, key, nil)
	if err != nil {
		return nil, nil, err
	}
	req.URL.RawQuery = query
	s.key.sign(req, s.region, "s3", emptySum, s.now())
	return send(s.client, req)
}

// head reports whether a key is taken. A server that hides what is not there has
// refused, and is told to take the file.
func (s *S3) head(ctx context.Context, key string) (bool, error) {
	for moved := false; ; moved = true {
		req, err := s.request(ctx, http.MethodHead, key, nil)
		if err != nil {
			return false, err
		}
		s.key.sign(req, s.region, "s3", emptySum, s.now())
		resp, _, err := send(s.client, req)
		if err != nil {
			return false, err
		}
		if region := resp.Header.Get("X-Amz-Bucket-Region"); region != "" && region != s.region && !moved && resp.StatusCode/100 != 2 && resp.StatusCode != http.StatusNotFound {
			s.move(region)
			continue
		}
		switch {
		case resp.StatusCode == http.StatusOK:
			return true, nil
		case passing(resp.StatusCode):
			return false, refusal(resp.StatusCode, "")
		}
		return false, nil
	}
}

// move goes to the region in which the bucket is said to be.
func (s *S3) move(region string) {
	s.region = region
	if s.amazon {
		if u, err := url.Parse(amazonEndpoint(region)); err == nil {
			s.base.Host = u.Host
		}
	}
}

// refused reads why a server did not do as it was told.
func refused(status int, body []byte) error {
	var why struct{ Code, Message string }
	_ = xml.Unmarshal(body, &why) // without it the status has to do
	err := refusal(status, fmt.Sprintf("%s %.200s", why.Code, why.Message))
	switch why.Code {
	case "RequestTimeout", "SlowDown", "RequestTimeTooSkewed":
		return &TemporaryError{err}
	case "NoSuchBucket":
		return fmt.Errorf("%w: make the bucket first", err)
	}
	return err
}

func firstOf(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}
