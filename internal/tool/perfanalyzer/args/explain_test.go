package args

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"testing"

	"inferometer/internal/plan"
)

func TestExplain(t *testing.T) {
	grpc := &plan.Target{Transport: plan.TransportGRPC, URLs: []string{"grpcs://user:secret@h:1"}}
	https := &plan.Target{Transport: plan.TransportHTTP, URLs: []string{"https://h:1"}}
	untrusted := fmt.Errorf("target 1: %w", &tls.CertificateVerificationError{Err: errors.New("signed by unknown authority")})
	fault := func(path, text string) error {
		return fmt.Errorf("preparing: %w", plan.Faults{{Path: path, Text: text}})
	}
	for _, c := range []struct {
		err    error
		target *plan.Target
		want   string
	}{
		{fault("data.tensors.batch", "is 9, and the model takes 8"), grpc, "-b: is 9, and the model takes 8"},
		{fault("stages[0].rate", "is 1e+09"), nil, "--request-rate-range: is 1e+09"},
		{fault("data.tensors.shapes[1]", "is odd"), nil, "--shape: is odd"},
		{fault("limits.file", "is odd"), nil, "limits.file: is odd"},
		{untrusted, grpc, "the certificate of grpcs://h:1 is not trusted: signed by unknown authority (--ssl-grpc-root-certifications-file names"},
		{untrusted, https, "is not trusted: signed by unknown authority (--ssl-https-ca-certificates-file names certificates to trust, --ssl-https-verify-peer 0 trusts any)"},
		{errors.New("else"), grpc, "else"},
	} {
		if got := Explain(c.err, c.target).Error(); !strings.Contains(got, c.want) || strings.Contains(got, "secret") {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if Explain(nil, grpc) != nil {
		t.Error("nothing is wrong, and yet an error")
	}
}
