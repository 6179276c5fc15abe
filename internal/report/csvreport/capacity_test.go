package csvreport_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/report/csvreport"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

func TestCapacity(t *testing.T) {
	var b strings.Builder
	if err := csvreport.Write(&b, &result.Result{Name: "n", Capacity: &capacity.Result{Unit: "requests/s", Outcome: capacity.Found, Value: 38.2, Lo: 36.9, Hi: 39.5}}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll() // which wants rows of one length
	if err != nil || len(rows) != 4 {
		t.Fatalf("%v, %v", rows, err)
	}
	for i, want := range []string{",,found,search,capacity,requests/s,,38.2", ",,found,search,capacity_lo,requests/s,,36.9", ",,found,search,capacity_hi,requests/s,,39.5"} {
		if got := strings.Join(rows[i+1][:8], ","); got != want || rows[i+1][len(rows[0])-1] != "n" {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
