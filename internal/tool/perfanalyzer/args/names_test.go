package args

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

func TestNames(t *testing.T) {
	grpc := &plan.Plan{Target: plan.Target{Transport: plan.TransportGRPC}}
	https := &plan.Plan{Target: plan.Target{Transport: plan.TransportHTTP}}
	untrusted := fmt.Errorf("target 1: %w", message.Errorf("its certificate is not trusted: %w%v", errors.New("unknown authority"), message.Untrusted()))
	fault := func(path, text string) error {
		return fmt.Errorf("preparing: %w", plan.Faults{{Path: path, Text: text}})
	}
	for _, c := range []struct {
		err  error
		plan *plan.Plan
		want string
	}{
		{fault("data.tensors.batch", "is 9, and the model takes 8"), grpc, "-b: is 9, and the model takes 8"},
		{fault("stages[0].rate", "is 1e+09"), https, "--request-rate-range: is 1e+09"},
		{fault("data.tensors.shapes[1]", "is odd"), grpc, "--shape: is odd"},
		{fault("limits.file", "is odd"), https, "limits.file: is odd"},
		{untrusted, grpc, "target 1: its certificate is not trusted: unknown authority; --ssl-grpc-root-certifications-file names certificates to trust"},
		{untrusted, https, "; --ssl-https-ca-certificates-file names certificates to trust, --ssl-https-verify-peer 0 trusts any"},
		{errors.New("else"), grpc, "else"},
	} {
		if got := Names(c.plan).Error(c.err).Error(); !strings.HasSuffix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
