package export

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/profileexport"
)

func TestApart(t *testing.T) {
	moments := []uint64{5, 5, 5, 9, 9}
	if apart(moments); !slices.Equal(moments, []uint64{5, 6, 7, 9, 10}) {
		t.Errorf("got %v", moments)
	}
}

// records writes a file of two stages: one in windows, one without.
func records(t *testing.T, start time.Time) record.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "requests.jsonl.zst")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := record.NewWriter(f, record.Header{Start: start})
	if err != nil {
		t.Fatal(err)
	}
	add := func(seq int64, stage int, end time.Duration, change func(*record.Record)) {
		rec := &record.Record{
			Seq: seq, Stage: stage, Prompt: 7, Sent: end - 5, End: end, Text: []byte("hi"), Body: []byte("x"),
			Marks: []record.Read{{Off: 1, Kernel: end - 1, User: end}}, Events: []record.Event{{Text: 2, Tokens: 1}},
		}
		if change != nil {
			change(rec)
		}
		if err := w.Append(record.AppendJSON(nil, rec, true)); err != nil {
			t.Fatal(err)
		}
	}
	for i, at := range []time.Duration{100, 200, 300} {
		if err := w.Edge(record.Edge{Stage: 0, Level: 2, Trial: i, At: at}); err != nil {
			t.Fatal(err)
		}
	}
	add(0, 0, 100, nil) // ended before the first window
	add(1, 0, 150, nil)
	add(2, 0, 300, nil)
	add(3, 0, 302, nil)                     // after the last
	add(7, 0, 302, func(r *record.Record) { // its last data came before; what follows is empty
		r.Marks = []record.Read{{Off: 1, Kernel: 299, User: 300}, {Off: 1, Kernel: 301, User: 302}}
		r.Events = append(r.Events, record.Event{Mark: 1, Label: record.Done})
	})
	add(4, 0, 250, func(r *record.Record) { r.Failure = &record.Failure{Class: record.Reset} })
	add(5, 0, 250, func(r *record.Record) { r.Phase = record.Warmup })
	add(6, 1, 450, func(r *record.Record) { r.Session = "12" })
	if err := w.Stage(record.StageSummary{Stage: 1,
		StageTimes: record.StageTimes{Begin: 400, WarmupEnd: 400, SendEnd: 480, DrainEnd: 500}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return record.File{Path: path}
}

func TestWrite(t *testing.T) {
	start := time.Unix(1000, 0)
	var in Inputs
	in.Add(7, func() profileexport.Fields { return profileexport.Fields{profileexport.Text("text_input", "hello")} })
	in.Add(7, func() profileexport.Fields { t.Error("asked again for what is known"); return nil })
	name := filepath.Join(t.TempDir(), "export.json")
	err := Write(Job{
		Name: name, Records: records(t, start), Version: "v", Service: profileexport.Triton, Inputs: &in,
		Stages: []plan.Stage{{Concurrency: 2},
			{Intervals: []plan.Duration{plan.Duration(100 * time.Millisecond), plan.Duration(300 * time.Millisecond)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := profileexport.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	base := uint64(start.UnixNano())
	first, second := doc.Experiments[0], doc.Experiments[1]
	if first.Load.Mode != "concurrency" || first.Load.Value != 2 || len(first.Requests) != 3 || !slices.Equal(first.Windows, []uint64{base + 100, base + 200, base + 300}) {
		t.Errorf("first %+v", first)
	}
	if len(first.Failed) != 1 || first.Failed[0].Timestamp != base+245 || first.Failed[0].Error != "reset" {
		t.Errorf("failed: %+v", first.Failed)
	}
	if r := first.Requests[0]; r.Timestamp != base+145 || r.Moments[0] != base+149 || string(r.Inputs.Get("text_input")) != `"hello"` || string(r.Responses[0].Get("text_output")) != `"hi"` {
		t.Errorf("request %+v", r)
	}
	if second.Load.Mode != "request_rate" || second.Load.Value != 5 || len(second.Requests) != 1 || second.Requests[0].SequenceID != 12 {
		t.Errorf("second %+v", second)
	}
}

// Turns of sessions have the pause behind them, where the data says one.
func TestTurns(t *testing.T) {
	j := Job{Service: profileexport.OpenAI, Sessions: true, Inputs: new(Inputs), Delay: func(session string, turn int) (int64, bool) { return 30, session == "a" && turn == 0 }}
	for turn, want := range []string{`{"payload":"{}","session_id":"a","delay":30}`, `{"payload":"{}","session_id":"a"}`} {
		r := j.request(&record.Record{Session: "a", Turn: turn, RequestBody: []byte("{}")}, 0)
		if got, err := r.Inputs.MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("%s, want %s (%v)", got, want, err)
		}
	}
	j.Records, j.Stages = records(t, time.Unix(1000, 0)), []plan.Stage{{Concurrency: 2}}
	_, list, err := j.experiments()
	if err != nil || len(list) != 1 || list[0].load != (profileexport.Load{Mode: "request_rate"}) || !slices.Equal(list[0].windows, []uint64{0, math.MaxUint64}) {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestNothingWasBegun(t *testing.T) {
	name := filepath.Join(t.TempDir(), "export.json")
	if err := Write(Job{Name: name, Records: records(t, time.Unix(1, 0)), Inputs: new(Inputs)}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(name); err != nil || len(text) == 0 {
		t.Errorf("%q, %v", text, err)
	}
}

// differs: pa-export-failed
func TestAnswered(t *testing.T) {
	failure := func(c record.Class) *record.Failure { return &record.Failure{Class: c} }
	openAI, triton := Job{Service: profileexport.OpenAI}, Job{Service: profileexport.Triton}
	for _, c := range []struct {
		name string
		job  Job
		rec  record.Record
		want bool
	}{
		{"good", triton, record.Record{}, true},
		{"Triton's error", triton, record.Record{Status: 200, Body: []byte("x"), Failure: failure(record.StreamError)}, false},
		{"an error in the words of an OpenAI server", openAI, record.Record{Status: 200, Body: []byte("x"), Failure: failure(record.StreamError)}, true},
		{"words that mean nothing", openAI, record.Record{Status: 200, Body: []byte("x"), Failure: failure(record.BadBody)}, true},
		{"refused", openAI, record.Record{Status: 500, Body: []byte("x"), Failure: failure(record.HTTPStatus)}, false},
		{"cut", openAI, record.Record{Status: 200, Body: []byte("x"), Failure: failure(record.Truncated)}, false},
	} {
		if got := c.job.answered(&c.rec); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestTensors(t *testing.T) {
	answer := []byte(`{"model_name":"m","outputs":[{"name":"WORDS","datatype":"BYTES","shape":[2],"data":["a","bc"]},{"name":"VALUE","datatype":"FP32","shape":[1],"data":[0.5]}]}`)
	rec := &record.Record{Sent: 3, Body: answer, Marks: []record.Read{{Off: 5, Kernel: 7, User: 7}, {Off: len(answer), Kernel: 9, User: 9}}}
	j := Job{
		Service: profileexport.Triton, Inputs: new(Inputs), Target: plan.Target{Transport: plan.TransportHTTP, Endpoint: plan.EndpointInfer},
		Tensors: &tensor.Signature{Outputs: []tensor.Spec{{Name: "VALUE"}, {Name: "WORDS"}, {Name: "LEFT_OUT"}}},
	}
	for want, faithful := range map[string]bool{
		`{"VALUE":0.5,"WORDS":["a","bc"],"LEFT_OUT":""}`:                    false,
		`{"VALUE":0.5,"WORDS":"a\u0002\u0000\u0000\u0000bc","LEFT_OUT":""}`: true,
	} {
		j.Faithful = faithful
		r := j.request(rec, 100)
		if len(r.Responses) != 1 || r.Timestamp != 103 || r.Moments[0] != 109 {
			t.Fatalf("request %+v", r)
		}
		if got, err := r.Responses[0].MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("%s, want %s (%v)", got, want, err)
		}
	}
}
