package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// view is what cells are made of: the request that is looked at, and what all have in common.
type view struct {
	*metric.Request
	reader  *metric.Reader
	run     *Run
	name    string
	start   time.Time
	targets []string
	stages  []stageWords
	event   eventView
}

type stageWords struct{ name, load string }

func newView(r *Run, reader *metric.Reader) *view {
	v := &view{reader: reader, run: r, name: r.Plan.Name, start: r.Facts.Header.Start}
	for _, u := range r.Plan.Target.URLs {
		v.targets = append(v.targets, plan.SafeURL(u))
	}
	for i := range r.Plan.Stages {
		v.stages = append(v.stages, stageWords{result.StageName(r.Plan, i), result.Load(&r.Plan.Stages[i])})
	}
	return v
}

func (v *view) read(rec *record.Record) { v.Request = v.reader.Read(rec) }

func (v *view) stage() (s stageWords) {
	if v.Stage >= 0 && v.Stage < len(v.stages) {
		s = v.stages[v.Stage]
	}
	return s
}

// phase is the request's, in words. Steps of a search for saturation have stages of their own.
func (v *view) phase() string {
	if v.Stage < 0 {
		return "search"
	}
	return v.Phase.String()
}

func (v *view) status() string {
	if v.Failure.Left() {
		return "cancelled"
	}
	if v.Failure != nil {
		return "failed"
	}
	return "ok"
}

// failure is the request's; an empty one where it succeeded.
func (v *view) failure() record.Failure {
	if v.Failure != nil {
		return *v.Failure
	}
	return record.Failure{}
}

// worker is the name of the one that sent the request.
func (v *view) worker() string {
	list := v.run.Facts.Header.Workers
	if v.Worker > 0 && v.Worker <= len(list) {
		return list[v.Worker-1].Name
	}
	return ""
}

func (v *view) target() string {
	if v.Target >= 0 && v.Target < len(v.targets) {
		return v.targets[v.Target]
	}
	return ""
}

// labels are what the data says of the request, as a JSON object.
func (v *view) labels() string {
	if len(v.Labels) == 0 {
		return ""
	}
	all := map[string]string{}
	for _, l := range v.Labels {
		all[l[0]] = l[1]
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "" // texts can always be written
	}
	return string(text)
}

func requestColumns() []Column {
	var all []Column
	for _, part := range [][]Column{identity(), outcome(), moments(), metrics(), rest(), searched()} {
		all = append(all, part...)
	}
	return all
}

// common are the columns that rows of events have too.
func common() []Column {
	return []Column{
		{Name: "run", Kind: Text, repeats: true, Help: "name of the run (`--name`)", of: func(v *view) Cell { return words(v.name) }},
		{Name: "request", Kind: Whole, Help: "number of the request in the run", of: func(v *view) Cell { return integer(v.Seq) }},
		{Name: "stage", Kind: Whole, Help: "its stage, from 0, as in `result.json`", of: func(v *view) Cell { return integer(int64(v.Stage)) }},
		{Name: "phase", Kind: Text, repeats: true, Help: "`measured`, `warmup`, `closing` (only ends a sequence) or `search` (a step of the search for saturation)", of: func(v *view) Cell { return words(v.phase()) }},
		{Name: "steady", Kind: Flag, Help: "it ended in the steady window of its stage", of: func(v *view) Cell { return yesNo(v.reader.Steady()) }},
		{Name: "status", Kind: Text, repeats: true, Help: "`ok`, `failed`, or `cancelled`: its user went away (`cancel`)", of: func(v *view) Cell { return words(v.status()) }},
	}
}

