package repository

import "inferometer/internal/lib/kserve"

// MetadataJSON is what a model's metadata says over HTTP.
func (m *Model) MetadataJSON() any {
	tensor := func(t Tensor) any { return page{"name": t.name, "datatype": t.datatype, "shape": m.fullShape(t.dims)} }
	return page{
		"name": m.Name, "versions": []string{"1"}, "platform": m.Spec.platform,
		"inputs": list(m.Spec.inputs, tensor), "outputs": list(m.Spec.outputs, tensor),
	}
}

// list is what a page has for a list, which is never null.
func list[T any](from []T, page func(T) any) []any {
	out := make([]any, len(from))
	for i, v := range from {
		out[i] = page(v)
	}
	return out
}

// page is an object of a page over HTTP.
type page map[string]any

// ConfigJSON is a model's configuration over HTTP.
func (m *Model) ConfigJSON() any {
	c := m.Config()
	none := []any{}
	p := page{
		"name": c.Name, "platform": c.Platform, "backend": c.Backend, "runtime": "", "max_batch_size": c.MaxBatchSize,
		"version_policy": page{"latest": page{"num_versions": 1}},
		"input": list(c.Input, func(t *kserve.ModelInput) any {
			return page{
				"name": t.Name, "data_type": t.DataType.String(), "format": "FORMAT_NONE", "dims": t.Dims, "is_shape_tensor": false,
				"allow_ragged_batch": false, "optional": t.Optional, "is_non_linear_format_io": false,
			}
		}),
		"output": list(c.Output, func(t *kserve.ModelOutput) any {
			return page{
				"name": t.Name, "data_type": t.DataType.String(), "dims": t.Dims, "label_filename": "", "is_shape_tensor": false, "is_non_linear_format_io": false,
			}
		}),
		"instance_group": list(c.InstanceGroup, func(g *kserve.ModelInstanceGroup) any {
			return page{
				"name": g.Name, "kind": g.Kind.String(), "count": g.Count, "gpus": none, "secondary_devices": none, "profile": none, "passive": false, "host_policy": "",
			}
		}),
		"batch_input": none, "batch_output": none, "default_model_filename": c.DefaultModelFilename, "cc_model_filenames": page{}, "metric_tags": page{},
		"parameters": page{}, "model_warmup": none,
	}
	if c.ModelTransactionPolicy != nil {
		p["model_transaction_policy"] = page{"decoupled": c.ModelTransactionPolicy.Decoupled}
	}
	if e := c.GetEnsembleScheduling(); e != nil {
		p["ensemble_scheduling"] = page{"step": list(e.Step, func(s *kserve.ModelEnsembling_Step) any {
			return page{"model_name": s.ModelName, "model_version": s.ModelVersion, "input_map": s.InputMap, "output_map": s.OutputMap, "model_namespace": ""}
		})}
	}
	if d := c.GetDynamicBatching(); d != nil {
		p["dynamic_batching"] = page{"preferred_batch_size": d.PreferredBatchSize, "max_queue_delay_microseconds": d.MaxQueueDelayMicroseconds, "preserve_ordering": false}
	}
	if q := c.GetSequenceBatching(); q != nil {
		p["sequence_batching"] = page{"max_sequence_idle_microseconds": q.MaxSequenceIdleMicroseconds, "direct": page{}, "control_input": none, "state": none}
	}
	return p
}

// spent is a count and its time over HTTP.
func spent(d *kserve.StatisticDuration) page { return page{"count": d.GetCount(), "ns": d.GetNs()} }

// StatisticsJSON is a model's statistics over HTTP, or all models'.
func (t *Repository) StatisticsJSON(name, version string) (any, *Refusal) {
	all, failure := t.StatisticsOf(name, version)
	if failure != nil {
		return nil, failure
	}
	return page{"model_stats": list(all, func(m *kserve.ModelStatistics) any {
		i, responses := m.InferenceStats, page{}
		for key, r := range m.ResponseStats {
			responses[key] = page{
				"compute_infer": spent(r.ComputeInfer), "compute_output": spent(r.ComputeOutput), "success": spent(r.Success),
				"fail": spent(r.Fail), "empty_response": spent(r.EmptyResponse), "cancel": spent(r.Cancel),
			}
		}
		return page{
			"name": m.Name, "version": m.Version, "last_inference": m.LastInference, "inference_count": m.InferenceCount, "execution_count": m.ExecutionCount,
			"inference_stats": page{
				"success": spent(i.Success), "fail": spent(i.Fail), "queue": spent(i.Queue), "compute_input": spent(i.ComputeInput),
				"compute_infer": spent(i.ComputeInfer), "compute_output": spent(i.ComputeOutput), "cache_hit": spent(i.CacheHit), "cache_miss": spent(i.CacheMiss),
			},
			"response_stats": responses,
			"batch_stats": list(m.BatchStats, func(b *kserve.InferBatchStatistics) any {
				return page{"batch_size": b.BatchSize, "compute_input": spent(b.ComputeInput), "compute_infer": spent(b.ComputeInfer), "compute_output": spent(b.ComputeOutput)}
			}),
			"memory_usage": []any{},
		}
	})}, nil
}
