package export

import (
	"bytes"
	"encoding/csv"
	"slices"
	"testing"

	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// The response of a search is in every row, and what it does not have is empty.
func TestCapacity(t *testing.T) {
	names := []string{"capacity", "capacity_lo", "capacity_hi", "capacity_unit", "capacity_outcome"}
	for _, c := range []struct {
		of   *result.Result
		want []string
	}{
		{nil, []string{"", "", "", "", ""}},
		{&result.Result{}, []string{"", "", "", "", ""}},
		{&result.Result{Capacity: &capacity.Result{Unit: "requests/s", Outcome: capacity.Found, Value: 38.2, Lo: 36.9, Hi: 39.5}}, []string{"38.2", "36.9", "39.5", "requests/s", "found"}},
		{&result.Result{Capacity: &capacity.Result{Unit: "requests/s", Outcome: capacity.Always, Value: 8, Lo: 8}}, []string{"8", "8", "", "requests/s", "met at every load"}},
		{&result.Result{Capacity: &capacity.Result{Unit: "requests in flight", Outcome: capacity.Never, Hi: 1}}, []string{"", "", "1", "requests in flight", "missed at every load"}},
	} {
		r := everyKind(t)
		r.Result = c.of
		rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(write(t, CSV, r), []byte("\ufeff")))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows[1:] {
			var got []string
			for _, name := range names {
				got = append(got, row[slices.Index(rows[0], name)])
			}
			if !slices.Equal(got, c.want) {
				t.Fatalf("%q, want %q", got, c.want)
			}
		}
	}
}
