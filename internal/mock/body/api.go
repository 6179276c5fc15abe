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
)

// Prefix is what the ids of responses begin with.
func (a API) Prefix() string {
	return [...]string{
		Chat: "chatcmpl-", Completions: "cmpl-", Embeddings: "embd-", Triton: "triton-", Messages: "msg_",
		Ranking: "rank-", Rerank: "rank-", Retrieval: "infer-", TGI: "tgi-",
		Responses: "resp_", SGLang: "",
	}[a]
}

// content is the body field that holds the prompt.
func (a API) content() string {
	return [...]string{
		Chat: "messages", Completions: "prompt", Embeddings: "input", Triton: "", Messages: "messages",
		Ranking: "passages", Rerank: "texts", Retrieval: "input", TGI: "inputs",
		Responses: "input", SGLang: "text",
	}[a]
}

// Generates says whether responses are text that a model writes.
func (a API) Generates() bool {
	return a == Chat || a == Completions || a == Messages || a == TGI || a == Responses || a == SGLang
}

// Speaks says whether responses are a chat's: they may reason and call tools.
func (a API) Speaks() bool { return a == Chat || a == Messages || a == Responses }
