package report

import (
	"flag"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/tool/vllmbench/dialect"
)

var update = flag.Bool("update", false, "write golden files anew")

// made is a run whose every part is there.
func made() *Report {
	all := []dialect.Request{
		{Start: 1, TTFT: 0.03, ITL: []float64{0.005, 0.01}, Latency: 0.045, Queue: 0.001, In: 13, Out: 3, Text: "é \"x\""},
		{Start: 1.5, In: 14, Error: "Internal Server Error"},
	}
	return &Report{
		Summary: dialect.Summarize(all, 0.5, map[string]float64{"ttft": 40}), Date: "20261116-054253", Backend: "openai-chat", Model: "org/mock", Tokenizer: "tok",
		Prompts: 2, Metadata: [][2]string{{"tp", "1"}, {"note", "a=b"}}, Rate: 30, Burstiness: 0.5, MaxConcurrency: 8, Objectives: true, Detailed: true,
		Metrics:     strings.Split("ttft,tpot,itl,e2el,client_queue_time,e2el_including_client_queue", ","),
		Percentiles: []float64{25, 99.9},
		Speculation: &dialect.Speculation{Rate: 65, Length: 2.3, Drafts: 110, Drafted: 220, Accepted: 143, ByPosition: []float64{0.8, 0.5}},
	}
}

func TestFiles(t *testing.T) {
	r := made()
	text, err := JSON(r)
	if err != nil {
		t.Fatal(err)
	}
	var screen strings.Builder
	if err := Print(&screen, r); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"result.json": string(text), "screen.txt": screen.String()} {
		if *update {
			if err := os.WriteFile("testdata/"+name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile("testdata/" + name)
		if err != nil || got != string(want) {
			t.Errorf("%s (%v): got\n%s", name, err, got)
		}
	}
}

// Blocks are those of the original's samples: titles in the middle, names and numbers below one another.
func TestShapeOfTheOriginal(t *testing.T) {
	want, err := os.ReadFile("testdata/original.txt")
	if err != nil {
		t.Fatal(err)
	}
	r := made()
	r.Speculation, r.Percentiles = nil, []float64{25, 99}
	var screen strings.Builder
	if err := Print(&screen, r); err != nil {
		t.Fatal(err)
	}
	numbers := regexp.MustCompile(`\d[\d.]* *\n`)
	shape := func(text string) string { return numbers.ReplaceAllString(text, "N\n") }
	if got := shape(screen.String()); got != shape(string(want)) {
		t.Errorf("got\n%s\nwant\n%s", got, shape(string(want)))
	}
}

// differs: vllm-infinity
func TestInfinity(t *testing.T) {
	for faithful, want := range map[bool]string{false: `"burstiness": "inf", `, true: `"burstiness": Infinity, `} {
		r := made()
		r.Burstiness, r.Faithful = math.Inf(1), faithful
		if text, err := JSON(r); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%v: %s", err, text)
		}
	}
}

// The file of the fork has the keys of one that it wrote.
func TestForkFile(t *testing.T) {
	r := made()
	r.Release, r.BestOf, r.Detailed, r.Metadata, r.Speculation, r.Begin, r.End = "inferencex", 1, false, nil, nil, 5, 6
	r.Percentiles = []float64{90, 99, 99.9}
	text, err := JSON(r)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile("../testdata/inferencex.json")
	if err != nil {
		t.Fatal(err)
	}
	keys := regexp.MustCompile(`"([a-z_0-9.:]+)": `)
	var got, want []string
	for _, m := range keys.FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1])
	}
	for _, m := range keys.FindAllStringSubmatch(string(theirs), -1) {
		want = append(want, m[1])
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestFileNames(t *testing.T) {
	r := made()
	for want, edit := range map[string]func(){
		"openai-chat-30.0qps-concurrency8-mock-20261116-054253.json":                   func() {},
		"run7-infqps-mock-20261116-054253.json":                                        func() { r.Label, r.Rate, r.MaxConcurrency = "run7", math.Inf(1), 0 },
		"openai-chat-ramp-up-linear-5qps-40qps-concurrency8-mock-20261116-054253.json": func() { r.Ramp, r.RampFrom, r.RampTo = "linear", 5, 40 },
	} {
		r = made()
		if edit(); FileName(r) != want {
			t.Errorf("%s, want %s", FileName(r), want)
		}
	}
}
