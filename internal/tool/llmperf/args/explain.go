package args

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"

	"inferometer/internal/plan"
)

// flagOf is the flag that a field of the plan comes from; empty: none in particular.
func flagOf(path string) string {
	for _, f := range []struct{ path, flag string }{
		{"data.", "--input-data"}, {"stages", "--concurrency"}, {"tokenizer", "--tokenizer-path"},
		{"target.urls", "--uri"}, {"target.model", "--triton-model"}, {"output.dir", "--out"},
	} {
		if strings.HasPrefix(path, f.path) {
			return f.flag
		}
	}
	return ""
}

// Explain says an error in the words of this command line: faults name the flag in the
// place of the plan's field, and a certificate that is not trusted what to do about it.
func Explain(err error, target *plan.Target) error {
	var faults plan.Faults
	if errors.As(err, &faults) {
		for i := range faults {
			if flag := flagOf(faults[i].Path); flag != "" && faults[i].Where == "" {
				faults[i].Where, faults[i].Path = flag, ""
			}
		}
		return faults
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return fmt.Errorf("the certificate of %s is not trusted: %w (SSL_CERT_FILE in the environment names certificates to trust)", plan.SafeURL(target.URLs[0]), certificate.Err)
	}
	return err
}
