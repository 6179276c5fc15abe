package dialect

import (
	"testing"

	"github.com/inferometer/inferometer/internal/record"
)

// The early releases add up the tokens of chunks, each counted by itself; here the whole
// text is counted. A word that is cut in two shows it.
// differs: genai-early-output
func TestEarlyOutputTokens(t *testing.T) {
	rec := ns(0, []int{10, 20, 30}, "Ad", "idas is", " one")
	for _, tt := range []struct {
		release  Release
		faithful bool
		want     float64
	}{
		{Release2403, false, 3}, {Release2403, true, 4},
		{Release2404, false, 3}, {Release2404, true, 4},
		{Latest, false, 3}, {Latest, true, 3},
	} {
		for _, protocol := range []string{"openai", "triton"} {
			o := options(protocol)
			o.Release, o.Faithful = tt.release, tt.faithful
			s := add(o, rec).Summary()
			got, ok := s.Stat(OutputSequenceLength)
			if !ok || got.Avg != tt.want {
				t.Errorf("%v, %s, faithful %v: %v tokens, want %v", tt.release, protocol, tt.faithful, got.Avg, tt.want)
			}
		}
	}
}

// A tool call is output here, and nothing to the original.
func TestToolCallsAreOutput(t *testing.T) {
	call := ns(0, []int{10, 20, 30}, "yes", " look", " there")
	call.Events[1].Label, call.Events[2].Label = record.ToolCall, record.ToolCall
	for _, tt := range []struct {
		faithful bool
		want     float64
	}{{false, 3}, {true, 1}} {
		o := options("openai")
		o.Faithful = tt.faithful
		got, _ := add(o, call).Summary().Stat(OutputSequenceLength)
		if got.Avg != tt.want {
			t.Errorf("faithful %v: %v tokens, want %v", tt.faithful, got.Avg, tt.want)
		}
	}
}
