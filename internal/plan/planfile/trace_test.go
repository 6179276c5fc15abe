package planfile

import (
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestTraceStages(t *testing.T) {
	for text, want := range map[string]string{
		"data: {file: t.jsonl}\nstages: [{arrival: trace}]":                                "",
		"data: {file: t.jsonl}\nstages: [{arrival: trace, max_in_flight: 8}]":              "",
		"data: {file: t.jsonl}\nstages: [{arrival: trace, rate: 5}]":                       "p.yaml:2:33: stages[0].rate: cannot be combined with arrivals of a trace: the data says when each request is due (leave one of them out)",
		"data: {file: t.jsonl}\nstages: [{arrival: trace, concurrency: 5}]":                "p.yaml:2:40: stages[0].concurrency: cannot be combined with arrivals of a trace: the data says when each request is due (leave one of them out)",
		"data: {file: t.jsonl}\nstages: [{arrival: poisson, concurrency: 5, requests: 1}]": "p.yaml:2:20: stages[0].arrival: only for a rate: in a closed loop a request goes when another ends (give rate, or leave it out)",
	} {
		p, err := load("p.yaml", []byte(text))
		switch {
		case want == "" && (err != nil || p.Stages[0].Arrival != plan.ArrivalTrace):
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || err.Error() != want):
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}
