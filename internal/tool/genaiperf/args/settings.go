package args

import (
	"fmt"
	"slices"
)

// builder works out what a command line means.
type builder struct {
	*values
	a        *Action
	analyzer func(args []string) (*Passed, error)
	sweeping bool // the load of this run is one of a sweep
	passed   passing
}

func (b *builder) warn(format string, args ...any) {
	b.a.Notes = append(b.a.Notes, fmt.Sprintf(format, args...))
}

// settings fills in everything from the flags and the release's defaults.
func (b *builder) settings() {
	s := &b.a.Settings
	for _, u := range b.unset {
		b.warn("%s %s is as if it were not given, as in the original", u.as, u.text[0])
	}
	s.Faithful = b.given("faithful")
	for _, u := range b.used["verbose"] {
		if u.as == "perf_analyzer.verbose" { // of a config file
			s.AnalyzerVerbose = true
		} else {
			s.Verbose = true
		}
	}
	s.Streaming = b.given("streaming")
	u, ok := b.last("model")
	s.Models = u.text
	b.faultIf(!ok || slices.Contains(u.text, ""), "-m", "the model is missing", "give its name: -m NAME")
	s.PickRandom = b.text("model-selection", "") == "random"
	s.URL = b.text("url", "")
	b.endpoint()
	b.load()
	b.input()
	b.tokenizer()
	b.extras()
	b.sessions()
	b.passThrough()
	b.files()
}

// tokenizer settles what makes and counts tokens.
func (b *builder) tokenizer() {
	s := &b.a.Settings
	s.Tokenizer, s.TokenizerGiven = b.text("tokenizer", ""), b.given("tokenizer")
	s.TokenizerRevision = b.text("tokenizer-revision", "")
	switch {
	case s.TokenizerGiven:
	case s.Release == ReleaseLast && !b.middle() && len(s.Models) > 0:
		s.Tokenizer = s.Models[0]
	default:
		s.Tokenizer = "hf-internal-testing/llama-tokenizer"
	}
	if s.TrustRemoteCode = b.given("trust-remote-code"); s.TrustRemoteCode {
		b.warn("--tokenizer-trust-remote-code has no effect: no code is fetched or run")
	}
}
