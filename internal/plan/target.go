package plan

import "slices"

// ProtocolHTTP are servers that take JSON and answer with JSON in a form of their own.
const ProtocolHTTP = "http"

// The endpoints of such servers.
const (
	EndpointRankings     = "rankings"             // NVIDIA's: how well passages fit a query
	EndpointRerank       = "rerank"               // the same of Text Embeddings Inference
	EndpointRetrieval    = "image_retrieval"      // NVIDIA's: what is in images
	EndpointTGI          = "huggingface_generate" // Text Generation Inference
	EndpointSGLang       = "sglang"               // SGLang's own
	EndpointCohereRerank = "cohere_rerank"        // Cohere's ranking
	EndpointJinaRerank   = "jina_rerank"          // Jina's, which vLLM and SGLang have too
	EndpointTemplate     = "template"             // bodies out of a template
)

// Endpoints beside those of OpenAI: vLLM's, and OpenAI's for images and sound.
const (
	EndpointScore          = "score"
	EndpointClassify       = "classify"
	EndpointPooling        = "pooling"
	EndpointImages         = "image_generation"
	EndpointTranscriptions = "audio_transcription"
)

// Generates reports whether responses are text that a model writes.
func (t *Target) Generates() bool {
	switch t.Endpoint {
	case EndpointEmbeddings, EndpointRankings, EndpointRerank, EndpointRetrieval, EndpointTemplate, EndpointPredict,
		EndpointCohereRerank, EndpointJinaRerank, EndpointScore, EndpointClassify, EndpointPooling, EndpointImages:
		return false
	}
	return true
}

// Ranks reports whether a request is a query and passages to rank by it.
func (t *Target) Ranks() bool {
	return slices.Contains([]string{EndpointRankings, EndpointRerank, EndpointCohereRerank, EndpointJinaRerank, EndpointScore}, t.Endpoint)
}

// Batches reports whether a request may hold several texts.
func (t *Target) Batches() bool {
	if t.Shaped() && slices.Contains([]string{EndpointCompletions, EndpointGenerate, EndpointTGI}, t.Endpoint) {
		return true
	}
	return t.Ranks() || slices.Contains([]string{EndpointEmbeddings, EndpointClassify, EndpointPooling, EndpointTemplate}, t.Endpoint)
}

// TemplateEmbedQA is built in: a list of texts as NVIDIA's embedding model for questions takes it.
const TemplateEmbedQA = "nv-embedqa"

// Retries say how often a request goes again that no server answered: no connection was
// made, or it broke before the first byte of the response.
type Retries struct {
	Count   int
	Backoff Duration
}

// What a closed loop does with the Retry-After of a server that is busy.
const (
	RetryHonor  = "honor"
	RetryIgnore = "ignore"
)

// ProtocolAnthropic is Anthropic's messages API; EndpointMessages is its endpoint.
const (
	ProtocolAnthropic = "anthropic"
	EndpointMessages  = "messages"
)

// Chats reports whether requests are chats, around which the server puts its template.
func (t *Target) Chats() bool {
	return t.Endpoint == EndpointChat || t.Endpoint == EndpointMessages || t.Endpoint == EndpointResponses
}

// SessionHeaders tie the requests of a session together for routers.
type SessionHeaders struct {
	ID    string
	Token string
}

// SLOHeaders are request headers that tell the server a request's objectives. What
// they say is the request's own objective of goodput.
type SLOHeaders struct {
	TTFT string
	TPOT string
	Unit string
}
