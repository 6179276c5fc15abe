package perfanalyzer

import (
	"strings"
	"testing"
)

// The original reads the digits ahead and forgets the rest.
// differs: pa-number-and-more
func TestNumbersWithSomethingBehind(t *testing.T) {
	for _, args := range []string{"-m m --max-trials 3x", "-m m -p 1.5", "-m m --request-count 20.0", "-m m -b 2,"} {
		if _, err := Parse(split(args), files); err == nil || !strings.Contains(err.Error(), "Invalid value provided") {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// The payload says whether answers are streamed; the original refuses the flag.
// differs: pa-openai-streaming
func TestStreamingOfOpenAI(t *testing.T) {
	const line = "-m m --service-kind openai --async --input-data in.json --endpoint v1/chat/completions"
	with, err := Parse(split(line+" --streaming"), files)
	if err != nil {
		t.Fatal(err)
	}
	without, err := Parse(split(line), files)
	if err != nil || with.Plan.Target.Streaming != without.Plan.Target.Streaming {
		t.Errorf("%v: streamed %v with the flag, %v without", err, with.Plan.Target.Streaming, without.Plan.Target.Streaming)
	}
}
