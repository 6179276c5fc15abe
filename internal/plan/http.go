package plan

import "slices"

// ProtocolHTTP are servers that take JSON and answer with JSON in a form of their own.
const ProtocolHTTP = "http"

// The endpoints of such servers.
const (
	EndpointRankings  = "rankings"             // NVIDIA's: how well passages fit a query
	EndpointRerank    = "rerank"               // the same of Text Embeddings Inference
	EndpointRetrieval = "image_retrieval"      // NVIDIA's: what is in images
	EndpointTGI       = "huggingface_generate" // Text Generation Inference
	EndpointTemplate  = "template"             // bodies out of a template
)

func httpEndpoints() []string {
	return []string{EndpointRankings, EndpointRerank, EndpointRetrieval, EndpointTGI, EndpointTemplate}
}

// Generates reports whether answers are text that a model writes.
func (t *Target) Generates() bool {
	switch t.Endpoint {
	case EndpointEmbeddings, EndpointRankings, EndpointRerank, EndpointRetrieval, EndpointTemplate, EndpointPredict:
		return false
	}
	return true
}

// Ranks reports whether a request is a query and passages to rank by it.
func (t *Target) Ranks() bool { return t.Endpoint == EndpointRankings || t.Endpoint == EndpointRerank }

// Batches reports whether a request may hold several texts.
func (t *Target) Batches() bool {
	if t.Shaped() && slices.Contains([]string{EndpointCompletions, EndpointGenerate, EndpointTGI}, t.Endpoint) {
		return true
	}
	return slices.Contains([]string{EndpointEmbeddings, EndpointRankings, EndpointRerank, EndpointTemplate}, t.Endpoint)
}

// inferHTTP fills in what the endpoint says.
func (d *Draft) inferHTTP() {
	t := &d.Plan.Target
	if slices.Contains(httpEndpoints(), t.Endpoint) && !d.Given("target.protocol") {
		t.Protocol = ProtocolHTTP
	}
	if !t.Generates() && !d.Given("target.streaming") {
		t.Streaming = false
	}
}

// bare checks what the endpoints of plain HTTP servers need.
func (c *checker) bare(p *Plan) {
	t, d := &p.Target, &p.Data
	if !t.Generates() {
		name := t.Endpoint
		switch {
		case t.Endpoint == EndpointEmbeddings: // has words of its own
		case t.Streaming:
			c.add("target.streaming", name+" returns a single response", "leave it out or set it to false")
		}
		if t.Endpoint != EndpointEmbeddings && d.Output != (Length{}) {
			c.add("data.output", name+" has no output length", "leave it out")
		}
	}
	switch {
	case t.Endpoint == EndpointTemplate && t.Template == "":
		c.add("target.template", "is missing", "give the file that bodies are made from, or "+TemplateEmbedQA)
	case t.Endpoint != EndpointTemplate && t.Template != "":
		c.lacks("target.template", "target.endpoint", "only for endpoint template", "leave it out")
	}
	if t.Endpoint == EndpointRetrieval && d.Media.Image.Count == (Length{}) && d.Source != SourceFile {
		c.lacks("data.media.image.count", "data", "is missing: there would be nothing to look at", "such as 1")
	}
	c.count("data.batch", int64(d.Batch), mostPrompts)
	if d.Batch > 0 && !t.Batches() {
		c.lacks("data.batch", "target.endpoint", "endpoint "+quote(t.Endpoint)+" takes a single text", "leave it out")
	}
}

// TemplateEmbedQA is a template that is built in: a list of texts as NVIDIA's
// embedding model for questions takes it.
const TemplateEmbedQA = "nv-embedqa"
