package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLinesOfTheGuide(t *testing.T) {
	var b strings.Builder
	for _, err := range []error{
		WriteAverage(&b, Prefill(), 0.3065654714375), WriteAverage(&b, Generation(), 0.003090155677419355),
		WriteNone(&b, Generation(), "no response had a second token"), WriteLength(&b, 4096),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := "Average first-token latency: 0.3065654714375 s\nAverage token-to-token latency: 0.003090155677419355 s\n" +
		"Average token-to-token latency: none, no response had a second token\nPrompts of 4,096 tokens\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	err := WriteTable(&b, Prefill(), []Row{
		{Requested: 16, Input: 16, Output: 1, Requests: 10, Samples: 10, Avg: 5.9, P50: 5.87, P90: 6, P99: 6.05, Thin: []string{"p90", "p99"}},
		{Requested: 4096, Input: 4095.5, Output: 1, Requests: 9, Failed: 1, Samples: 9, Avg: 165.2, P50: 166.6, P90: 168.7, P99: 169.5, AtLeast: []string{"avg", "p99"}},
		{Requested: 8192, Failed: 10},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `First-token latency by prompt length, in ms; lengths in tokens

   prompt  counted  response  requests  failed      avg    p50    p90      p99
       16       16         1        10       0     5.90   5.87  ~6.00    ~6.05
    4,096   4095.5         1         9       1  ≥ 165.2  166.6  168.7  ≥ 169.5
    8,192        –         –         0      10        –      –      –        –
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
