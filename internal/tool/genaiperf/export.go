package genaiperf

import (
	"errors"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/lib/orderedjson"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
	"github.com/inferometer/inferometer/internal/tool/profileexport"
	"github.com/inferometer/inferometer/internal/tool/profileexport/export"
)

// analyzer is the version of Perf Analyzer that the profile export names: its
// own builds from source name no other.
const analyzer = "0.0.0"

// export goes over the records of the run: it writes the profile export and works out
// the summary.
func (t *job) export() (*dialect.Summary, error) {
	w, err := measured(t.records, t.stage)
	if err != nil {
		return nil, err
	}
	if len(t.plan.Probes.Scrape) > 0 {
		t.telemetry(w.looks)
	}
	known := t.known()
	o := t.dialect(known)
	if t.set.Plots {
		o.Gap, o.Each = t.drawn.gap, t.drawn.add
	}
	fold := dialect.NewFold(o)
	bySession := map[string]*dialect.Fold{}
	var begun []string // the sessions, in the order in which the export has them
	analyzed := t.analyzed(w)
	err = t.write(t.set.ExportFile, func(out io.Writer) error {
		doc := profileexport.Document{Version: analyzer, ServiceKind: t.set.ServiceKind, Endpoint: t.set.Endpoint}
		load := profileexport.Load{Mode: "concurrency", Value: float64(t.set.Concurrency)}
		if t.set.Concurrency == 0 {
			load = profileexport.Load{Mode: "request_rate", Value: t.set.Rate}
		}
		file := profileexport.NewWriter(out, doc, load)
		echoing, err := t.echoing(&doc, w.header.Start.UnixNano())
		if err != nil {
			return err
		}
		start := w.header.Start.UnixNano()
		err = t.records.Requests(func(rec *record.Record) error {
			if rec.Stage != t.stage || !w.has(rec, t.set.Interval > 0) {
				return nil
			}
			if t.set.Analyzed() {
				analyzed.add(rec)
			}
			t.kept = t.outputOf(rec)
			e := known(rec)
			var req profileexport.Request
			if rec.Failure == nil && e != nil {
				var err error
				if req, err = t.exported(rec, start, e); err != nil {
					return err
				}
				if rec, err = echoing(rec, &req); err != nil {
					return err
				}
			}
			fold.Add(rec)
			if e != nil && rec.Session != "" {
				if bySession[rec.Session] == nil {
					bySession[rec.Session] = t.sessionFold(known)
					begun = append(begun, rec.Session)
				}
				bySession[rec.Session].Add(rec)
			}
			if rec.Failure == nil && e != nil {
				file.Add(&req)
			}
			return nil
		})
		return errors.Join(err, file.Close(w.boundaries(t.set)))
	})
	if t.set.Analyzed() {
		t.analysis = analyzed
	}
	for _, name := range begun {
		if s := bySession[name].Summary(); s.Requests > s.Empty { // the original has no figures for a session that said nothing
			t.sessions = append(t.sessions, dialect.Session{Name: name, Summary: s})
		}
	}
	return fold.Summary(), err
}

// echoing gives a record as the original sees it: with the prompt that an answer of
// Triton's may begin with. Unless it is asked for, the record is what it was.
func (t *job) echoing(doc *profileexport.Document,
	start int64) (func(*record.Record, *profileexport.Request) (*record.Record, error), error) {
	if !t.set.Faithful || t.set.ServiceKind != "triton" && t.set.EndpointType != "generate" {
		return func(rec *record.Record, _ *profileexport.Request) (*record.Record, error) { return rec, nil }, nil
	}
	decode, err := t.decoder()
	return func(rec *record.Record, req *profileexport.Request) (*record.Record, error) {
		seen := new(record.Exchange)
		if err := doc.Record(&seen.Record, req, uint64(start)); err != nil {
			return nil, err
		}
		decode(seen)
		seen.Prompt, seen.Session = rec.Prompt, rec.Session
		return &seen.Record, nil
	}, err
}

// window is what the record file says of the measured part.
type window struct {
	header record.Header
	mark   record.StageSummary
	ended  bool // the stage came to its end, and mark is set
	looks  []record.Probe
}

// has reports whether a request belongs to the measured part: of one that was timed,
// only what ended in time.
func (w *window) has(rec *record.Record, timed bool) bool {
	return rec.Phase == record.Measured && (!timed || !w.ended || rec.End <= w.mark.SendEnd)
}

