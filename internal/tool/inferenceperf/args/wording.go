package args

import (
	"io"
	"strings"
)

// Wording gives a message that was made for any front end the names that the config has:
// below this package, settings are called by their flags and paths of the native command.
func Wording(message string) string { return configNames.Replace(message) }

// configNames holds what a message says and what it says to users of this config. Of
// phrases that begin alike the longer one stands first.
var configNames = strings.NewReplacer(
	"say where its API key is with --api-key-env or --api-key-file", "give its API key in server.api_key",
	"--ca names certificates to trust, --insecure trusts any", "server.ca_path names certificates to trust, server.insecure trusts any",
	"--cert and --key name", "server.cert_path and server.key_path name",
	"target.tls.cert (--cert)", "server.cert_path",
	"target.tls.key (--key)", "server.key_path",
	"add --protocol triton", "this config has no words for it, `inferometer run --protocol triton` has",
	`endpoint "completions" takes`, "api.type completion takes",
	"use chat or messages", "set api.type to chat or anthropic_messages",
	"use protocol openai, or leave it out", "set api.type to chat, or leave it out",
	"set its format to png_frames", "set its representation to png_frames",
	"leave the protocol out or set it to triton", "give an http:// or https:// address",
	"http or https; grpc or grpcs for Triton", "http or https",
	"--tokenizer", "tokenizer.pretrained_model_name_or_path",
	"--model", "server.model_name",
	", as tokenizer.count_output has it", "; report.request_lifecycle.use_server_output_tokens takes the server's",
	"(data.dataset.path, or --input-file)", "(data.path)",
	"give path or hub.name", "give data.path",
	"widen input or output", "widen data.input_distribution or data.output_distribution",
	"give data.output a smaller max", "give output_tokens_per_turn a smaller max",
	"the arrivals of data.trace", "the arrivals of load.trace",
	"target.slo_headers makes it", "api.slo_ttft_header or api.slo_tpot_header makes it",
	"set probes.prometheus.project or GOOGLE_CLOUD_PROJECT", "set GOOGLE_CLOUD_PROJECT",
	"Give another seed, or --salt run", "Give another load.base_seed",
	"data.salt or more distinct prompts keep it out", "More distinct prompts keep it out",
	"Set data.ignore_eos or data.min_tokens, or ask for no length", "Set server.ignore_eos, or ask for shorter answers",
	"; output.on_full: stop would end it", "",
	", as output.on_full has it", "",
	": --warmup auto takes it out", ": let a stage of that length go before",
	"--proxy none (target.proxy) goes around it", "NO_PROXY goes around it",
	"raise max_in_flight", "raise load.num_workers or load.worker_max_concurrency",
	"Make the stage or its drain longer", "Make the stage or load.stage_teardown_grace_seconds longer",
	"the warm-up or the stage longer", "the stage longer",
)

// Worded is a writer of messages that gives them the names of the config. A message must
// be written in one piece.
func Worded(w io.Writer) io.Writer { return worded{w} }

type worded struct{ io.Writer }

// Write writes a message.
func (w worded) Write(message []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, Wording(string(message))); err != nil {
		return 0, err
	}
	return len(message), nil
}

// wordedError is an error that speaks of the config.
type wordedError struct {
	error
	message string
}

// Error is the message in the config's names.
func (e *wordedError) Error() string { return e.message }

// Unwrap gives the error as it was made.
func (e *wordedError) Unwrap() error { return e.error }
