package args

import (
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

// Explain says an error in the words of this command line.
func Explain(err error, target *plan.Target) error {
	return plan.Explain(err, target, flagOf, "SSL_CERT_FILE in the environment names certificates to trust")
}
