package planfile

import (
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

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
