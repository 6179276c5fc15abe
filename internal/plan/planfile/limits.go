package planfile

import (
	"fmt"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/plan"
)

var limitsSpec = sync.OnceValue(func() codec[plan.Limits] {
	c := object(
		always("response", bytesSpec(), func(l *plan.Limits) *plan.Bytes { return &l.Answer }, "An answer that is buffered whole: not streamed, an error response, or a Triton stream. A longer one fails with class `too_large`."),
		always("stream", bytesSpec(), func(l *plan.Limits) *plan.Bytes { return &l.Stream }, "How much of a stream is kept; the rest is counted and timed, and its text is dropped. Does not apply to Triton streams: `limits.response` does."),
		always("event", bytesSpec(), func(l *plan.Limits) *plan.Bytes { return &l.Event }, "One event of a stream, comments included, or one message of a gRPC stream, uncompressed. A longer one fails with class `too_large`."),
		always("header", bytesSpec(), func(l *plan.Limits) *plan.Bytes { return &l.Header }, "The headers of an answer. Longer ones fail with class `too_large`."),
		always("raw", bytesSpec(), func(l *plan.Limits) *plan.Bytes { return &l.Raw }, "How much of an answer `output.keep_raw` keeps. The report says how many answers were cut."),
		always("file", bytesSpec(), func(l *plan.Limits) *plan.Bytes { return &l.File }, "An input file, unpacked."),
		always("record", bytesSpec(), func(l *plan.Limits) *plan.Bytes { return &l.Record }, "A line of a record file, when it is read back."),
		always("tokenizer", bytesSpec(), func(l *plan.Limits) *plan.Bytes { return &l.Tokenizer }, "Each file of a tokenizer."),
		always("expansion", unbounded(number()), func(l *plan.Limits) *float64 { return &l.Expansion }, "How many times longer the normalizer of a tokenizer may make a text."),
		always("template", bytesSpec(), func(l *plan.Limits) *plan.Bytes { return &l.Template }, "Output of a chat template for one prompt."),
		always("steps", unbounded(integer[int64]()), func(l *plan.Limits) *int64 { return &l.Steps }, "Statements that a chat template may execute for one prompt."),
		always("download", bytesSpec(), func(l *plan.Limits) *plan.Bytes { return &l.Download }, "A file downloaded from the Hugging Face hub."),
	)
	c.zero = func(l plan.Limits) bool { return l == plan.DefaultLimits() }
	return c
})

// unbounded is a limit, which is none where it is 0.
func unbounded[V ~int64 | float64](of codec[V]) codec[V] {
	of.check = func(c *checker, path string, v *V) {
		if *v < 0 {
			c.add(path, fmt.Sprintf("must not be negative, is %v", *v), "0: no limit")
		}
	}
	return of
}

func bytesSpec() codec[plan.Bytes] {
	sch := schema{"anyOf": []any{schema{"type": "integer", "minimum": 0}, schema{"type": "string", "pattern": `^[0-9.]+ ?([kKMGT]i?)?[bB]?$`}}}
	return unbounded(scalar("bytes", sch, func(b plan.Bytes) any { return b.String() },
		func(n *yaml.Node) (plan.Bytes, error) { return plan.ParseBytes(n.Value) }))
}
