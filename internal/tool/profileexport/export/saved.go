package export

import (
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/profileexport"
)

// Endpoint is the path of a target's endpoint, by which readers of the file know what its
// requests and answers are; empty: it has none, as Triton's own protocol.
func Endpoint(t *plan.Target) string {
	if path := strings.TrimPrefix(t.Path, "/"); path != "" {
		return path
	}
	switch t.Endpoint {
	case plan.EndpointChat, plan.EndpointMessages, plan.EndpointResponses:
		return "v1/chat/completions"
	case plan.EndpointCompletions:
		return "v1/completions"
	case plan.EndpointEmbeddings:
		return "v1/embeddings"
	case plan.EndpointRankings:
		return "v1/ranking"
	case plan.EndpointRerank:
		return "rerank"
	case plan.EndpointRetrieval:
		return "v1/infer"
	case plan.EndpointTGI:
		return "."
	case plan.EndpointGenerate:
		return "v2/models/" + t.Model + "/generate"
	}
	return ""
}

// Readable are records whose answers every reader of the file understands. They are made
// again of their text unless requests had the form of GenAI-Perf's: it stumbles over answers
// of other protocols, and over usage, which our own requests ask for.
func Readable(f record.File, t *plan.Target) record.File {
	if t.Shaped() {
		return f
	}
	edit := f.Edit
	f.Edit = func(l *record.Line) {
		if edit != nil {
			edit(l)
		}
		if l.Request != nil && len(l.Request.Text) > 0 {
			l.Request.Body = nil
		}
	}
	return f
}

// Saved is the export of any saved run, without what only the run itself knew.
func Saved(version string, p *plan.Plan, records record.File) *Job {
	return &Job{
		Records: Readable(records, &p.Target), Version: version, Service: ServiceOf(&p.Target), Endpoint: Endpoint(&p.Target),
		Stages: p.Stages, Inputs: new(Inputs), Target: p.Target,
	}
}

// ServiceOf is the kind of service that a target is.
func ServiceOf(t *plan.Target) string {
	switch t.Protocol {
	case plan.ProtocolTriton, plan.ProtocolTFServing, plan.ProtocolTorchServe:
		return t.Protocol
	}
	return profileexport.OpenAI
}
