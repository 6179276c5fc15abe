package args

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

// What is special about schedules, and searches without an end.
// differs: pa-schedule-warmup
// differs: pa-schedule-more
// differs: pa-endless-sequences
// differs: pa-few-threads
func TestLoadsOfOurs(t *testing.T) {
	a, err := Parse(split("-m m --fixed-schedule --input-data validated.json --warmup-request-count 2"), files)
	if err != nil || a.Plan.Stages[0].Warmup.Drain || a.Plan.Stages[0].Warmup.Requests != 2 {
		t.Errorf("a schedule waits for its warm-up: %v", err)
	}
	a, err = Parse(split("-m sequences -l 100 --concurrency-range 1:0 --async"), files)
	if err != nil || a.Plan.Levels.End != 0 {
		t.Errorf("no search without an end: %v", err)
	}
	a, err = Parse(split("-m m -l 100 --concurrency-range 20:0:1 --max-threads 3"), files)
	if err != nil || a.Plan.Levels.On() || a.Plan.Stages[0].Concurrency != 20 {
		t.Errorf("a search that begins above its end: %v", err)
	}
}
