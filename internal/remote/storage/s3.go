package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/signer"

	"github.com/inferometer/inferometer/internal/plan"
)

// S3 is a bucket of Amazon S3 or of a server that speaks like it.
type S3 struct {
	bucket  string
	base    url.URL
	amazon  bool // the address follows the region
	options minio.Options
	core    *minio.Core
	part    uint64
}

const (
	// s3Tries is how often a request is sent that fails for a reason that may pass.
	s3Tries = 10
	// partSize is that of the parts in which larger files are stored.
	partSize = 64 << 20
)

// NewS3 makes a store of a bucket. The region, the address and the credentials come from
// the variables and files that Amazon's own tools read, where the plan is silent.
func NewS3(ctx context.Context, p plan.S3, o Options) (*S3, error) {
	o = o.filled()
	w, err := readAWS(o.Getenv, o.Client)
	if err != nil {
		return nil, err
	}
	w.region = cmp.Or(p.Region, o.Getenv("AWS_REGION"), o.Getenv("AWS_DEFAULT_REGION"), w.value(w.name, "region"), "us-east-1")
	endpoint := cmp.Or(p.Endpoint, o.Getenv("AWS_ENDPOINT_URL_S3"), o.Getenv("AWS_ENDPOINT_URL"), w.value(w.name, "endpoint_url"))
	s := &S3{bucket: p.Bucket, amazon: endpoint == "", part: partSize}
	u, err := url.Parse(cmp.Or(endpoint, amazonEndpoint(w.region)))
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("the address of the S3 server is not a URL: %q", plan.SafeURL(endpoint))
	}
	s.base = url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}
	s.options = minio.Options{Secure: u.Scheme == "https", Transport: o.Client.Transport, BucketLookup: lookup(p, u.Hostname()), MaxRetries: s3Tries}
	if s.options.Creds, err = w.find(ctx); err != nil {
		return nil, err
	}
	return s, s.connect(w.region)
}

func (s *S3) connect(region string) (err error) {
	if s.amazon {
		s.base.Host = strings.TrimPrefix(amazonEndpoint(region), "https://")
	}
	s.options.Region = region
	o := s.options
	if s.base.Path != "" {
		o.Transport = below{path: s.base.Path, host: s.base.Host, region: region, key: o.Creds, next: cmp.Or(o.Transport, http.DefaultTransport)}
	}
	if s.core, err = minio.NewCore(s.base.Host, &o); err != nil {
		return fmt.Errorf("the address of the S3 server: %w", err)
	}
	s.core.SetS3EnableDualstack(false)
	return nil
}

func amazonEndpoint(region string) string { return "https://s3." + region + "." + amazonDomain(region) }

// amazonDomain is where Amazon's services of a region are: those in China have their own.
func amazonDomain(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}

// lookup decides where the bucket stands. By itself it is in the host's name at Amazon,
// which will have it no other way, and in the path elsewhere, where names of hosts need
// not exist. A dot in the bucket's name does not fit the certificate.
func lookup(p plan.S3, host string) minio.BucketLookupType {
	amazon := strings.HasSuffix(host, ".amazonaws.com") || strings.HasSuffix(host, ".amazonaws.com.cn")
	if p.Addressing == plan.AddressingVirtual || p.Addressing != plan.AddressingPath && amazon && !strings.Contains(p.Bucket, ".") && net.ParseIP(host) == nil {
		return minio.BucketLookupDNS
	}
	return minio.BucketLookupPath
}

// below serves a store that is not at the root of its server, which the library cannot
// address: it puts the path in front and signs again.
type below struct {
	path, host, region string
	key                *credentials.Credentials
	next               http.RoundTripper
}

func (b below) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Host, b.host) { // another service
		return b.next.RoundTrip(req)
	}
	v, err := b.key.GetWithContext(nil)
	if err != nil {
		return nil, err
	}
	r := req.Clone(req.Context())
	prefix := url.URL{Path: b.path}
	r.URL.Path, r.URL.RawPath = b.path+req.URL.Path, prefix.EscapedPath()+req.URL.EscapedPath()
	return b.next.RoundTrip(signer.SignV4(*r, v.AccessKeyID, v.SecretAccessKey, v.SessionToken, b.region))
}

// URL names a key.
func (s *S3) URL(key string) string { return "s3://" + s.bucket + "/" + key }

// Put copies a file unless its key is taken. Larger files go in parts, if the store can.
func (s *S3) Put(ctx context.Context, key, file string) (existed bool, err error) {
	there, err := s.there(ctx, key)
	if there || err != nil {
		return there, err
	}
	f, size, err := open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	o := minio.PutObjectOptions{ContentType: contentType(key), PartSize: s.part, DisableContentSha256: s.base.Path != ""}
	_, err = s.core.Client.PutObject(ctx, s.bucket, key, f, size, o)
	if partless(err) && size > int64(s.part) {
		o.DisableMultipart = true
		_, err = s.core.Client.PutObject(ctx, s.bucket, key, io.NewSectionReader(f, 0, size), size, o)
	}
	return false, refused(err)
}

// partless reports whether a store does not know uploads in parts.
func partless(err error) bool {
	status := minio.ToErrorResponse(err).StatusCode
	return status == http.StatusNotImplemented || status == http.StatusMethodNotAllowed
}

// Check begins an upload in parts, which takes the same permission as Put, and breaks it
// off: nothing is stored. A server that knows no such uploads is believed to take files.
func (s *S3) Check(ctx context.Context, key string) error {
	if _, err := s.there(ctx, key); err != nil {
		return err
	}
	id, err := s.core.NewMultipartUpload(ctx, s.bucket, key, minio.PutObjectOptions{})
	switch {
	case partless(err):
		return nil
	case errors.Is(err, io.EOF) || err == nil && id == "":
		return errors.New("the store begins an upload without naming it")
	case err != nil:
		return refused(err)
	}
	if err := s.core.AbortMultipartUpload(ctx, s.bucket, key, id); minio.ToErrorResponse(err).StatusCode == 0 {
		return refused(err)
	}
	return nil // what it refuses here it may not let anyone break off
}

// there reports whether a key is taken. A refusal may hide what is not there: the file is sent.
func (s *S3) there(ctx context.Context, key string) (bool, error) {
	for moved := false; ; moved = true {
		_, err := s.core.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
		why := minio.ToErrorResponse(err)
		switch {
		case err == nil || why.Code == minio.InternalError && why.StatusCode == 0: // there, and badly described
			return true, nil
		case why.StatusCode == 0 || passing(why.StatusCode):
			return false, refused(err)
		case why.Region == "" || why.Region == s.options.Region || moved || why.StatusCode == http.StatusNotFound:
			return false, nil
		}
		if err := s.connect(why.Region); err != nil { // where the bucket is said to be
			return false, err
		}
	}
}

// refused says why a store did not do as it was told.
func refused(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	var why minio.ErrorResponse
	if !errors.As(err, &why) {
		return err
	}
	err = fmt.Errorf("the store answers with HTTP status %d %s %.200s", why.StatusCode, why.Code, why.Message)
	if why.Code == minio.NoSuchBucket {
		return fmt.Errorf("%w: create the bucket first", err)
	}
	return err
}
