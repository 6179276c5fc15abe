// Package export makes a profile export, Perf Analyzer's file of every request, from a run's
// records.
package export

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/inferometer/inferometer/internal/endpoint/triton"
	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result/build"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/tool/profileexport"
)

// Inputs remembers what requests carried, by the hash of their content. It may be used
// concurrently.
type Inputs struct {
	mu     sync.Mutex
	fields map[uint64]func() profileexport.Fields
}

// Add notes a content that is not known yet; fields makes what the export writes of it.
func (in *Inputs) Add(hash uint64, fields func() profileexport.Fields) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.fields == nil {
		in.fields = map[uint64]func() profileexport.Fields{}
	}
	if in.fields[hash] == nil {
		in.fields[hash] = sync.OnceValue(fields)
	}
}

func (in *Inputs) fieldsOf(hash uint64) profileexport.Fields {
	in.mu.Lock()
	defer in.mu.Unlock()
	if fields := in.fields[hash]; fields != nil {
		return fields()
	}
	return nil
}

// Job is one export.
type Job struct {
	Name    string // the file to write
	Records record.File
	Version string // of the program
	Service string // profileexport.OpenAI or profileexport.Triton
	// Endpoint is the path of an OpenAI endpoint.
	Endpoint string
	Stages   []plan.Stage // that were begun
	Inputs   *Inputs
	// Target is who was asked, and Tensors the model there; nil means answers are texts.
	Target  plan.Target
	Tensors *tensor.Signature
	// Faithful: tensors are written as Perf Analyzer does where it is wrong.
	Faithful bool
	// Sessions: requests are turns of sessions, whose bodies are known from the records
	// alone. Perf Analyzer writes those as a rate of 0 with one window, of all time.
	Sessions bool
	// Delay is the pause that the data says there is after a turn of a session, in milliseconds;
	// false, or no Delay: it says none.
	Delay func(session string, turn int) (ms int64, ok bool)
	// Periodic: the load grew with the responses. Perf Analyzer writes a concurrency of 1 with such
	// a window.
	Periodic bool
}

// experiment is a stage of the record file: its windows, from the first to the last.
type experiment struct {
	load     profileexport.Load
	from, to int64 // nanoseconds on the run's clock
	windows  []uint64
}

// has reports whether a request is exported: it ended within a window, as windows see it.
func (e *experiment) has(rec *record.Record) bool {
	if rec.Phase != record.Measured {
		return false
	}
	end := int64(sweep.SampleOf(rec).End)
	return e.from < end && end <= e.to
}

// answered reports whether a request is one of those that Perf Analyzer takes for good: it
// does not see an error in the words of an OpenAI server.
func (j *Job) answered(rec *record.Record) bool {
	if rec.Failure == nil {
		return true
	}
	said := rec.Failure.Class == record.StreamError || rec.Failure.Class == record.Aborted || rec.Failure.Class == record.BadBody
	return j.Service == profileexport.OpenAI && said && rec.Status == http.StatusOK && len(rec.Body) > 0
}

// Write writes every request that ended in a window, stage by stage. A stage that was
// not measured in windows is one from its first request to its last.
func Write(j Job) error {
	if err := atomicfile.Write(j.Name, j.Encode); err != nil {
		return fmt.Errorf("writing the profile export: %w", err)
	}
	return nil
}

// Encode writes the same to w.
func (j *Job) Encode(w io.Writer) error {
	start, list, err := j.experiments()
	if err != nil {
		return err
	}
	return j.write(w, start, list)
}

func (j *Job) write(w io.Writer, start int64, list []experiment) error {
	doc := profileexport.Document{Version: j.Version, ServiceKind: j.Service, Endpoint: plan.SafeURL(j.Endpoint)}
	if len(list) == 0 {
		list = []experiment{{load: profileexport.Load{Mode: "concurrency", Value: 1}}}
	}
	file := profileexport.NewWriter(w, doc, list[0].load)
	for i := range list {
		if i > 0 {
			file.Next(list[i-1].windows, list[i].load)
		}
		// add writes the requests that were answered, or those that were not, and counts the others.
		add := func(answered bool) (others int, err error) {
			err = j.Records.Requests(func(rec *record.Record) error {
				switch {
				case rec.Stage != i || !list[i].has(rec):
				case j.answered(rec) == answered:
					r := j.request(rec, start)
					file.Add(&r)
				default:
					others++
				}
				return nil
			})
			return others, err
		}
		failed, err := add(true)
		if err == nil && failed > 0 {
			file.Failed()
			_, err = add(false)
		}
		if err != nil {
			return err
		}
	}
	return file.Close(list[len(list)-1].windows)
}

