package args

import (
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

// Names are those of this command line.
func Names(*plan.Plan) message.Names { return message.Names{Of: message.Table(names())} }

// names are what parts of a plan are called; an empty name: there is no such flag.
func names() [][2]string {
	return [][2]string{
		{"target.urls", "--uri"}, {"target.model", "--triton-model"}, {"target.streaming", "--no-streaming"}, {"target.timeouts", "--timeout"},
		{"target.tls.ca", "SSL_CERT_FILE in the environment"}, {"target", ""},
		{"data.output", "--output-len"}, {"data.ignore_eos", ""}, {"data.min_tokens", ""}, {"data.output_cap", ""}, {"data.salt", ""}, {"data", "--input-data"},
		{"tokenizer.count_output", ""}, {"tokenizer", "--tokenizer-path"},
		{"stages.warmup", ""}, {"stages.max_in_flight", ""}, {"stages", "--concurrency"}, {"output.dir", "--out"},
		{"seed", ""}, {"drain", ""}, {"max_errors", ""}, {"levels", ""}, {"measurement", ""}, {"limits", ""}, {"probes", ""},
		{"remedy.stream", "the default, --streaming"}, {"remedy", ""},
	}
}
