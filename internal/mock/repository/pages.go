package repository

import (
	"encoding/json"
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/kserve"
)

// page is an object of a page over HTTP: names, each with its value behind it. They keep their
// order.
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

// MetadataJSON is what a model's metadata says over HTTP.
func (m *Model) MetadataJSON() any {
	tensor := func(t Tensor) page { return page{"name", t.name, "datatype", t.datatype, "shape", m.fullShape(t.dims)} }
	return page{
		"name", m.Name, "versions", []string{"1"}, "platform", m.Spec.platform,
		"inputs", list(m.Spec.inputs, tensor), "outputs", list(m.Spec.outputs, tensor),
	}
}

// ConfigJSON is a model's configuration over HTTP.
func (m *Model) ConfigJSON() any {
	c := m.Config()
	none := []string{}
	p := page{
		"name", c.Name, "platform", c.Platform, "backend", c.Backend, "runtime", "",
		"version_policy", page{"latest", page{"num_versions", 1}}, "max_batch_size", c.MaxBatchSize,
		"input", list(c.Input, func(t *kserve.ModelInput) page {
			return page{
				"name", t.Name, "data_type", t.DataType.String(), "format", "FORMAT_NONE", "dims", t.Dims, "is_shape_tensor", false,
				"allow_ragged_batch", false, "optional", t.Optional, "is_non_linear_format_io", false,
			}
		}),
		"output", list(c.Output, func(t *kserve.ModelOutput) page {
			return page{"name", t.Name, "data_type", t.DataType.String(), "dims", t.Dims, "label_filename", "", "is_shape_tensor", false, "is_non_linear_format_io", false}
		}),
		"batch_input", none, "batch_output", none,
	}
	if e := c.GetEnsembleScheduling(); e != nil {
		p = append(p, "ensemble_scheduling", page{"step", list(e.Step, func(s *kserve.ModelEnsembling_Step) page {
			return page{"model_name", s.ModelName, "model_version", s.ModelVersion, "input_map", s.InputMap, "output_map", s.OutputMap, "model_namespace", ""}
		})})
	}
	if d := c.GetDynamicBatching(); d != nil {
		p = append(p, "dynamic_batching", page{"max_queue_delay_microseconds", d.MaxQueueDelayMicroseconds, "preferred_batch_size", d.PreferredBatchSize, "preserve_ordering", false})
	}
	if q := c.GetSequenceBatching(); q != nil {
		p = append(p, "sequence_batching", page{"control_input", none, "direct", page{}, "max_sequence_idle_microseconds", q.MaxSequenceIdleMicroseconds, "state", none})
	}
	p = append(p, "instance_group", list(c.InstanceGroup, func(g *kserve.ModelInstanceGroup) page {
		return page{"name", g.Name, "kind", g.Kind.String(), "count", g.Count, "gpus", none, "secondary_devices", none, "profile", none, "passive", false, "host_policy", ""}
	}), "default_model_filename", c.DefaultModelFilename, "cc_model_filenames", page{}, "metric_tags", page{}, "parameters", page{}, "model_warmup", none)
	if c.ModelTransactionPolicy != nil {
		p = append(p, "model_transaction_policy", page{"decoupled", c.ModelTransactionPolicy.Decoupled})
	}
	return p
}

// spent is a count and its time over HTTP.
func spent(d *kserve.StatisticDuration) page { return page{"count", d.GetCount(), "ns", d.GetNs()} }

// StatisticsJSON is a model's statistics over HTTP, or all models'.
func (t *Repository) StatisticsJSON(name, version string) (any, *StatusError) {
	all, failure := t.StatisticsOf(name, version)
	if failure != nil {
		return nil, failure
	}
	return page{"model_stats", list(all, func(m *kserve.ModelStatistics) page {
		i, responses := m.InferenceStats, map[string]page{}
		for key, r := range m.ResponseStats {
			responses[key] = page{
				"cancel", spent(r.Cancel), "compute_infer", spent(r.ComputeInfer), "compute_output", spent(r.ComputeOutput),
				"empty_response", spent(r.EmptyResponse), "fail", spent(r.Fail), "success", spent(r.Success),
			}
		}
		return page{
			"name", m.Name, "version", m.Version, "last_inference", m.LastInference, "inference_count", m.InferenceCount, "execution_count", m.ExecutionCount,
			"inference_stats", page{
				"success", spent(i.Success), "fail", spent(i.Fail), "queue", spent(i.Queue), "compute_input", spent(i.ComputeInput),
				"compute_infer", spent(i.ComputeInfer), "compute_output", spent(i.ComputeOutput), "cache_hit", spent(i.CacheHit), "cache_miss", spent(i.CacheMiss),
			},
			"response_stats", responses,
			"batch_stats", list(m.BatchStats, func(b *kserve.InferBatchStatistics) page {
				return page{"batch_size", b.BatchSize, "compute_input", spent(b.ComputeInput), "compute_infer", spent(b.ComputeInfer), "compute_output", spent(b.ComputeOutput)}
			}),
			"memory_usage", []string{},
		}
	})}, nil
}
