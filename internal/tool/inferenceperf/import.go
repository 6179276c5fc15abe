package inferenceperf

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/pattern"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/importer"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/reader"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/report"
)

// importRun makes an output directory of a report of single requests: of its file, or of a
// directory with one. The reports of stages beside it say what the load was.
func importRun(env tool.Env, from tool.From, dir string) (*tool.Imported, error) {
	name := from.Path
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		found, _ := filepath.Glob(filepath.Join(name, "*"+report.PerRequestFile))
		switch {
		case len(found) == 0:
			return nil, nil
		case len(found) > 1:
			return nil, fmt.Errorf("there are several per-request reports: choose one of %s", strings.Join(found, ", "))
		}
		name = found[0]
	}
	if !strings.HasSuffix(name, report.PerRequestFile) && !isPerRequest(name) {
		return nil, nil
	}
	text, err := tool.ReadFile(name)
	if err != nil {
		return nil, err
	}
	list, err := reader.Requests(text)
	if err == nil && len(list) == 0 {
		err = errors.New("it has no requests")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	slices.SortStableFunc(list, func(a, b reader.Request) int { return cmp.Compare(a.Start, b.Start) })
	p := plan.Default()
	p.DrawSeed, p.Output = false, plan.Output{Dir: dir, KeepRaw: list[0].Body != ""}
	p.Target.Streaming, p.Target.Model = list[0].Streamed(), list[0].Model()
	p.Stages = stagesOf(list, filepath.Dir(name))
	start := list[0].Start
	if due := list[0].Scheduled; due != nil {
		start = min(start, *due)
	}
	header := record.Header{Version: env.Version, Decoder: p.Target.Protocol, Start: time.Unix(0, int64(start*float64(time.Second)))}
	return &tool.Imported{By: "inference-perf", Notes: importNotes()}, saved.Create(&p, header, func(add func(*record.Record) error) error {
		for i := range list {
			if err := add(recordOf(&list[i], int64(i), start)); err != nil {
				return err
			}
		}
		return nil
	})
}

// isPerRequest looks into a file of another name for what only such a report has.
func isPerRequest(name string) bool {
	head, err := importer.ReadHead(name)
	return err == nil && strings.HasPrefix(strings.TrimSpace(head.Begin), "[") && strings.Contains(head.Begin, `"start_time"`) && strings.Contains(head.Begin, `"info"`)
}

// stagesOf are the loads of the stages. The original does not say which of them a request
// belongs to; they follow one another, and their reports have the numbers of their requests.
func stagesOf(list []reader.Request, dir string) []plan.Stage {
	loads, err := reader.Read(os.DirFS(dir))
	if err != nil {
		loads = new(reader.Report) // only the requests can say it
	}
	var numbers []int // the stage of each request
	for _, l := range loads.Stages {
		for range min(l.Count, len(list)+1) {
			numbers = append(numbers, l.Number)
		}
	}
	last := 0
	for i := range list {
		if list[i].Stage == nil {
			list[i].Stage = new(int)
			if len(numbers) == len(list) {
				*list[i].Stage = numbers[i]
			}
		}
		last = max(last, *list[i].Stage)
	}
	stages, begin, end := make([]plan.Stage, last+1), make([]float64, last+1), make([]float64, last+1)
	for _, r := range list {
		i := *r.Stage
		if stages[i].Requests++; stages[i].Requests == 1 {
			begin[i] = r.Start
		}
		end[i] = max(end[i], r.End)
	}
	for i := range stages {
		s := &stages[i]
		if s.Rate = 1; end[i] > begin[i] { // the achieved rate, where the requested one is unknown
			s.Rate = float64(s.Requests) / (end[i] - begin[i])
		}
		s.Requests = max(s.Requests, 1)
		k := slices.IndexFunc(loads.Stages, func(l reader.StageReport) bool { return l.Number == i })
		if k < 0 {
			continue
		}
		if l := &loads.Stages[k]; l.Concurrency >= 1 {
			s.Rate, s.Concurrency = 0, int(l.Concurrency)
		} else if l.Requested != nil && *l.Requested > 0 {
			s.Rate = *l.Requested
		}
	}
	return stages
}