func identity() []Column {
	return append(common(), []Column{
		{Name: "stage_name", Kind: Text, repeats: true, Help: "name of the stage", of: func(v *view) Cell { return words(v.stage().name) }},
		{Name: "load", Kind: Text, repeats: true, Help: "load of the stage, in words", of: func(v *view) Cell { return words(v.stage().load) }},
		{Name: "target", Kind: Text, repeats: true, Help: "URL that it was sent to", of: func(v *view) Cell { return words(v.target()) }},
		{Name: "worker", Kind: Text, repeats: true, Help: "worker that sent it, of a run with workers", of: func(v *view) Cell { return words(v.worker()) }},
		{Name: "slot", Kind: Whole, Help: "slot that carried it out, one request at a time", of: func(v *view) Cell { return integer(int64(v.Slot)) }},
		{Name: "model", Kind: Text, repeats: true, Help: "model requested", of: func(v *view) Cell { return words(cmp.Or(v.Model, v.run.Plan.Target.Model)) }},
		{Name: "session", Kind: Text, Help: "conversation or session that it is part of", of: func(v *view) Cell { return words(v.Session) }},
		{Name: "turn", Kind: Whole, Help: "its place there, from 0", of: func(v *view) Cell { return where(v.Session != "", integer(int64(v.Turn))) }},
		{Name: "call", Kind: Text, Help: "call of a recorded session", of: func(v *view) Cell { return words(v.Call) }},
		{Name: "labels", Kind: Text, repeats: true, Help: "labels of the data, a JSON object", of: func(v *view) Cell { return words(v.labels()) }},
		{Name: "prompt", Kind: Text, Help: "hash of the prompt: equal prompts have equal ones", of: func(v *view) Cell { return where(v.Prompt != 0, words(fmt.Sprintf("%016x", v.Prompt))) }},
	}...)
}

func outcome() []Column {
	return []Column{
		{Name: "status_code", Kind: Whole, Help: "HTTP status, or gRPC status of a request that failed with one", of: func(v *view) Cell {
			code := v.Record.Status
			if f := v.failure(); f.Class == record.GRPCStatus {
				code = f.Status
			}
			return where(code != 0, integer(int64(code)))
		}},
		{Name: "error_class", Kind: Text, repeats: true, Help: "why it failed ([classes](records.md#failures))", of: func(v *view) Cell { return words(string(v.failure().Class)) }},
		{Name: "error_message", Kind: Text, repeats: true, Help: "what the server or the system reported", of: func(v *view) Cell { return words(v.failure().Message) }},
		{Name: "finish_reason", Kind: Text, repeats: true, Help: "reported by the server", of: func(v *view) Cell { return words(v.Finish) }},
		{Name: "streamed", Kind: Flag, Help: "a stream was requested", of: func(v *view) Cell { return yesNo(v.Streamed) }},
		{Name: "good", Kind: Flag, Help: "it succeeded and met every objective (`--goodput`)", of: func(v *view) Cell {
			good, judged := v.reader.Good()
			return where(judged, yesNo(good))
		}},
	}
}

// moments are on the clock of the run, whose start is that of its record file.
func moments() []Column {
	return []Column{
		{Name: "sent_at", Kind: Moment, Help: "when it was sent, UTC", of: func(v *view) Cell {
			return where(v.Sent != record.Never, integer(v.start.Add(v.Sent).UnixMicro()))
		}},
		{Name: "due_s", Kind: Number, Help: "Due, in seconds from the start of the run", of: func(v *view) Cell { return seconds(v.Due) }},
		{Name: "ready_s", Kind: Number, Help: "Ready", of: func(v *view) Cell { return seconds(v.Ready) }},
		{Name: "sent_s", Kind: Number, Help: "Sent", of: func(v *view) Cell { return seconds(v.Sent) }},
		{Name: "written_s", Kind: Number, Help: "Written", of: func(v *view) Cell { return seconds(v.Written) }},
		{Name: "first_token_s", Kind: Number, Help: "stamp of the first token event", of: func(v *view) Cell { return seconds(v.First) }},
		{Name: "last_token_s", Kind: Number, Help: "stamp of the last one", of: func(v *view) Cell { return seconds(v.Last) }},
		{Name: "end_s", Kind: Number, Help: "End", of: func(v *view) Cell { return seconds(v.End) }},
	}
}

// metrics are a column for every metric of a request, and the number of its samples where
// those are pooled.
func metrics() []Column {
	var all []Column
	for _, d := range metric.Defs() {
		if d.Rate != nil {
			continue
		}
		c := Column{Name: columnName(&d), Kind: Number, Help: "`" + d.ID + "`", of: func(v *view) Cell {
			x, ok := d.Value(v.Request)
			return where(ok, fraction(x))
		}}
		if d.Unit == metric.TokenCount {
			c.Kind = Whole
			c.of = func(v *view) Cell {
				x, ok := d.Value(v.Request)
				return where(ok, integer(int64(x)))
			}
		}
		if d.Many != nil {
			c.Help += ", the request's own mean"
		}
		all = append(all, c)
		if d.Many != nil {
			all = append(all, Column{Name: d.ID + "_samples", Kind: Whole, Help: "samples of it: those of all requests are pooled", of: func(v *view) Cell { return integer(d.Samples(v.Request)) }})
		}
	}
	return all
}

