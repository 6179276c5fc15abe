package genaiperf

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
	"github.com/inferometer/inferometer/internal/tool/profileexport"
)

// exportOf reads the profile export of a run.
func exportOf(t *testing.T, a *args.Action) *profileexport.Document {
	t.Helper()
	f, err := os.Open(filepath.Join(a.Settings.Dir, a.Settings.ExportFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := profileexport.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Each session goes on with its own history, and all of them are held.
func TestSessions(t *testing.T) {
	s := serve(t, nil)
	a := parse(t, s, t.TempDir(), strings.Fields("profile -m gpt2 --endpoint-type chat --streaming --isl 10 --osl 4 --tokenizer builtin:gpt2 --num-sessions 4 --session-concurrency 2 --session-turns-mean 3 --session-turn-delay-mean 2")...)
	out := profile(t, a, world(offline, t.Output()))
	if n := avg(t, out.Summary, dialect.RequestCount); n != 12 {
		t.Errorf("%v requests, want 4 sessions of 3 turns", n)
	}
	doc := exportOf(t, a)
	if doc.Experiments[0].Load != (profileexport.Load{Mode: "request_rate"}) {
		t.Errorf("load %v", doc.Experiments[0].Load)
	}
	turns := map[string][]int{}
	var begun []string
	for i := range doc.Experiments[0].Requests {
		r := &doc.Experiments[0].Requests[i]
		payload, _ := r.Inputs.Text("payload")
		session, _ := r.Inputs.Text("session_id")
		var body struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.Unmarshal([]byte(payload), &body); err != nil {
			t.Fatal(err)
		}
		if turns[session] == nil {
			begun = append(begun, session)
		}
		turns[session] = append(turns[session], len(body.Messages))
		if n := len(body.Messages); n > 1 && (body.Messages[n-2].Role != "assistant" || body.Messages[n-2].Content == "") {
			t.Errorf("before turn %d: %+v", n, body.Messages[n-2])
		}
	}
	for session, list := range turns {
		if len(list) != 3 || list[0]+list[1]+list[2] != 1+3+5 {
			t.Errorf("session %s has turns of %v messages, want 1, 3 and 5", session, list)
		}
	}
	if len(turns) != 4 || len(out.Sessions) != 4 {
		t.Errorf("%d sessions in the export, %d in the outcome, want 4", len(turns), len(out.Sessions))
	}
	for i, session := range out.Sessions {
		if i < len(begun) && session.Name != begun[i] {
			t.Errorf("session %d of the report is %s, that of the export %s", i, session.Name, begun[i])
		}
	}
	text, err := os.ReadFile(filepath.Join(a.Settings.Dir, "profile_export_genai_perf.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Sessions map[string]map[string]struct{ Avg float64 }
	}
	if err := json.Unmarshal(text, &report); err != nil || len(report.Sessions) != 4 {
		t.Errorf("sessions of the JSON report: %v, %v", report.Sessions, err)
	}
	for name, s := range report.Sessions {
		if !regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(name) || s["request_count"].Avg != 3 {
			t.Errorf("session %s is no UUID, or has no 3 requests: %v", name, s)
		}
	}
}

// dues are the moments at which requests were due, in order.
func dues(t *testing.T, a *args.Action) []time.Duration {
	t.Helper()
	var out []time.Duration
	if err := rundir.Records(a.Plan).Requests(func(rec *record.Record) error { out = append(out, rec.Due); return nil }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func TestPayloadFile(t *testing.T) {
	s := serve(t, nil)
	name := filepath.Join(t.TempDir(), "trace.jsonl")
	lines := []string{
		`{"timestamp": 30, "input_length": 600, "output_length": 3, "hash_ids": [7, 8]}`,
		`{"timestamp": 0, "input_length": 520, "output_length": 5, "hash_ids": [7, 9], "priority": 5}`,
		`{"timestamp": 10.5, "text_input": "hello there", "output_length": 2}`,
	}
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	a := parse(t, s, t.TempDir(), "profile", "-m", "gpt2", "--endpoint-type", "chat", "--tokenizer", "builtin:gpt2", "--input-file", "payload:"+name, "--fixed-schedule")
	out := profile(t, a, world(offline, t.Output()))
	if n := avg(t, out.Summary, dialect.RequestCount); n != 3 {
		t.Errorf("%v requests, want 3", n)
	}
	in, _ := out.Summary.Stat(dialect.InputSequenceLength)
	if in.Max != 600 || in.Percentile(50) != 520 || in.Min != 2 {
		t.Errorf("lengths %+v", in)
	}
	var prompts []string
	doc := exportOf(t, a)
	for _, r := range doc.Experiments[0].Requests {
		text, err := doc.Prompt(&r)
		if err != nil {
			t.Fatal(err)
		}
		prompts = append(prompts, text)
	}
	// On a busy machine they may go in another order than they are due.
	slices.SortFunc(prompts, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	shared := 0
	for i := range min(len(prompts[0]), len(prompts[1])) {
		if prompts[0][i] != prompts[1][i] {
			break
		}
		shared = i
	}
	if shared < 1000 {
		t.Errorf("prompts with the same first block share %d bytes", shared)
	}
	own := 0
	for _, r := range doc.Experiments[0].Requests {
		own += strings.Count(string(r.Inputs.Get("payload")), `\"priority\":5`)
	}
	if own != 1 {
		t.Errorf("%d requests have the field that one line has", own)
	}
	if due := dues(t, a); len(due) != 3 || due[1]-due[0] != 10500*time.Microsecond || due[2]-due[0] != 30*time.Millisecond {
		t.Errorf("requests were due at %v", due)
	}
	var inputs struct{ Data []struct{ Timestamp []int } }
	text, err := os.ReadFile(filepath.Join(a.Settings.Dir, "inputs.json"))
	if err := errors.Join(err, json.Unmarshal(text, &inputs)); err != nil || len(inputs.Data) != 3 || inputs.Data[1].Timestamp[0] != 10 ||
		inputs.Data[2].Timestamp[0] != 30 {
		t.Errorf("%v: the moments in inputs.json are %+v", err, inputs)
	}
	// As prompts under a load of its own.
	a = parse(t, s, t.TempDir(), "profile", "-m", "gpt2", "--endpoint-type", "completions", "--tokenizer", "builtin:gpt2", "--input-file", "payload:"+name, "--request-count", "7")
	if n := avg(t, profile(t, a, world(offline, t.Output())).Summary, dialect.RequestCount); n != 7 {
		t.Errorf("%v requests, want 7", n)
	}
}

func TestBadPayloadFiles(t *testing.T) {
	s := serve(t, nil)
	for text, want := range map[string]string{
		`{"timestamp": 1}` + "\n" + `{"timestamp": "x"}`: ":2: timestamp: ",
		`[1]`:                                   "is not a JSON object",
		"":                                      "the file has no requests",
		`{"text": "a", "text_input": "b"}`:      "has both text and text_input",
		`{"input_length": 600, "hash_ids":[1]}`: "cover at most 512 tokens",
		`{"text": "a"}`:                         "has no timestamps",
		`{"input_length": -1}`:                  "a length is negative",
	} {
		name := filepath.Join(t.TempDir(), "trace.jsonl")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		a := parse(t, s, t.TempDir(), "profile", "-m", "gpt2", "--endpoint-type", "chat", "--tokenizer", "builtin:gpt2", "--input-file", "payload:"+name, "--fixed-schedule")
		_, err := Profile(t.Context(), a, world(offline, t.Output()))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Sessions that say the same are told apart.
func TestSessionsThatSayTheSame(t *testing.T) {
	s := serve(t, nil)
	name := filepath.Join(t.TempDir(), "talk.jsonl")
	lines := `{"session_id": "a", "text": "hello", "output_length": 2}` + "\n" + `{"session_id": "b\u0007", "text": "hello", "output_length": 2}` + "\n" + `{"session_id": "a", "text": "more", "output_length": 2}`
	if err := os.WriteFile(name, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	a := parse(t, s, t.TempDir(), "profile", "-m", "gpt2", "--endpoint-type", "chat", "--tokenizer", "builtin:gpt2", "--input-file", "payload:"+name, "--session-concurrency", "1")
	profile(t, a, world(offline, t.Output()))
	text, err := os.ReadFile(filepath.Join(a.Settings.Dir, "profile_export_genai_perf.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Sessions map[string]map[string]struct{ Avg float64 }
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	count := func(session string) float64 { return report.Sessions[session]["request_count"].Avg }
	if len(report.Sessions) != 2 || count("a") != 2 || count("b\a") != 1 {
		t.Errorf("requests of the sessions: %v", report.Sessions)
	}
	sessions := map[string]int{}
	doc := exportOf(t, a)
	for _, r := range doc.Experiments[0].Requests {
		id, _ := r.Inputs.Text("session_id")
		sessions[id]++
	}
	if sessions["a"] != 2 || sessions["b\a"] != 1 {
		t.Errorf("requests of the export: %v", sessions)
	}
}

// Moments that have no effect are told of.
func TestTimestampsWithoutASchedule(t *testing.T) {
	s := serve(t, nil)
	name := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(name, []byte(`{"timestamp": 0, "text": "a"}`+"\n"+`{"timestamp": 3600000, "text": "b"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	a := parse(t, s, t.TempDir(), "profile", "-m", "gpt2", "--endpoint-type", "chat", "--tokenizer", "builtin:gpt2", "--input-file", "payload:"+name)
	profile(t, a, world(offline, &log))
	if !strings.Contains(log.String(), "The timestamps in "+name+" have no effect without --fixed-schedule") {
		t.Errorf("the log:\n%s", log.String())
	}
}
