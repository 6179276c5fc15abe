package genaiperf

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	"github.com/inferometer/inferometer/internal/tool/profileexport"
)

// importRun makes an output directory of a profile export, or of a directory with one.
func importRun(env tool.Env, from tool.From, dir string) (*tool.Imported, error) {
	f := folder{export: from.Path}
	if info, err := os.Stat(from.Path); err == nil && info.IsDir() {
		if !IsFolder(from.Path) {
			return nil, nil
		}
		if f, err = findFolder(from.Path); err != nil {
			return nil, err
		}
	} else if !isExport(from.Path) {
		return nil, nil
	}
	p := plan.Default()
	r := &reading{job: job{env: env.Unwatched(), set: &args.Settings{Tokenizer: from.Tokenizer, TokenizerGiven: from.Tokenizer != ""}, plan: &p}}
	if err := r.load(f); err != nil {
		return nil, err
	}
	r.docs[0].Any = true
	if err := r.settings(context.Background()); err != nil {
		return nil, err
	}
	r.describePlan(dir)
	header := record.Header{Version: env.Version, Decoder: p.Target.Protocol, Start: time.Unix(0, int64(r.docs[0].Base()))}
	return &tool.Imported{By: "GenAI-Perf or Perf Analyzer", Notes: importNotes()}, saved.Create(&p, header, func(add func(*record.Record) error) error {
		n := int64(0)
		return r.each(true, func(rec *record.Record, req *profileexport.Request) error {
			rec.Seq, n = n, n+1
			r.counted(rec)
			if payload, ok := req.Inputs.Text("payload"); ok {
				rec.RequestBody = []byte(payload)
			}
			rec.Session, _ = req.Inputs.Text("session_id")
			if req.Error != "" {
				class, text, _ := strings.Cut(req.Error, " ")
				rec.Failure = &record.Failure{Class: record.Class(class), Message: text, At: rec.End}
			}
			return add(rec)
		})
	})
}

// counted counts the tokens of a request and its answer as GenAI-Perf does.
func (r *reading) counted(rec *record.Record) {
	if n := r.tok.Count(r.current); r.asked {
		rec.In = record.Tokens{N: n, Source: record.FromTokenizer, Local: n}
	}
	if rec.Out.Local = r.tok.Count(string(rec.Text)); rec.Out.Source != record.FromServer {
		rec.Out.N, rec.Out.Source = rec.Out.Local, record.FromTokenizer
	}
}

// describePlan says in the plan what was measured, and how.
func (r *reading) describePlan(dir string) {
	p, doc := r.plan, r.docs[0]
	p.DrawSeed, p.Output, p.Tokenizer.Output = false, plan.Output{Dir: dir, KeepRaw: true}, true
	t, answers := &p.Target, r.answers()
	t.Protocol, t.Transport, t.Endpoint, t.Triton, t.Streaming = answers.Protocol, answers.Transport, answers.Endpoint, answers.Triton,
		r.set.Streaming
	if doc.ServiceKind != profileexport.OpenAI {
		t.Protocol, t.Transport, t.Endpoint, t.Streaming = plan.ProtocolTriton, plan.TransportGRPC, plan.EndpointStream, true
		if r.set.Backend == "vllm" {
			t.Triton.Convention = plan.ConventionVLLM
		}
	} else if path := strings.TrimPrefix(doc.Endpoint, "/"); path != "" && t.Endpoint != plan.EndpointGenerate {
		t.Path = "/" + path
	}
	t.Form = plan.FormShaped
	if len(r.set.Models) > 0 {
		t.Model = r.set.Models[0]
	}
	p.Stages = nil
	for i := range doc.Experiments {
		e := &doc.Experiments[i]
		st := plan.Stage{Requests: int64(max(len(e.Requests), 1)), Rate: e.Load.Value}
		if e.Load.Mode == "concurrency" || st.Rate <= 0 {
			st.Concurrency, st.Rate = max(int(e.Load.Value), 1), 0
		}
		p.Stages = append(p.Stages, st)
	}
}
