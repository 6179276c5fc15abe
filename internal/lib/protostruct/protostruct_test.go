package protostruct_test

import (
	"testing"

	"github.com/inferometer/inferometer/internal/lib/protostruct"
)

func TestAppend(t *testing.T) {
	type inner struct {
		Text string `pb:"1"`
	}
	type outer struct {
		Text     string    `pb:"1"`
		Left     string    // no field of the message
		Count    uint64    `pb:"2"`
		Fixed    int64     `pb:"3,fixed"`
		Signed   int       `pb:"4,zigzag"`
		ID       string    `pb:"5,hex"`
		On       bool      `pb:"6"`
		Share    float64   `pb:"7,always"`
		Optional *int64    `pb:"8"`
		One      *inner    `pb:"9"`
		Many     []inner   `pb:"10"`
		Packed   []uint64  `pb:"11,fixed"`
		Deltas   []int     `pb:"12,zigzag"`
		Shares   []float64 `pb:"13"`
	}
	zero := int64(0)
	for _, tt := range []struct {
		name    string
		message any
		want    string
	}{
		{"nothing", outer{}, "\x39\x00\x00\x00\x00\x00\x00\x00\x00"},
		{"all", &outer{
			Text: "a", Left: "b", Count: 300, Fixed: 1, Signed: -1, ID: "ff00", On: true, Share: 1, Optional: &zero, One: &inner{"c"},
			Many: []inner{{"d"}, {}}, Packed: []uint64{2}, Deltas: []int{1, -1}, Shares: []float64{2},
		}, "\x0a\x01a" + "\x10\xac\x02" + "\x19\x01\x00\x00\x00\x00\x00\x00\x00" + "\x20\x01" + "\x2a\x02\xff\x00" + "\x30\x01" +
			"\x39\x00\x00\x00\x00\x00\x00\xf0\x3f" + "\x40\x00" + "\x4a\x03\x0a\x01c" + "\x52\x03\x0a\x01d" + "\x52\x00" +
			"\x5a\x08\x02\x00\x00\x00\x00\x00\x00\x00" + "\x62\x02\x02\x01" + "\x6a\x08\x00\x00\x00\x00\x00\x00\x00\x40"},
		{"no hexadecimal", outer{ID: "x", Share: 1}, "\x39\x00\x00\x00\x00\x00\x00\xf0\x3f"},
	} {
		if got := string(protostruct.Append(nil, tt.message)); got != tt.want {
			t.Errorf("%s:\n%x, want\n%x", tt.name, got, tt.want)
		}
	}
}