// columnName is the name of a metric with its unit.
func columnName(d *metric.Def) string {
	switch {
	case d.Unit == metric.Milliseconds:
		return d.ID + "_ms"
	case d.Unit == metric.TokenCount:
		return strings.Replace(d.ID, "_sequence_length", "_tokens", 1)
	case d.Unit == metric.UserRate:
		return "output_tokens_per_s_per_user"
	}
	return d.ID
}

func rest() []Column {
	source := func(t *record.Tokens) Cell { return where(t.Source != record.Uncounted, words(t.Source.String())) }
	return []Column{
		{Name: "input_tokens_source", Kind: Text, repeats: true, Help: "who counted: `server`, `tokenizer` or `events`", of: func(v *view) Cell { return source(&v.In) }},
		{Name: "output_tokens_source", Kind: Text, repeats: true, Help: "the same for output tokens", of: func(v *view) Cell { return source(&v.Out) }},
		{Name: "requested_output_tokens", Kind: Whole, Help: "output tokens requested", of: func(v *view) Cell { return where(v.RequestedTokens > 0, integer(int64(v.RequestedTokens))) }},
		{Name: "request_bytes", Kind: Whole, Help: "size of the request's body", of: func(v *view) Cell { return where(v.Size > 0, integer(int64(v.Size))) }},
		{Name: "response_bytes", Kind: Whole, Help: "size of the response's body", of: func(v *view) Cell {
			if v.Tail != nil || len(v.Marks) == 0 {
				return Cell{}
			}
			return integer(int64(v.Marks[len(v.Marks)-1].Off))
		}},
		{Name: "reads", Kind: Whole, Help: "network reads of the response", of: func(v *view) Cell { return integer(int64(v.Reads())) }},
		{Name: "events", Kind: Whole, Help: "events of the response", of: func(v *view) Cell {
			n := int64(len(v.Record.Events))
			if v.Tail != nil {
				n += v.Tail.Events + v.Tail.Others
			}
			return integer(n)
		}},
		{Name: "connection_reused", Kind: Flag, Help: "it went over a connection that was open", of: func(v *view) Cell { return yesNo(v.Conn.Reused) }},
		{Name: "resent", Kind: Whole, Help: "how often it was sent again on another connection", of: func(v *view) Cell { return integer(int64(v.Resent)) }},
		{Name: "retries", Kind: Whole, Help: "how often it was tried again because no server answered", of: func(v *view) Cell { return integer(int64(v.Retries)) }},
	}
}

// searched are what the whole run has found, where it was a search: the same in every row.
func searched() []Column {
	number := func(stat string) func(v *view) Cell {
		return func(v *view) Cell {
			if v.run.Result == nil {
				return Cell{}
			}
			for _, f := range v.run.Result.CapacityFigures() {
				if f.Stat == stat {
					return fraction(f.Value)
				}
			}
			return Cell{}
		}
	}
	text := func(of func(r *result.Result) string) func(v *view) Cell {
		return func(v *view) Cell {
			if v.run.Result == nil || v.run.Result.Capacity == nil {
				return Cell{}
			}
			return words(of(v.run.Result))
		}
	}
	return []Column{
		{Name: "capacity", Kind: Number, Help: "of a [search for it](capacity.md): the answer, the same in all rows", of: number("value")},
		{Name: "capacity_lo", Kind: Number, Help: "lower end of its 95 % interval", of: number("lo")},
		{Name: "capacity_hi", Kind: Number, Help: "upper end of it", of: number("hi")},
		{Name: "capacity_unit", Kind: Text, repeats: true, Help: "unit of the three", of: text(func(r *result.Result) string { return r.Capacity.Unit })},
		{Name: "capacity_outcome", Kind: Text, repeats: true, Help: "`outcome` of the search, as in `result.json`", of: text(func(r *result.Result) string { return r.Capacity.Outcome })},
	}
}
