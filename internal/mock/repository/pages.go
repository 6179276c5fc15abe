package repository

import "inferometer/internal/lib/kserve"

// tensorPage is a tensor as metadata shows it.
type tensorPage struct {
	Name     string  `json:"name"`
	Datatype string  `json:"datatype"`
	Shape    []int64 `json:"shape"`
}

// metadataPage is a model's metadata over HTTP.
type metadataPage struct {
	Name     string       `json:"name"`
	Versions []string     `json:"versions"`
	Platform string       `json:"platform"`
	Inputs   []tensorPage `json:"inputs"`
	Outputs  []tensorPage `json:"outputs"`
}

// MetadataJSON is what a model's metadata says over HTTP.
func (m *Model) MetadataJSON() any {
	tensors := func(specs []Tensor) []tensorPage {
		out := []tensorPage{}
		for _, t := range specs {
			out = append(out, tensorPage{t.name, t.datatype, m.fullShape(t.dims)})
		}
		return out
	}
	return metadataPage{m.Name, []string{"1"}, m.Spec.platform, tensors(m.Spec.inputs), tensors(m.Spec.outputs)}
}

// The parts of a model's configuration over HTTP.
type (
	configPage struct {
		Name           string              `json:"name"`
		Platform       string              `json:"platform"`
		Backend        string              `json:"backend"`
		Runtime        string              `json:"runtime"`
		VersionPolicy  map[string]any      `json:"version_policy"`
		MaxBatchSize   int32               `json:"max_batch_size"`
		Input          []configInput       `json:"input"`
		Output         []configOutput      `json:"output"`
		BatchInput     []string            `json:"batch_input"`
		BatchOutput    []string            `json:"batch_output"`
		Optimization   map[string]any      `json:"optimization,omitempty"`
		Ensemble       *ensemblePage       `json:"ensemble_scheduling,omitempty"`
		Dynamic        map[string]any      `json:"dynamic_batching,omitempty"`
		Sequence       map[string]any      `json:"sequence_batching,omitempty"`
		InstanceGroup  []instancePage      `json:"instance_group"`
		DefaultFile    string              `json:"default_model_filename"`
		CCFiles        struct{}            `json:"cc_model_filenames"`
		MetricTags     struct{}            `json:"metric_tags"`
		Parameters     struct{}            `json:"parameters"`
		Warmup         []string            `json:"model_warmup"`
		TransactionsOf *transactionsConfig `json:"model_transaction_policy,omitempty"`
	}
	transactionsConfig struct {
		Decoupled bool `json:"decoupled"`
	}
	configInput struct {
		Name      string  `json:"name"`
		DataType  string  `json:"data_type"`
		Format    string  `json:"format"`
		Dims      []int64 `json:"dims"`
		IsShape   bool    `json:"is_shape_tensor"`
		Ragged    bool    `json:"allow_ragged_batch"`
		Optional  bool    `json:"optional"`
		NonLinear bool    `json:"is_non_linear_format_io"`
	}
	configOutput struct {
		Name      string  `json:"name"`
		DataType  string  `json:"data_type"`
		Dims      []int64 `json:"dims"`
		Labels    string  `json:"label_filename"`
		IsShape   bool    `json:"is_shape_tensor"`
		NonLinear bool    `json:"is_non_linear_format_io"`
	}
	ensemblePage struct {
		Step []stepPage `json:"step"`
	}
	stepPage struct {
		ModelName    string            `json:"model_name"`
		ModelVersion int64             `json:"model_version"`
		InputMap     map[string]string `json:"input_map"`
		OutputMap    map[string]string `json:"output_map"`
		Namespace    string            `json:"model_namespace"`
	}
	instancePage struct {
		Name      string   `json:"name"`
		Kind      string   `json:"kind"`
		Count     int32    `json:"count"`
		GPUs      []int    `json:"gpus"`
		Secondary []string `json:"secondary_devices"`
		Profile   []string `json:"profile"`
		Passive   bool     `json:"passive"`
		Host      string   `json:"host_policy"`
	}
)

