package mock

// api is one of the inference endpoints.
type api int

const (
	chat api = iota
	completions
	embeddings
	tritonAPI
	messages  // Anthropic's
	ranking   // NVIDIA's
	rerank    // of Text Embeddings Inference
	retrieval // NVIDIA's, of objects in images
	tgi       // of Text Generation Inference
)

// prefixes are what the ids of answers begin with.
func (a api) prefix() string {
	return [...]string{
		chat: "chatcmpl-", completions: "cmpl-", embeddings: "embd-", tritonAPI: "triton-", messages: "msg_",
		ranking: "rank-", rerank: "rank-", retrieval: "infer-", tgi: "tgi-",
	}[a]
}

// content is the body field that holds the prompt.
func (a api) content() string {
	return [...]string{
		chat: "messages", completions: "prompt", embeddings: "input", tritonAPI: "", messages: "messages",
		ranking: "passages", rerank: "texts", retrieval: "input", tgi: "inputs",
	}[a]
}

// generates says whether answers are text that a model writes.
func (a api) generates() bool {
	return a == chat || a == completions || a == messages || a == tgi
}

// speaks says whether answers are a chat's: they may reason and call tools.
func (a api) speaks() bool { return a == chat || a == messages }
