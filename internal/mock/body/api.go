package body

// API is one of the inference endpoints.
type API int

// The endpoints.
const (
	Chat API = iota
	Completions
	Embeddings
	Triton
	Messages  // Anthropic's
	Ranking   // NVIDIA's
	Rerank    // of Text Embeddings Inference
	Retrieval // NVIDIA's, of objects in images
	TGI       // of Text Generation Inference
	Responses // OpenAI's
	SGLang    // its own
	Documents // rankings as Cohere, Jina and vLLM have them
	Score     // of vLLM, as the next two
	Classify
	Pooling
	Images         // OpenAI's, made
	Transcriptions // OpenAI's and vLLM's
	CountTokens    // Anthropic's
)

// Prefix is what the ids of responses begin with.
func (a API) Prefix() string {
	return [...]string{
		Chat: "chatcmpl-", Completions: "cmpl-", Embeddings: "embd-", Triton: "triton-", Messages: "msg_",
		Ranking: "rank-", Rerank: "rank-", Retrieval: "infer-", TGI: "tgi-",
		Responses: "resp_", SGLang: "", Documents: "rerank-", Score: "score-", Classify: "classify-", Pooling: "pool-",
		Images: "img-", Transcriptions: "trsc-", CountTokens: "",
	}[a]
}

// content is the body field that holds the prompt.
func (a API) content() string {
	return [...]string{
		Chat: "messages", Completions: "prompt", Embeddings: "input", Triton: "", Messages: "messages",
		Ranking: "passages", Rerank: "texts", Retrieval: "input", TGI: "inputs",
		Responses: "input", SGLang: "text", Documents: "documents", Score: "text_2", Classify: "input", Pooling: "input",
		Images: "prompt", Transcriptions: "file", CountTokens: "messages",
	}[a]
}

// Generates says whether responses are text that a model writes.
func (a API) Generates() bool {
	return a == Chat || a == Completions || a == Messages || a == TGI || a == Responses || a == SGLang || a == Transcriptions
}

// Speaks says whether responses are a chat's: they may reason and call tools.
func (a API) Speaks() bool { return a == Chat || a == Messages || a == Responses }

// Ranks says whether responses say how well texts fit another one.
func (a API) Ranks() bool { return a == Ranking || a == Rerank || a == Documents || a == Score }
