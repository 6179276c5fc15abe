package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/truncate"
)

// Limits bound what a run holds in memory, whatever a server sends or a file holds. 0 is
// no bound. What goes beyond one of them names it.
type Limits struct {
	Answer    Bytes
	Stream    Bytes
	Event     Bytes
	Header    Bytes
	Raw       Bytes
	File      Bytes
	Record    Bytes
	Tokenizer Bytes
	Expansion float64
	Template  Bytes
	Steps     int64
	Download  Bytes
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

// String is how a plan file writes it: in the largest unit that it is an integer of.
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
	return 0, fmt.Errorf("must be a number of bytes such as 64MiB, is %s", truncate.Quote(text))
}