// recordOf is an entry as a record. Where the file has no texts, a token is a blank, so that
// those who measure texts find as many.
func recordOf(r *reader.Request, seq int64, start float64) *record.Record {
	at := func(t float64) time.Duration { return time.Duration(math.Round((t - start) * float64(time.Second))) }
	rec := &record.Record{
		Seq: seq, Stage: *r.Stage, Session: r.Session, Model: r.Info.Adapter,
		Due: at(r.Start), Ready: at(r.Start), Sent: at(r.Start), Written: at(r.Start), End: at(r.End),
		RequestBody: []byte(r.Body), Size: len(r.Body), Streamed: r.Streamed(), Cached: -1, Status: 200, Conn: record.Conn{Reused: true},
		In: record.Tokens{N: r.Info.Input, Source: record.FromTokenizer, Local: r.Info.Input}, Out: record.Tokens{Local: -1},
	}
	if r.Scheduled != nil {
		rec.Due = min(at(*r.Scheduled), rec.Sent)
	}
	if r.UsageIn() >= 0 {
		rec.In.Source = record.FromServer
	}
	if r.Error != nil {
		rec.Failure = failureOf(r.Error.Type, r.Error.Message)
		rec.Failure.At = rec.End
		return rec
	}
	a := &r.Info.Response
	rec.Out = record.Tokens{N: a.Output, Source: record.FromTokenizer, Local: a.Output}
	if n := r.Usage(); n >= 0 {
		rec.Out.N, rec.Out.Source = n, record.FromServer
	}
	add := func(t time.Duration, label record.EventKind, text string, tokens int) {
		if text == "" {
			text = strings.Repeat(" ", tokens)
		}
		t = min(max(t, rec.Sent), rec.End)
		rec.Marks = append(rec.Marks, record.Read{Kernel: t, User: t})
		rec.Events = append(rec.Events, record.Event{Mark: len(rec.Marks) - 1, Label: label, Text: len(text), Tokens: tokens})
		rec.Text = append(rec.Text, text...)
	}
	if !rec.Streamed {
		add(rec.End, record.Whole, reader.Text(r.Answer), a.Output)
		return rec
	}
	times := a.ChunkTimes
	if len(times) == 0 {
		times = slices.Compact(slices.Clone(a.TokenTimes))
	}
	tokens := map[float64]int{}
	for _, t := range a.TokenTimes {
		tokens[t]++
	}
	for i, t := range times {
		text := ""
		if i < len(a.Chunks) {
			text = reader.Text(a.Chunks[i])
		}
		add(at(t), record.Content, text, max(tokens[t], 1))
		delete(tokens, t)
	}
	return rec
}

// exceptions are the classes of failures whose message is about a connection.
var exceptions = map[string]record.Class{
	"ClientConnectorDNSError": record.ResolveFailed,
	"ClientConnectorSSLError": record.TLSFailed,
	"ServerDisconnectedError": record.Dropped,
	"ClientPayloadError":      record.Truncated,
}

// failureOf is the failure that an exception stands for. The original decides by the
// message what it counts one under, and so does this; one that has no class keeps its name.
func failureOf(exception, message string) *record.Failure {
	f := &record.Failure{Class: record.Class(exception), Message: message}
	if code, ok := strings.CutPrefix(exception, "HTTP Error "); ok {
		f.Class = record.HTTPStatus
		f.Status, _ = strconv.Atoi(code)
		return f
	}
	class := exceptions[exception]
	switch words := strings.ToLower(message); {
	case timedOut().MatchString(words):
		f.Class = record.TimedOut
	case strings.Contains(words, "connect"):
		f.Class = record.ConnectFailed
		if class != "" && class != record.Truncated {
			f.Class = class
		}
	case class == record.Truncated:
		f.Class, f.Status = class, 200
	}
	return f
}

var timedOut = pattern.New(`timeout|timed.?out`)
