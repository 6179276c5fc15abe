package plan

import (
	"crypto/tls"
	"errors"
	"fmt"
)

// Explain says an error in the words of a command line: faults name the flag in the place
// of the plan's field, where flagOf knows one, and a certificate that is not trusted what to
// do about it, which is the hint. A nil target is one that is not known yet.
func Explain(err error, target *Target, flagOf func(path string) string, hint string) error {
	var faults Faults
	if errors.As(err, &faults) {
		for i := range faults {
			if flag := flagOf(faults[i].Path); flag != "" && faults[i].Where == "" {
				faults[i].Where, faults[i].Path = flag, ""
			}
		}
		return faults
	}
	var certificate *tls.CertificateVerificationError
	if target == nil || !errors.As(err, &certificate) {
		return err
	}
	return fmt.Errorf("the certificate of %s is not trusted: %w (%s)", SafeURL(target.URLs[0]), certificate.Err, hint)
}