// boundaries are where the windows of a measurement begin and end, as the profile export has
// them. Sessions have one, of all time.
func (w *window) boundaries(s *args.Settings) []uint64 {
	if s.SessionConcurrency > 0 {
		return []uint64{0, math.MaxUint64}
	}
	end := w.mark.DrainEnd // of a number of requests, the answer to the last of them
	if s.Interval > 0 || !w.ended {
		end = w.mark.SendEnd
	}
	at := func(d time.Duration) uint64 { return uint64(w.header.Start.UnixNano() + int64(d)) }
	list := []uint64{at(w.mark.WarmupEnd)}
	if s.Interval > 0 {
		// A last one that is shorter by less than half belongs to the one ahead of it.
		for next := w.mark.WarmupEnd + s.Interval; next < end-s.Interval/2; next += s.Interval {
			list = append(list, at(next))
		}
	}
	return append(list, at(end))
}

// measured reads when the measured part of a stage began and ended.
func measured(records record.File, stage int) (*window, error) {
	w := new(window)
	_, err := records.Walk(func(l record.Line) error {
		switch {
		case l.Header != nil:
			w.header = *l.Header
		case l.Stage != nil && l.Stage.Stage == stage:
			w.mark, w.ended = *l.Stage, true
		case l.Probe != nil && len(l.Probe.Pages) > 0:
			w.looks = append(w.looks, *l.Probe)
		case l.Request != nil && !w.ended && l.Request.Stage == stage: // the file of a killed run has no end
			w.mark.SendEnd = max(w.mark.SendEnd, l.Request.End)
		}
		return nil
	})
	return w, err
}

// sessionFold is for the figures of one session, of which the original says no goodput.
func (t *job) sessionFold(known requests) *dialect.Fold {
	o := t.dialect(known)
	o.Goodput = nil
	return dialect.NewFold(o)
}

func (t *job) dialect(known requests) dialect.Options {
	o := dialect.Options{
		Release: dialect.Release(t.set.Shape), Protocol: t.set.ServiceKind, Faithful: t.set.Faithful, Count: t.count,
		Empty: t.set.EndpointType == "huggingface_generate", Visible: t.visible(),
		Input: func(rec *record.Record) (int, bool) {
			e := known(rec)
			if e == nil {
				return 0, false
			}
			n := t.length(e)
			return n, n > 0 || t.tok != nil
		},
	}
	if t.set.Plain() {
		o.Kind = dialect.Plain
	}
	if t.set.EndpointType == "image_retrieval" {
		o.Kind = dialect.Images
		o.Pictures = func(rec *record.Record) int {
			if e := known(rec); e != nil {
				return e.images()
			}
			return 0
		}
	}
	if p, ok := t.tok.(token.Placer); ok {
		o.Pieces = func(text string, cuts []int) []int { return token.PerEvent(nil, p, text, cuts) }
	}
	for _, g := range t.set.Goodput {
		o.Goodput = append(o.Goodput, dialect.Bound{Metric: g.Metric, Value: g.Value})
	}
	return o
}

// count is the number of tokens in the text of an answer: what was kept of it, where there
// is nothing to count with.
func (t *job) count(text string) int {
	if t.tok == nil {
		return t.kept
	}
	return t.tok.Count(text)
}

// outputOf is what the run counted of an answer: by the model's own tokenizer where it had it,
// as GenAI-Perf counts.
func (t *job) outputOf(rec *record.Record) int {
	if by := t.plan.Tokenizer; rec.Out.Local >= 0 && (by.Output || !by.StandIn()) {
		return rec.Out.Local
	}
	return rec.Out.N
}

// length is the length of a prompt, counted once.
func (t *job) length(e *entry) int {
	if e.tokens == 0 && t.tok != nil {
		e.tokens = t.tok.Count(t.said(&e.prompt))
	}
	return e.tokens
}

func (t *job) exported(rec *record.Record, start int64, e *entry) (profileexport.Request, error) {
	var fields profileexport.Fields
	if t.saved && t.set.ServiceKind == "triton" {
		return profileexport.FromTriton(rec, start, nil), nil
	}
	for _, m := range t.input(&e.prompt) {
		if m.Name == "payload" && e.prompt.Body == nil {
			break // it was not kept
		}
		if m.Name == "model" {
			continue
		}
		value, err := orderedjson.Compact(m.Value)
		if err != nil {
			return profileexport.Request{}, err
		}
		if m.Name == "payload" { // as a text
			fields = append(fields, profileexport.Text("payload", string(value)))
			continue
		}
		fields = append(fields, profileexport.Field{Name: m.Name, Value: value})
	}
	if t.model != nil {
		return (&export.ResponseFormat{Target: t.plan.Target, Tensors: t.model}).Request(rec, start, fields), nil
	}
	if e.prompt.Session != "" {
		fields = append(fields, profileexport.Text("session_id", e.prompt.Session))
	}
	if e.pauses {
		fields = append(fields, profileexport.Field{Name: "delay", Value: strconv.AppendInt(nil, e.delay.Milliseconds(), 10)})
	}
	return profileexport.FromOpenAI(rec, start, fields), nil
}
