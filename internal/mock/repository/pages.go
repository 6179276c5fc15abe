package repository

import (
	"encoding/json"
	"strconv"
)

// page is an object of what the server says about itself: names, each with its value behind it.
// Over HTTP they keep their order; gRPC has messages with the same names.
type page []any

// MarshalJSON implements json.Marshaler.
func (p page) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i := 0; i < len(p); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := json.Marshal(p[i+1])
		if err != nil {
			return nil, err
		}
		b = append(strconv.AppendQuote(b, p[i].(string)), ':')
		b = append(b, value...)
	}
	return append(b, '}'), nil
}

// list makes a list of what a page has for each; it is never null.
func list[T any](from []T, each func(T) page) []page {
	out := make([]page, len(from))
	for i, v := range from {
		out[i] = each(v)
	}
	return out
}

// Metadata is what a model's metadata says.
func (m *Model) Metadata() any {
	tensor := func(t Tensor) page { return page{"name", t.name, "datatype", t.datatype, "shape", m.fullShape(t.dims)} }
	return page{
		"name", m.Name, "versions", []string{"1"}, "platform", m.Spec.platform,
		"inputs", list(m.Spec.inputs, tensor), "outputs", list(m.Spec.outputs, tensor),
	}
}

func dataType(datatype string) string {
	if datatype == "BYTES" {
		datatype = "STRING"
	}
	return "TYPE_" + datatype
}

// Config is a model's configuration.
func (m *Model) Config() any {
	none := []string{}
	platform := ""
	if m.engine != nil {
		platform = "ensemble"
	}
	p := page{
		"name", m.Name, "platform", platform, "backend", m.Spec.backend, "runtime", "",
		"version_policy", page{"latest", page{"num_versions", 1}}, "max_batch_size", m.Spec.MaxBatch,
		"input", list(m.Spec.inputs, func(t Tensor) page {
			return page{
				"name", t.name, "data_type", dataType(t.datatype), "format", "FORMAT_NONE", "dims", t.dims, "is_shape_tensor", false,
				"allow_ragged_batch", false, "optional", t.optional, "is_non_linear_format_io", false,
			}
		}),
		"output", list(m.Spec.outputs, func(t Tensor) page {
			return page{"name", t.name, "data_type", dataType(t.datatype), "dims", t.dims, "label_filename", "", "is_shape_tensor", false, "is_non_linear_format_io", false}
		}),
		"batch_input", none, "batch_output", none,
	}
	instances, file := []page{}, ""
	if m.engine == nil {
		file = "model.py"
		instances = append(instances, page{
			"name", m.Name + "_0", "kind", "KIND_CPU", "count", 1, "gpus", none, "secondary_devices", none, "profile", none, "passive", false, "host_policy", "",
		})
	}
	switch {
	case m.engine != nil:
		p = append(p, "ensemble_scheduling", page{"step", m.steps()})
	case m.Spec.Convention == ConventionAdd:
		p = append(p, "dynamic_batching", page{"max_queue_delay_microseconds", 500, "preferred_batch_size", []int{16}, "preserve_ordering", false})
	case m.Spec.Convention == ConventionSum:
		p = append(p, "sequence_batching", page{"control_input", none, "direct", page{}, "max_sequence_idle_microseconds", 5_000_000, "state", none})
	}
	p = append(p, "instance_group", instances, "default_model_filename", file,
		"cc_model_filenames", page{}, "metric_tags", page{}, "parameters", page{}, "model_warmup", none)
	if m.Spec.Decoupled {
		p = append(p, "model_transaction_policy", page{"decoupled", true})
	}
	return p
}

// steps are the models behind an ensemble, and how their tensors hang together.
func (m *Model) steps() []page {
	type names map[string]string
	step := func(model *Model, inputs, outputs names) page {
		return page{"model_name", model.Name, "model_version", -1, "input_map", inputs, "output_map", outputs, "model_namespace", ""}
	}
	return []page{
		step(m.before,
			names{"QUERY": "text_input", "REQUEST_OUTPUT_LEN": "max_tokens"},
			names{"INPUT_ID": "_INPUT_ID", "REQUEST_INPUT_LEN": "_INPUT_LEN", "OUT_LEN": "_OUT_LEN"}),
		step(m.engine,
			names{"input_ids": "_INPUT_ID", "input_lengths": "_INPUT_LEN", "request_output_len": "_OUT_LEN", "streaming": "stream"},
			names{"output_ids": "_TOKENS", "sequence_length": "_LENGTH"}),
		step(m.after,
			names{"TOKENS": "_TOKENS", "LENGTH": "_LENGTH"},
			names{"OUTPUT": "text_output"}),
	}
}

// Statistics are a model's, or all models'.
func (t *Repository) Statistics(name, version string) (any, *StatusError) {
	models := t.All()
	if name != "" {
		m, failure := t.Find(name, version)
		if failure != nil {
			return nil, Refuse(CodeInvalid, "requested model '%s' is not available", name)
		}
		models = []*Model{m}
	}
	return page{"model_stats", list(models, (*Model).statistics)}, nil
}

func (m *Model) statistics() page {
	s := &m.stats
	s.mu.Lock()
	defer s.mu.Unlock()
	responses, batches := map[string]page{}, []page{}
	for i, p := range s.places {
		responses[strconv.Itoa(i)] = page{
			"cancel", p.cancel.page(), "compute_infer", p.infer.page(), "compute_output", p.output.page(),
			"empty_response", p.empty.page(), "fail", p.fail.page(), "success", p.success.page(),
		}
	}
	if s.executions > 0 {
		batches = append(batches, page{
			"batch_size", max(1, s.inferences/s.executions),
			"compute_input", s.input.page(), "compute_infer", s.infer.page(), "compute_output", s.output.page(),
		})
	}
	return page{
		"name", m.Name, "version", "1", "last_inference", s.last, "inference_count", s.inferences, "execution_count", s.executions,
		"inference_stats", page{
			"success", s.success.page(), "fail", s.fail.page(), "queue", s.queue.page(), "compute_input", s.input.page(),
			"compute_infer", s.infer.page(), "compute_output", s.output.page(), "cache_hit", tally{}.page(), "cache_miss", tally{}.page(),
		},
		"response_stats", responses, "batch_stats", batches, "memory_usage", []string{},
	}
}
