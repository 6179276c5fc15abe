package export

import (
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// Endpoint is the path of a target's endpoint, by which readers of the file know what its
// requests and answers are; empty: it has none, as Triton's own protocol.
func Endpoint(t *plan.Target) string {
	if path := strings.TrimPrefix(t.Path, "/"); path != "" {
		return path
	}
	switch t.Endpoint {
	case plan.EndpointChat, plan.EndpointMessages:
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
