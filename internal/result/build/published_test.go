package build

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/testkit/schema"
)

// published is the schema of the document.
var published = schema.New(result.JSONSchema())

// TestSchemaRefuses: a schema that takes anything would prove nothing.
func TestSchemaRefuses(t *testing.T) {
	doc := healthy().build(t)
	published.Refuses(t, doc, map[string]func(doc map[string]any){
		"no verdict":         func(doc map[string]any) { delete(doc, "verdict") },
		"unknown field":      func(doc map[string]any) { doc["extra"] = 1 },
		"valid with reasons": func(doc map[string]any) { doc["verdict"].(map[string]any)["reasons"] = []any{"because"} },
		"another version":    func(doc map[string]any) { doc["schema"] = "inferometer.result/2" },
		"no percentile": func(doc map[string]any) {
			m := doc["stages"].([]any)[0].(map[string]any)["metrics"].(map[string]any)
			delete(m["request_latency"].(map[string]any), "p99")
		},
	})
}

// Every reason for which a stage or its windows can end is one that the schema has.
func TestSchemaHasEveryEnd(t *testing.T) {
	for _, reason := range []record.StopReason{
		record.StopDuration, record.StopRequests, record.StopArrivals, record.StopData, record.StopEarlyAnswer,
		record.StopInterrupted, record.StopErrors, record.StopAlike, record.StopOver, record.StopPrompts, record.StopRecords, record.StopBreaker("b", "why"),
		record.StopStable, record.StopThroughput, record.StopThreshold, record.StopTrials, record.StopEmpty,
	} {
		r := healthy().build(t)
		r.Stages[0].Ended = reason
		window := sweep.WindowBetween([]sweep.Sample{{Responses: 1}}, -1, time.Second, 97)
		window.First = &window.Latency
		r.Stages[0].Level = &result.WindowStats{Level: &sweep.Level{
			Value: 2, Ended: reason.Windows(), Windows: []sweep.Window{window, window}, Merged: &window,
			Server: []record.ModelStats{{Name: "m", Version: "1"}}, GPUs: []record.GPU{{UUID: "g"}},
		}}
		published.Fits(t, r)
	}
	r := healthy().build(t)
	r.Stages[0].Level = &result.WindowStats{Level: &sweep.Level{Ended: record.StopWhole}} // killed before its first window ended
	published.Fits(t, r)
}
