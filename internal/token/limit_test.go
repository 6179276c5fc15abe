package token

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/inferometer/inferometer/internal/token/regex"
)

// endless is a tokenizer whose expression takes for ever on endlessText: what is inside
// the look-ahead is tried in all ways.
const endless = `{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(?=(?:a|a|ab?)*c)a|b"},"behavior":"Isolated","invert":false},
	"model":{"type":"BPE","vocab":{"a":0,"b":1,"aa":2},"merges":["a a"]}}`

var endlessText = strings.Repeat("a", 60)

// within is a tokenizer.json with the expression in another place.
func endlessIn(t *testing.T, part, component string) *Pipeline {
	t.Helper()
	e, err := FromJSON("endless", fmt.Appendf(nil, `{%q:%s,"model":{"type":"BPE","vocab":{"a":0,"b":1,%q:2},"merges":[]}}`, part, component, endlessText))
	if err != nil {
		t.Fatal(err)
	}
	if e.Err() != nil {
		t.Fatalf("before any text: %v", e.Err())
	}
	return e
}

// TestTooManySteps shows that a text on which an expression takes for ever is an
// error, and that the engine works on other texts as before.
func TestTooManySteps(t *testing.T) {
	const pattern = `"pattern":{"Regex":"(?=(?:a|a|ab?)*c)a"},"content":"x"`
	for name, e := range map[string]*Pipeline{
		"pre_tokenizer": endlessIn(t, "pre_tokenizer", `{"type":"Split","pattern":{"Regex":"(?=(?:a|a|ab?)*c)a"},"behavior":"Isolated","invert":false}`),
		"normalizer":    endlessIn(t, "normalizer", `{"type":"Replace",`+pattern+`}`),
	} {
		t.Run(name, func(t *testing.T) {
			kept := []int32{7}
			if ids := e.AppendEncode(kept, endlessText, true); !slices.Equal(ids, kept) {
				t.Errorf("a text that cannot be encoded has the tokens %v", ids)
			}
			if n := e.Count(endlessText); n != 0 {
				t.Errorf("it counts %d tokens", n)
			}
			if ends := e.Ends([]int{3}, endlessText); !slices.Equal(ends, []int{3}) {
				t.Errorf("its tokens end at %v", ends)
			}
			if _, ok := e.Cut(endlessText, 2); ok {
				t.Error("it can be cut")
			}
			var limit *regex.LimitError
			if err := e.Err(); !errors.As(err, &limit) || limit.Bytes != len(endlessText) || !strings.Contains(err.Error(), "endless") {
				t.Errorf("the error is %v", err)
			}
			if ids := e.Encode("ab", false); !slices.Equal(ids, []int32{0, 1}) {
				t.Errorf("another text has the tokens %v", ids)
			}
		})
	}
}

func TestTooManyStepsDecoding(t *testing.T) {
	e := endlessIn(t, "decoder", `{"type":"Replace","pattern":{"Regex":"(?=(?:a|a|ab?)*c)a"},"content":"x"}`)
	if got := e.Decode([]int32{0, 1}, false); got != "ab" || e.Err() != nil {
		t.Fatalf("%q, %v", got, e.Err())
	}
	if got := e.Decode([]int32{2}, false); got != "" || e.Err() == nil {
		t.Errorf("%q, %v", got, e.Err())
	}
}

// TestTooManyStepsLoading has an added token that the normalizer cannot work on.
func TestTooManyStepsLoading(t *testing.T) {
	_, err := FromJSON("endless", fmt.Appendf(nil, `{"added_tokens":[{"id":9,"content":%q,"normalized":true}],
		"normalizer":{"type":"Replace","pattern":{"Regex":"(?=(?:a|a|ab?)*c)a"},"content":"x"},"model":{"type":"BPE","vocab":{"a":0},"merges":[]}}`, endlessText))
	var limit *regex.LimitError
	if !errors.As(err, &limit) {
		t.Errorf("the error is %v", err)
	}
}

// TestTooManyStepsAtOnce is for the race detector.
func TestTooManyStepsAtOnce(t *testing.T) {
	e, err := FromJSON("endless", []byte(endless))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if i%4 == 0 {
				e.Count(endlessText)
			}
			if n := e.Count("aab"); n != 2 {
				t.Errorf("%d tokens", n)
			}
		})
	}
	wg.Wait()
	if e.Err() == nil {
		t.Error("no error")
	}
}
