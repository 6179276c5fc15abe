package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Limits bound what a run holds in memory, whatever a server sends or a file holds. 0 is
// no bound. What goes beyond one of them names it.
type Limits struct {
	Answer    Bytes   // an answer that is held in one piece
	Stream    Bytes   // of a stream, before it is folded as it comes
	Event     Bytes   // one event of a stream
	Header    Bytes   // the headers of an answer
	Raw       Bytes   // of an answer that is kept
	File      Bytes   // an input file, unpacked
	Record    Bytes   // a line of a record file
	Tokenizer Bytes   // each file of a tokenizer
	Expansion float64 // how many times longer a tokenizer's normalizer may make a text
	Template  Bytes   // what a chat template may write
	Steps     int64   // what it may do
	Download  Bytes   // a file from the hub
}

// Names of the limits in a plan, for those who go beyond one.
const (
	LimitAnswer    = "limits.response"
	LimitEvent     = "limits.event"
	LimitHeader    = "limits.header"
	LimitFile      = "limits.file"
	LimitRecord    = "limits.record"
	LimitTokenizer = "limits.tokenizer"
	LimitExpansion = "limits.expansion"
	LimitTemplate  = "limits.template"
	LimitSteps     = "limits.steps"
	LimitDownload  = "limits.download"
)

// DefaultLimits are those of a plan that names none.
func DefaultLimits() Limits {
	return Limits{
		Answer: 64 << 20, Stream: 8 << 20, Event: 16 << 20, Header: 256 << 10, Raw: 64 << 20,
		File: 1 << 30, Record: 128 << 20, Tokenizer: 256 << 20, Expansion: 1000,
		Template: 64 << 20, Steps: 1_000_000, Download: 64 << 30,
	}
}

var limitsSpec = sync.OnceValue(func() codec[Limits] {
	c := object(
		always("response", bytesSpec(), func(l *Limits) *Bytes { return &l.Answer }, "An answer that is buffered whole: not streamed, an error response, or a Triton stream. A longer one fails with class `too_large`."),
		always("stream", bytesSpec(), func(l *Limits) *Bytes { return &l.Stream }, "How much of a stream is kept; the rest is counted and timed, and its text is dropped. Does not apply to Triton streams: `limits.response` does."),
		always("event", bytesSpec(), func(l *Limits) *Bytes { return &l.Event }, "One event of a stream, comments included, or one message of a gRPC stream, uncompressed. A longer one fails with class `too_large`."),
		always("header", bytesSpec(), func(l *Limits) *Bytes { return &l.Header }, "The headers of an answer. Longer ones fail with class `too_large`."),
		always("raw", bytesSpec(), func(l *Limits) *Bytes { return &l.Raw }, "How much of an answer `output.keep_raw` keeps. The report says how many answers were cut."),
		always("file", bytesSpec(), func(l *Limits) *Bytes { return &l.File }, "An input file, unpacked."),
		always("record", bytesSpec(), func(l *Limits) *Bytes { return &l.Record }, "A line of a record file, when it is read back."),
		always("tokenizer", bytesSpec(), func(l *Limits) *Bytes { return &l.Tokenizer }, "Each file of a tokenizer."),
		always("expansion", unbounded(number()), func(l *Limits) *float64 { return &l.Expansion }, "How many times longer the normalizer of a tokenizer may make a text."),
		always("template", bytesSpec(), func(l *Limits) *Bytes { return &l.Template }, "Output of a chat template for one prompt."),
		always("steps", unbounded(integer[int64]()), func(l *Limits) *int64 { return &l.Steps }, "Statements that a chat template may execute for one prompt."),
		always("download", bytesSpec(), func(l *Limits) *Bytes { return &l.Download }, "A file downloaded from the Hugging Face hub."),
	)
	c.zero = func(l Limits) bool { return l == DefaultLimits() }
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

// Bytes is a number of bytes that a plan file writes as "64MiB".
type Bytes int64

// units of Bytes, largest first.
var units = []struct {
	name string
	size int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
}

// String is how a plan file writes it: in the largest unit that it is a whole number of.
func (b Bytes) String() string {
	for _, u := range units[:4] {
		if b != 0 && int64(b)%u.size == 0 {
			return strconv.FormatInt(int64(b)/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// ParseBytes reads "64MiB", "1.5 GB" or "4096".
func ParseBytes(text string) (Bytes, error) {
	number, size := strings.TrimSpace(text), int64(1)
	for _, u := range units {
		if n := len(number) - len(u.name); n > 0 && strings.EqualFold(number[n:], u.name) {
			number, size = strings.TrimSpace(number[:n]), u.size
			break
		}
	}
	f, err := strconv.ParseFloat(number, 64)
	if v := f * float64(size); err == nil && v >= 0 && v < math.MaxInt64 {
		return Bytes(v), nil
	}
	return 0, fmt.Errorf("must be a number of bytes such as 64MiB, is %s", quote(text))
}

func bytesSpec() codec[Bytes] {
	sch := schema{"anyOf": []any{schema{"type": "integer", "minimum": 0}, schema{"type": "string", "pattern": `^[0-9.]+ ?([kKMGT]i?)?[bB]?$`}}}
	return unbounded(scalar("bytes", sch, func(b Bytes) any { return b.String() },
		func(n *yaml.Node) (Bytes, error) { return ParseBytes(n.Value) }))
}
