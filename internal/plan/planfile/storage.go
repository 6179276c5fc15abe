package planfile

import (
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

func s3Spec() codec[plan.S3] {
	return object(
		fieldOf("bucket", text(), func(s *plan.S3) *string { return &s.Bucket }, "Name of the bucket, which must exist."),
		fieldOf("path", text(), func(s *plan.S3) *string { return &s.Path }, "Path in the bucket."),
		fieldOf("prefix", text(), func(s *plan.S3) *string { return &s.Prefix }, "Prefix of the file names."),
		fieldOf("endpoint", text(), func(s *plan.S3) *string { return &s.Endpoint }, "URL of the server; left out: Amazon's."),
		fieldOf("region", text(), func(s *plan.S3) *string { return &s.Region }, "Region of the bucket."),
		fieldOf("addressing", word(plan.AddressingAuto, plan.AddressingVirtual, plan.AddressingPath), func(s *plan.S3) *string { return &s.Addressing },
			"Whether the bucket name goes into the host name or the path. Left out: `auto`."),
	)
}

func gcsSpec() codec[plan.GCS] {
	return object(
		fieldOf("bucket", text(), func(s *plan.GCS) *string { return &s.Bucket }, "Name of the bucket, which must exist."),
		fieldOf("path", text(), func(s *plan.GCS) *string { return &s.Path }, "Path in the bucket."),
		fieldOf("prefix", text(), func(s *plan.GCS) *string { return &s.Prefix }, "Prefix of the file names."),
	)
}

func (c *checker) storage(o *plan.Output) {
	if o.S3 != (plan.S3{}) {
		if o.S3.Bucket == "" {
			c.add("output.s3.bucket", "is missing", "")
		}
		if o.S3.Endpoint != "" {
			c.url("output.s3.endpoint", o.S3.Endpoint)
		}
	}
	if o.GCS != (plan.GCS{}) && o.GCS.Bucket == "" {
		c.add("output.gcs.bucket", "is missing", "")
	}
	if o.Dir == "" && (o.S3 != plan.S3{} || o.GCS != plan.GCS{}) {
		c.lacks("output", "output", "there is nothing to copy without a directory", "give %v", message.OutputDir)
	}
}
