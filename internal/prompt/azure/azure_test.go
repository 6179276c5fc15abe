package azure

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestParse(t *testing.T) {
	want := []Invocation{{0, 374, 44}, {153429 * time.Microsecond, 396, 109}, {time.Second, 879, 55}}
	for name, text := range map[string]string{
		"as published":  "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:46.8340190,396,109\n2023-11-16 18:15:47.6805900,879,55\n",
		"with zones":    "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2024-05-10 00:00:00.680590+00:00,374,44\r\n2024-05-10 00:00:00.834019+00:00,396,109\r\n2024-05-10 02:00:01.680590+02:00,879,55",
		"without head":  "2023-11-16T18:15:46.68059Z,374,44\n\n2023-11-16T18:15:46.834019Z, 396 ,109\n\"2023-11-16T18:15:47.68059Z\",879.0,55.0\n",
		"other columns": "\ufeffTIMESTAMP,ContextTokens,GeneratedTokens,Model\n2023-11-16 18:15:46.68059,374,44,a\n2023-11-16 18:15:46.834019,396,109,b\n2023-11-16 18:15:47.68059,879,55,c\n",
	} {
		got, err := Parse("trace.csv", "data.trace.lengths", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// differs: ip-trace-lines
func TestParseTellsOfEveryFault(t *testing.T) {
	_, err := Parse("trace.csv", "data.trace.lengths", []byte("T,C,G\n2023-11-16 18:15:46,1,2\nyesterday,1,2\n2023-11-16 18:15:46,x,2\n2023-11-16 18:15:46,0,2\n2023-11-16 18:15:46,1\n2023-11-16 18:15:46,1,-2\n"))
	var faults plan.Faults
	if !errors.As(err, &faults) || len(faults) != 5 {
		t.Fatalf("%v", err)
	}
	for i, want := range []string{`"yesterday" is not a timestamp`, `"x" is not a number of tokens`, "the prompt has no tokens", "has 2 columns", `"-2" is not a number`} {
		if f := faults[i]; !strings.Contains(f.Text, want) || f.Where != fmt.Sprintf("trace.csv:%d", i+3) {
			t.Errorf("%v, want %s in line %d", f, want, i+3)
		}
	}
	for _, text := range []string{"", "TIMESTAMP,ContextTokens,GeneratedTokens\n"} {
		if _, err := Parse("trace.csv", "data.trace.lengths", []byte(text)); err == nil || !strings.Contains(err.Error(), "has no requests") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Parse("t", "p", []byte(strings.Repeat("1,2\n", 1000))); !errors.As(err, &faults) || len(faults) != mostFaults {
		t.Errorf("%d faults of a file that is none", len(faults))
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n"))
	f.Add([]byte("2024-05-10 00:00:00.680590+00:00,374,44\n,,\n"))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		rows, err := Parse("trace.csv", "data.trace.lengths", data)
		if (err == nil) != (len(rows) > 0) {
			t.Errorf("%d rows and %v", len(rows), err)
		}
		for _, r := range rows {
			if r.Input < 1 || r.Output < 0 {
				t.Errorf("%+v", r)
			}
		}
	})
}
