package body

import "strings"

// The body fields that vLLM, Text Generation Inference and NVIDIA's services take.
const (
	commonFields   = " model user priority request_id truncate_prompt_tokens add_special_tokens mm_processor_kwargs cache_salt "
	samplingFields = commonFields + "frequency_penalty logit_bias logprobs max_tokens n presence_penalty response_format seed stop stream " +
		"stream_options temperature top_p use_beam_search top_k min_p repetition_penalty length_penalty " +
		"stop_token_ids include_stop_str_in_output ignore_eos min_tokens skip_special_tokens spaces_between_special_tokens " +
		"allowed_token_ids prompt_logprobs bad_words echo guided_json guided_regex guided_choice guided_grammar " +
		"guided_decoding_backend guided_whitespace_pattern structural_tag structured_outputs logits_processors " +
		"return_tokens_as_token_ids return_token_ids kv_transfer_params vllm_xargs "
	sglangParameters = " max_new_tokens min_new_tokens stop stop_token_ids stop_regex temperature top_p top_k min_p frequency_penalty " +
		"presence_penalty repetition_penalty ignore_eos skip_special_tokens spaces_between_special_tokens no_stop_trim n json_schema " +
		"regex ebnf structural_tag logit_bias sampling_seed custom_params stream_interval "
	tgiParameters = " adapter_id best_of decoder_input_details do_sample frequency_penalty grammar repetition_penalty " +
		"return_full_text seed stop temperature top_k top_n_tokens top_p truncate typical_p watermark "
)

var knownFields = [...]string{
	Chat: samplingFields + "messages top_logprobs max_completion_tokens tools tool_choice parallel_tool_calls reasoning_effort " +
		"include_reasoning add_generation_prompt continue_final_message documents chat_template chat_template_kwargs ",
	Completions: samplingFields + "prompt prompt_embeds best_of suffix ",
	Embeddings:  commonFields + "input encoding_format dimensions additional_data normalize embed_dtype endianness ",
	Triton:      samplingFields,
	Messages: " model messages max_tokens system stream temperature top_k top_p stop_sequences metadata tools tool_choice thinking service_tier " +
		"container context_management mcp_servers output_config cache_control chat_template_kwargs kv_transfer_params ",
	CountTokens: " model messages system thinking tool_choice tools mcp_servers context_management output_config ",
	Ranking:     " model query passages truncate user ",
	Rerank:      " query texts truncate raw_scores return_text truncation_direction ",
	Retrieval:   " input model merge_levels ",
	TGI:         " inputs parameters stream model ",
	Documents:   commonFields + "query documents top_n return_documents max_tokens_per_doc max_chunks_per_doc rank_fields ",
	Score:       commonFields + "text_1 text_2 queries documents activation use_activation encoding_format ",
	Classify:    commonFields + "input activation use_activation ",
	Pooling:     commonFields + "input messages encoding_format dimensions additional_data normalize embed_dtype endianness task softmax activation use_activation ",
	Images: " model prompt n size quality style response_format user background moderation output_format output_compression seed " +
		"negative_prompt num_inference_steps guidance_scale stream partial_images ",
	Transcriptions: " file model language prompt response_format temperature timestamp_granularities timestamp_granularities[] stream include include[] " +
		"chunking_strategy stream_include_usage stream_continuous_usage_stats max_completion_tokens seed top_p top_k min_p frequency_penalty " +
		"presence_penalty repetition_penalty to_language vllm_xargs user ",
	SGLang: " text input_ids sampling_params stream rid return_logprob logprob_start_len top_logprobs_num token_ids_logprob return_text_in_logprobs " +
		"image_data audio_data video_data modalities log_metrics return_hidden_states lora_path lora_id session_params custom_logit_processor " +
		"priority bootstrap_host bootstrap_port bootstrap_room return_routed_experts data_parallel_rank extra_key conversation_id ",
	Responses: commonFields + "input stream background include instructions max_output_tokens max_tool_calls metadata parallel_tool_calls " +
		"previous_response_id prompt prompt_cache_key reasoning safety_identifier service_tier store stream_options temperature text " +
		"tool_choice tools top_logprobs top_p truncation ignore_eos min_tokens top_k min_p seed stop repetition_penalty presence_penalty " +
		"frequency_penalty skip_special_tokens include_stop_str_in_output logit_bias kv_transfer_params vllm_xargs previous_input_messages " +
		"enable_response_messages structured_outputs chat_template chat_template_kwargs ",
}

func known(list, field string) bool {
	return !strings.Contains(field, " ") && strings.Contains(list, " "+field+" ")
}
