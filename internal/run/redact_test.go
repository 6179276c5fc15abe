package run

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/registry"
)

// echo is a decoder of servers that repeat what they are told.
func echo(rec *record.Exchange) {
	rec.Text = append(rec.Text, rec.Body...)
	rec.Failure = &record.Failure{Class: record.HTTPStatus, Message: "refused: " + string(rec.Body)}
}

func TestSecretsThatAServerRepeatsAreHidden(t *testing.T) {
	target := plan.Target{Headers: map[string]string{"Authorization": "Bearer header-secret", "X-Trace": "plain-value"}}
	d := secrets{key: "sk-key-secret"}.guard(endpoint.Decoder{Decode: echo}, target)
	rec := &record.Exchange{Record: record.Record{Body: []byte("sk-key-secret and header-secret and plain-value and sk-key-secret")}}
	size := len(rec.Body)
	d.Decode(rec)
	for _, text := range []string{string(rec.Body), string(rec.Text), rec.Failure.Message} {
		if strings.Contains(text, "sk-key-secret") || strings.Contains(text, "header-secret") {
			t.Errorf("a secret is in %q", text)
		}
		if !strings.Contains(text, "plain-value") {
			t.Errorf("%q lost what is no secret", text)
		}
	}
	if len(rec.Body) != size || len(rec.Text) != size {
		t.Error("the answer changed its length")
	}
}

func TestSecretOfStars(t *testing.T) {
	d := secrets{key: "********"}.guard(endpoint.Decoder{Decode: echo}, plan.Target{})
	rec := &record.Exchange{Record: record.Record{Body: []byte("the key ******** is wrong")}}
	d.Decode(rec) // looks at each of them once
	if string(rec.Body) != "the key ******** is wrong" {
		t.Errorf("the answer became %q", rec.Body)
	}
}

// Hiding takes nothing away from what a decoder can do besides.
func TestHidingHidesNothingElse(t *testing.T) {
	for name, p := range registry.Default(os.Getenv).Protocols {
		plain := p.Decoder(plan.Default().Target, nil, false)
		d := secrets{key: "sk-key-secret"}.guard(plain, plan.Target{})
		if (d.Advance == nil) != (plain.Advance == nil) || (d.Longest == nil) != (plain.Longest == nil) || (d.Reply == nil) != (plain.Reply == nil) {
			t.Errorf("%s: %+v is left of %+v", name, d, plain)
		}
	}
}

// What is kept of requests holds no secret, and the request itself stays as it is.
func TestSecretsOfKeptRequests(t *testing.T) {
	target := plan.Target{Path: "/x?key=path-secret", Body: map[string]any{"api_key": `quo"ted-secret`}}
	d := secrets{}.guard(endpoint.Decoder{Decode: echo}, target)
	sent := []byte(`{"api_key":"quo\"ted-secret","prompt":"x"}`)
	rec := &record.Exchange{Record: record.Record{RequestBody: sent, Body: []byte("no such page: /x?key=path-secret")}}
	d.Decode(rec)
	for _, text := range []string{string(rec.RequestBody), string(rec.Body), rec.Failure.Message} {
		if strings.Contains(text, "ted-secret") || strings.Contains(text, "path-secret") {
			t.Errorf("a secret is in %q", text)
		}
	}
	if len(rec.RequestBody) != len(sent) || !strings.Contains(string(sent), "ted-secret") {
		t.Errorf("the request became %q, kept as %q", sent, rec.RequestBody)
	}
}

// What a session sends does not depend on whether there is a key: its calls go on from
// the answers, tool calls and all.
func TestKeyChangesNothingThatIsSent(t *testing.T) {
	t.Parallel()
	// What the server makes up, some of it by the order in which calls side by side come.
	made := regexp.MustCompile(`call_chatcmpl-[^"]+|("role":"assistant","content":|\\"text\\":\\)"[^"]*"`)
	sent := func(key string) map[string]int {
		s := serve(t, func(c *mock.Config) { c.TruthBody, c.Truth, c.APIKey = true, filepath.Join(t.TempDir(), "unused"), key })
		p := closedPlan(t, s.url, 1, 1)
		if key != "" {
			p.Target.Headers = map[string]string{"Authorization": "Bearer " + key}
		}
		p.Data = plan.Data{Source: plan.SourceOtelTrace, Replay: plan.Replay{Dir: "../../examples/data/otel-agents", MaxWait: plan.Duration(time.Millisecond)}}
		p.Stages = []plan.Stage{{Arrival: plan.ArrivalSessions, Sessions: plan.SessionLoad{Concurrent: 1}}}
		if c := mustRun(t, p).Stages[0].Counts; c.OK == 0 || c.Failed > 0 {
			t.Fatalf("counts %+v", c)
		}
		bodies := map[string]int{}
		for _, tr := range s.truths(t) {
			bodies[made.ReplaceAllString(string(tr.Body), "${1}made up")]++
		}
		return bodies
	}
	plain := sent("")
	if diff := cmp.Diff(plain, sent("sk-a-key-of-some-length")); diff != "" {
		t.Errorf("what is sent with a key (-without +with):\n%s", diff)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(plain)), func(b string) bool {
		return strings.Contains(b, `"role":"assistant"`) && strings.Contains(b, `"tool_calls"`)
	}) {
		t.Errorf("no call sends a tool call that was answered: the test shows nothing: %v", plain)
	}
}