// ConfigJSON is a model's configuration over HTTP.
func (m *Model) ConfigJSON() any {
	c := m.Config()
	p := configPage{
		Name: c.Name, Platform: c.Platform, Backend: c.Backend, MaxBatchSize: c.MaxBatchSize, DefaultFile: c.DefaultModelFilename,
		VersionPolicy: map[string]any{"latest": map[string]int{"num_versions": 1}},
		Input:         []configInput{}, Output: []configOutput{}, BatchInput: []string{}, BatchOutput: []string{}, InstanceGroup: []instancePage{}, Warmup: []string{},
	}
	for _, t := range c.Input {
		p.Input = append(p.Input, configInput{Name: t.Name, DataType: t.DataType.String(), Format: "FORMAT_NONE", Dims: t.Dims, Optional: t.Optional})
	}
	for _, t := range c.Output {
		p.Output = append(p.Output, configOutput{Name: t.Name, DataType: t.DataType.String(), Dims: t.Dims})
	}
	for _, g := range c.InstanceGroup {
		p.InstanceGroup = append(p.InstanceGroup, instancePage{Name: g.Name, Kind: g.Kind.String(), Count: g.Count, GPUs: []int{}, Secondary: []string{}, Profile: []string{}})
	}
	if c.ModelTransactionPolicy != nil {
		p.TransactionsOf = &transactionsConfig{c.ModelTransactionPolicy.Decoupled}
	}
	if e := c.GetEnsembleScheduling(); e != nil {
		p.Ensemble = &ensemblePage{}
		for _, s := range e.Step {
			p.Ensemble.Step = append(p.Ensemble.Step, stepPage{s.ModelName, s.ModelVersion, s.InputMap, s.OutputMap, ""})
		}
	}
	if d := c.GetDynamicBatching(); d != nil {
		p.Dynamic = map[string]any{"preferred_batch_size": d.PreferredBatchSize, "max_queue_delay_microseconds": d.MaxQueueDelayMicroseconds, "preserve_ordering": false}
	}
	if q := c.GetSequenceBatching(); q != nil {
		p.Sequence = map[string]any{"max_sequence_idle_microseconds": q.MaxSequenceIdleMicroseconds, "direct": struct{}{}, "control_input": []string{}, "state": []string{}}
	}
	return p
}

// durationPage is a count and its time over HTTP.
type durationPage struct {
	Count uint64 `json:"count"`
	Ns    uint64 `json:"ns"`
}

func durationJSON(d *kserve.StatisticDuration) durationPage {
	return durationPage{d.GetCount(), d.GetNs()}
}

// The parts of a model's statistics over HTTP.
type (
	statisticsPage struct {
		Models []modelPage `json:"model_stats"`
	}
	modelPage struct {
		Name       string                             `json:"name"`
		Version    string                             `json:"version"`
		Last       uint64                             `json:"last_inference"`
		Inferences uint64                             `json:"inference_count"`
		Executions uint64                             `json:"execution_count"`
		Stats      inferPage                          `json:"inference_stats"`
		Responses  map[string]map[string]durationPage `json:"response_stats"`
		Batches    []batchPage                        `json:"batch_stats"`
		Memory     []string                           `json:"memory_usage"`
	}
	inferPage struct {
		Success       durationPage `json:"success"`
		Fail          durationPage `json:"fail"`
		Queue         durationPage `json:"queue"`
		ComputeInput  durationPage `json:"compute_input"`
		ComputeInfer  durationPage `json:"compute_infer"`
		ComputeOutput durationPage `json:"compute_output"`
		CacheHit      durationPage `json:"cache_hit"`
		CacheMiss     durationPage `json:"cache_miss"`
	}
	batchPage struct {
		Size          uint64       `json:"batch_size"`
		ComputeInput  durationPage `json:"compute_input"`
		ComputeInfer  durationPage `json:"compute_infer"`
		ComputeOutput durationPage `json:"compute_output"`
	}
)

// StatisticsJSON is a model's statistics over HTTP, or all models'.
func (t *Repository) StatisticsJSON(name, version string) (any, *Refusal) {
	all, failure := t.StatisticsOf(name, version)
	if failure != nil {
		return nil, failure
	}
	page := statisticsPage{Models: []modelPage{}}
	for _, m := range all {
		i := m.InferenceStats
		p := modelPage{
			Name: m.Name, Version: m.Version, Last: m.LastInference, Inferences: m.InferenceCount, Executions: m.ExecutionCount,
			Stats: inferPage{
				durationJSON(i.Success), durationJSON(i.Fail), durationJSON(i.Queue), durationJSON(i.ComputeInput),
				durationJSON(i.ComputeInfer), durationJSON(i.ComputeOutput), durationJSON(i.CacheHit), durationJSON(i.CacheMiss),
			},
			Responses: map[string]map[string]durationPage{}, Batches: []batchPage{}, Memory: []string{},
		}
		for key, r := range m.ResponseStats {
			p.Responses[key] = map[string]durationPage{
				"compute_infer": durationJSON(r.ComputeInfer), "compute_output": durationJSON(r.ComputeOutput), "success": durationJSON(r.Success),
				"fail": durationJSON(r.Fail), "empty_response": durationJSON(r.EmptyResponse), "cancel": durationJSON(r.Cancel),
			}
		}
		for _, b := range m.BatchStats {
			p.Batches = append(p.Batches, batchPage{b.BatchSize, durationJSON(b.ComputeInput), durationJSON(b.ComputeInfer), durationJSON(b.ComputeOutput)})
		}
		page.Models = append(page.Models, p)
	}
	return page, nil
}