func (j *Job) request(rec *record.Record, start int64) profileexport.Request {
	fields := j.Inputs.fieldsOf(rec.Prompt)
	switch {
	case j.Sessions:
		fields = j.turn(rec)
	case fields == nil && len(rec.RequestBody) > 0 && j.Service == profileexport.OpenAI:
		fields = profileexport.Fields{profileexport.Text("payload", string(rec.RequestBody))}
	}
	var r profileexport.Request
	switch {
	case j.Service == profileexport.OpenAI:
		r = profileexport.FromOpenAI(rec, start, fields)
	case j.Tensors != nil:
		r = (&ResponseFormat{j.Target, j.Tensors, j.Faithful}).Request(rec, start, fields)
	default:
		r = profileexport.FromTriton(rec, start, fields)
	}
	apart(r.Moments)
	if f := rec.Failure; f != nil {
		r.Error = strings.TrimSpace(string(f.Class) + " " + f.Message)
	}
	if id, err := strconv.ParseUint(rec.Session, 10, 64); err == nil && !j.Sessions {
		r.SequenceID = id
	}
	return r
}

func (j *Job) turn(rec *record.Record) profileexport.Fields {
	fields := profileexport.Fields{profileexport.Text("payload", string(rec.RequestBody)), profileexport.Text("session_id", rec.Session)}
	if j.Delay != nil {
		if ms, ok := j.Delay(rec.Session, rec.Turn); ok {
			fields = append(fields, profileexport.Field{Name: "delay", Value: strconv.AppendInt(nil, ms, 10)})
		}
	}
	return fields
}

// apart sets times that are the same a nanosecond apart: responses of one read have one
// stamp, and GenAI-Perf divides by the time between them.
func apart(moments []uint64) {
	for i := 1; i < len(moments); i++ {
		moments[i] = max(moments[i], moments[i-1]+1)
	}
}

// experiments reads where the windows of every stage lie.
func (j *Job) experiments() (start int64, list []experiment, err error) {
	var edges []record.Edge
	marks := map[int]record.StageSummary{}
	_, err = j.Records.Walk(func(l record.Line) error {
		switch {
		case l.Header != nil:
			start = l.Header.Start.UnixNano()
		case l.Edge != nil && l.Edge.Worker == 0: // those of workers say no more
			edges = append(edges, *l.Edge)
		case l.Stage != nil:
			marks[l.Stage.Stage] = *l.Stage
		}
		return nil
	})
	for i, s := range j.Stages {
		e := experiment{load: profileexport.Load{Mode: "concurrency", Value: float64(s.Concurrency)}}
		if s.Concurrency == 0 || j.Sessions {
			e.load = profileexport.Load{Mode: "request_rate", Value: s.PerSecond()}
		}
		own := build.EdgesOf(edges, i)
		if m, ok := marks[i]; ok && len(own) < 2 {
			own = []record.Edge{{At: m.WarmupEnd - 1}, {At: m.DrainEnd}}
		} else if !ok && len(own) < 2 { // it was killed
			e.from, e.to = -1, math.MaxInt64
		}
		for _, edge := range own {
			e.windows = append(e.windows, uint64(start+int64(edge.At)))
		}
		if len(own) > 1 {
			e.from, e.to = int64(own[0].At), int64(own[len(own)-1].At)
		}
		if j.Periodic {
			e.load.Value = 1
		}
		if j.Periodic || j.Sessions {
			e.windows = []uint64{0, math.MaxUint64}
		}
		list = append(list, e)
	}
	return start, list, err
}

// ResponseFormat is how a model's answers become those of the file.
type ResponseFormat struct {
	Target   plan.Target
	Tensors  *tensor.Signature
	Faithful bool // in the original's form
}

// Request is a request whose answer is tensors: each response has every output of the
// model, those that did not come as an empty text. So does the one that only ends a stream.
func (a *ResponseFormat) Request(rec *record.Record, start int64, inputs profileexport.Fields) profileexport.Request {
	r := profileexport.Request{Timestamp: uint64(start + int64(rec.Sent)), Inputs: inputs}
	responses, _ := triton.Responses(rec.Body, &a.Target) // what cannot be read is a failure that the record names
	for i := range responses {
		if responses[i].Error != "" || len(rec.Marks) == 0 {
			continue
		}
		at := slices.IndexFunc(rec.Marks, func(m record.Read) bool { return m.Off >= responses[i].End })
		if at < 0 {
			at = len(rec.Marks) - 1
		}
		r.Moments = append(r.Moments, uint64(start+int64(rec.Marks[at].Time())))
		r.Responses = append(r.Responses, a.outputs(responses[i].Outputs))
	}
	return r
}

func (a *ResponseFormat) outputs(came []tensor.Tensor) profileexport.Fields {
	var f profileexport.Fields
	for _, o := range a.Tensors.Outputs {
		at := slices.IndexFunc(came, func(t tensor.Tensor) bool { return t.Name == o.Name })
		if at < 0 {
			f = append(f, profileexport.Field{Name: o.Name, Value: json.RawMessage(`""`)})
			continue
		}
		f = append(f, profileexport.FromTensor(&came[at], a.Faithful))
	}
	return f
}
