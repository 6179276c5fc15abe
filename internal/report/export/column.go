package export

import (
	"math"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// ColumnType is the type of a column.
type ColumnType uint8

// The kinds of columns.
const (
	Whole  ColumnType = iota // integers
	Number                   // fractions
	Text
	Flag   // true or false
	Moment // points in time, UTC
)

// Column is a column of a table.
type Column struct {
	Name string
	Kind ColumnType
	Help string
	// repeats: few different texts are to be expected in it.
	repeats bool
	of      func(*view) Cell
}

// Cell is a value of a table; the zero Cell is none.
type Cell struct {
	set  bool
	n    int64 // an integer; of a time, microseconds since 1970; of a flag, 1 or 0
	f    float64
	text string
}

func integer(n int64) Cell { return Cell{set: true, n: n} }

func fraction(f float64) Cell { return Cell{set: !math.IsNaN(f) && !math.IsInf(f, 0), f: f} }

func words(s string) Cell { return Cell{set: s != "", text: strings.ToValidUTF8(s, "\uFFFD")} }

func yesNo(on bool) Cell {
	if on {
		return integer(1)
	}
	return integer(0)
}

// seconds is a time of the run in seconds, where it was reached.
func seconds(t time.Duration) Cell {
	if t == record.Never {
		return Cell{}
	}
	return fraction(float64(t) / float64(time.Second))
}

func millis(d time.Duration) Cell { return fraction(float64(d) / float64(time.Millisecond)) }

func where(ok bool, c Cell) Cell {
	c.set = c.set && ok
	return c
}
