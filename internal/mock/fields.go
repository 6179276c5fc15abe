package mock

// known says whether vLLM takes the body field.
func known(a api, field string) bool {
	switch a {
	case messages:
		return knownMessage(field)
	case ranking, rerank, retrieval:
		return knownRanking(a, field)
	case tgi:
		return knownTGI(field)
	}
	switch field {
	case "model", "user", "priority", "request_id", "truncate_prompt_tokens", "add_special_tokens", "mm_processor_kwargs", "cache_salt":
		return true
	}
	if a == embeddings {
		return knownEmbedding(field)
	}
	return knownSampling(field) || a == chat && knownChat(field) || a == completions && knownCompletion(field)
}

func knownSampling(field string) bool {
	switch field {
	case "frequency_penalty", "logit_bias", "logprobs", "max_tokens", "n", "presence_penalty", "response_format", "seed", "stop", "stream",
		"stream_options", "temperature", "top_p", "use_beam_search", "top_k", "min_p", "repetition_penalty", "length_penalty",
		"stop_token_ids", "include_stop_str_in_output", "ignore_eos", "min_tokens", "skip_special_tokens", "spaces_between_special_tokens",
		"allowed_token_ids", "prompt_logprobs", "bad_words", "echo", "guided_json", "guided_regex", "guided_choice", "guided_grammar",
		"guided_decoding_backend", "guided_whitespace_pattern", "structural_tag", "structured_outputs", "logits_processors",
		"return_tokens_as_token_ids", "return_token_ids", "kv_transfer_params", "vllm_xargs":
		return true
	}
	return false
}

func knownChat(field string) bool {
	switch field {
	case "messages", "top_logprobs", "max_completion_tokens", "tools", "tool_choice", "parallel_tool_calls", "reasoning_effort",
		"include_reasoning", "add_generation_prompt", "continue_final_message", "documents", "chat_template", "chat_template_kwargs":
		return true
	}
	return false
}

func knownCompletion(field string) bool {
	switch field {
	case "prompt", "prompt_embeds", "best_of", "suffix":
		return true
	}
	return false
}

func knownEmbedding(field string) bool {
	switch field {
	case "input", "encoding_format", "dimensions", "additional_data", "normalize", "embed_dtype", "endianness":
		return true
	}
	return false
}
