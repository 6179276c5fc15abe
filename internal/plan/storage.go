package plan

import "github.com/inferometer/inferometer/internal/message"

// How an S3 server is addressed.
const (
	AddressingAuto    = "auto"
	AddressingVirtual = "virtual"
	AddressingPath    = "path"
)

// S3 is a bucket that reports are copied to. Credentials are those of the environment.
type S3 struct {
	Bucket     string
	Path       string // in the bucket
	Prefix     string // of the reports' names
	Endpoint   string // empty: Amazon's
	Region     string
	Addressing string // "auto" (also when empty), "virtual" or "path"
}

// GCS is a bucket of Google Cloud Storage that reports are copied to.
type GCS struct {
	Bucket string
	Path   string
	Prefix string
}

func s3Spec() codec[S3] {
	return object(
		fieldOf("bucket", text(), func(s *S3) *string { return &s.Bucket }, "Name of the bucket, which must exist."),
		fieldOf("path", text(), func(s *S3) *string { return &s.Path }, "Path in the bucket."),
		fieldOf("prefix", text(), func(s *S3) *string { return &s.Prefix }, "Prefix of the file names."),
		fieldOf("endpoint", text(), func(s *S3) *string { return &s.Endpoint }, "URL of the server; left out: Amazon's."),
		fieldOf("region", text(), func(s *S3) *string { return &s.Region }, "Region of the bucket."),
		fieldOf("addressing", word(AddressingAuto, AddressingVirtual, AddressingPath), func(s *S3) *string { return &s.Addressing },
			"Whether the bucket name goes into the host name or the path. Left out: `auto`."),
	)
}

func gcsSpec() codec[GCS] {
	return object(
		fieldOf("bucket", text(), func(s *GCS) *string { return &s.Bucket }, "Name of the bucket, which must exist."),
		fieldOf("path", text(), func(s *GCS) *string { return &s.Path }, "Path in the bucket."),
		fieldOf("prefix", text(), func(s *GCS) *string { return &s.Prefix }, "Prefix of the file names."),
	)
}

func (c *checker) storage(o *Output) {
	if o.S3 != (S3{}) {
		if o.S3.Bucket == "" {
			c.add("output.s3.bucket", "is missing", "")
		}
		if o.S3.Endpoint != "" {
			c.url("output.s3.endpoint", o.S3.Endpoint)
		}
	}
	if o.GCS != (GCS{}) && o.GCS.Bucket == "" {
		c.add("output.gcs.bucket", "is missing", "")
	}
	if o.Dir == "" && (o.S3 != S3{} || o.GCS != GCS{}) {
		c.lacks("output", "output", "there is nothing to copy without a directory", "give %v", message.OutputDir)
	}
}
