package breaker

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// answer is a streamed request of three tokens that took a time.
func answer(at, took time.Duration) *record.Record {
	return &record.Record{
		Stage: 2, Due: at - 100*time.Millisecond, Sent: at, End: at + took, Status: 200, Streamed: true, Model: "sql",
		In: record.Tokens{N: 7, Source: record.FromServer}, Out: record.Tokens{N: 3, Source: record.FromServer},
		Marks: []record.Read{{User: at + took/2, Kernel: record.Never}, {User: at + took, Kernel: record.Never}},
		Events: []record.Event{
			{Mark: 0, Label: record.Role}, {Mark: 0, Label: record.Content}, {Mark: 1, Label: record.Content}, {Mark: 1, Label: record.Done},
		},
	}
}

func refusal(at time.Duration) *record.Record {
	r := answer(at, time.Second)
	r.Status, r.Marks, r.Events, r.Out = 503, nil, nil, record.Tokens{}
	r.Failure = &record.Failure{Class: record.HTTPStatus, Status: 503, Message: "busy"}
	return r
}

func TestDocument(t *testing.T) {
	want := map[string]any{
		"stage_id": 2.0, "scheduled_time": 9.9, "start_time": 10.0, "end_time": 12.0, "status": 200.0, "model": "sql",
		"info": map[string]any{
			"input_tokens": 7.0, "output_tokens": 3.0, "lora_adapter": "sql",
			"request_metrics":  map[string]any{"text": map[string]any{"input_tokens": 7.0}},
			"response_metrics": map[string]any{"output_tokens": 3.0, "output_token_times": []any{11.0, 12.0}},
		},
		"latency": map[string]any{
			"request_latency": 2.0, "schedule_delay": 0.1, "time_to_first_token": 1.0,
			"time_per_output_token": 0.5, "normalized_time_per_output_token": 2. / 3,
		},
	}
	if diff := cmp.Diff(want, document(answer(10*time.Second, 2*time.Second))); diff != "" {
		t.Error(diff)
	}
	doc := document(refusal(0))
	if diff := cmp.Diff(map[string]any{"error_type": "HTTP Error 503", "error_msg": "busy", "class": "http_status"}, doc["error"]); diff != "" {
		t.Error(diff)
	}
}

// run feeds records to one breaker and says why it opened.
func run(t *testing.T, b plan.Breaker, recs ...*record.Record) []record.StopReason {
	t.Helper()
	var reasons []record.StopReason
	s, err := New([]plan.Breaker{b}, func(reason record.StopReason) { reasons = append(reasons, reason) })
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recs {
		s.Add(r)
	}
	return reasons
}

func TestConsecutive(t *testing.T) {
	b := plan.Breaker{Name: "failing", Matches: []string{"@"}, Rules: []string{"error"}, Triggers: []plan.Trigger{{Kind: plan.TriggerConsecutive, Threshold: 3}}}
	good := answer(0, time.Second)
	bad := refusal(0)
	cut := refusal(0)
	cut.Failure = &record.Failure{Class: record.CutOff}
	if got := run(t, b, bad, bad, good, bad, bad, cut, good); got != nil {
		t.Errorf("opened: %v", got)
	}
	if got := run(t, b, good, bad, bad, cut, bad, bad, bad); len(got) != 1 || got[0] != "breaker failing: 3 hits in a row" {
		t.Errorf("opened: %v", got)
	}
	b.Matches = []string{"status == `200`"} // of which none fails
	if got := run(t, b, bad, bad, bad, bad); got != nil {
		t.Errorf("opened: %v", got)
	}
	b.Matches, b.Rules = []string{"nothing", "error.error_type == 'HTTP Error 503'"}, nil // all samples are hits
	if got := run(t, b, bad, good, bad, good, bad); len(got) != 1 {
		t.Errorf("opened: %v", got)
	}
}

func TestRateOverWindow(t *testing.T) {
	b := plan.Breaker{Name: "slow", Matches: []string{"!error"}, Rules: []string{"latency.time_to_first_token > `0.5`"}, Triggers: []plan.Trigger{
		{Kind: plan.TriggerRate, Threshold: 0.5, Window: plan.Duration(10 * time.Second), MinSamples: 4},
	}}
	at := func(second int, slow bool) *record.Record {
		took := time.Second
		if slow {
			took = 2 * time.Second
		}
		return answer(time.Duration(second)*time.Second-took, took)
	}
	if got := run(t, b, at(1, true), at(2, true), at(3, true)); got != nil {
		t.Errorf("too few samples, opened: %v", got)
	}
	if got := run(t, b, at(1, true), at(2, false), at(3, false), at(4, true)); len(got) != 1 || got[0] != "breaker slow: 2 hits among the 4 samples of the last 10s" {
		t.Errorf("opened: %v", got)
	}
	if got := run(t, b, at(1, true), at(2, true), at(20, false), at(21, false), at(22, false), at(23, true), at(24, false)); got != nil {
		t.Errorf("what is long ago counts: %v", got)
	}
}

func TestWrongExpressions(t *testing.T) {
	_, err := New([]plan.Breaker{{Matches: []string{"a ="}, Rules: []string{"b", "eval(c)"}}, {Matches: []string{"("}}}, nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"breakers[0].matches[0]: ", "breakers[0].rules[1]: ", "breakers[1].matches[0]: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %s in %v", want, err)
		}
	}
}
