package repository

import "github.com/inferometer/inferometer/internal/lib/kserve"

// StatisticsOf returns a model's statistics, or all models'.
func (t *Repository) StatisticsOf(name, version string) ([]*kserve.ModelStatistics, *StatusError) {
	var out []*kserve.ModelStatistics
	if name == "" {
		for _, m := range t.All() {
			out = append(out, m.statistics())
		}
		return out, nil
	}
	m, failure := t.Find(name, version)
	if failure != nil {
		return nil, Refuse(CodeInvalid, "requested model '%s' is not available", name)
	}
	return append(out, m.statistics()), nil
}

// IndexEntry is a line of the repository's index.
type IndexEntry struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	State   string `json:"state,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Index lists the models, or only those that are ready.
func (t *Repository) Index(ready bool) []IndexEntry {
	all := []IndexEntry{}
	for _, m := range t.All() {
		all = append(all, IndexEntry{Name: m.Name, Version: "1", State: "READY"})
	}
	if ready {
		return all
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for name := range t.unloaded {
		all = append(all, IndexEntry{Name: name, Version: "1", State: "UNAVAILABLE", Reason: "unloaded"})
	}
	return all
}

// Metadata is what a model's metadata says.
func (m *Model) Metadata() *kserve.ModelMetadataResponse {
	tensors := func(specs []Tensor) (out []*kserve.ModelMetadataResponse_TensorMetadata) {
		for _, t := range specs {
			out = append(out, &kserve.ModelMetadataResponse_TensorMetadata{Name: t.name, Datatype: t.datatype, Shape: m.fullShape(t.dims)})
		}
		return out
	}
	return &kserve.ModelMetadataResponse{
		Name: m.Name, Versions: []string{"1"}, Platform: m.Spec.platform, Inputs: tensors(m.Spec.inputs), Outputs: tensors(m.Spec.outputs),
	}
}

// dataType is a datatype as configurations write it.
func dataType(datatype string) kserve.DataType {
	if datatype == "BYTES" {
		datatype = "STRING"
	}
	return kserve.DataType(kserve.DataType_value["TYPE_"+datatype])
}

// Config is a model's configuration.
func (m *Model) Config() *kserve.ModelConfig {
	c := &kserve.ModelConfig{
		Name: m.Name, Backend: m.Spec.backend, MaxBatchSize: int32(m.Spec.MaxBatch),
		VersionPolicy: &kserve.ModelVersionPolicy{PolicyChoice: &kserve.ModelVersionPolicy_Latest_{Latest: &kserve.ModelVersionPolicy_Latest{NumVersions: 1}}},
	}
	for _, t := range m.Spec.inputs {
		c.Input = append(c.Input, &kserve.ModelInput{Name: t.name, DataType: dataType(t.datatype), Dims: t.dims, Optional: t.optional})
	}
	for _, t := range m.Spec.outputs {
		c.Output = append(c.Output, &kserve.ModelOutput{Name: t.name, DataType: dataType(t.datatype), Dims: t.dims})
	}
	if m.Spec.Decoupled {
		c.ModelTransactionPolicy = &kserve.ModelTransactionPolicy{Decoupled: true}
	}
	switch {
	case m.engine != nil:
		c.Platform = "ensemble"
		c.SchedulingChoice = &kserve.ModelConfig_EnsembleScheduling{EnsembleScheduling: &kserve.ModelEnsembling{Step: m.steps()}}
		return c
	case m.Spec.Convention == ConventionAdd:
		c.SchedulingChoice = &kserve.ModelConfig_DynamicBatching{DynamicBatching: &kserve.ModelDynamicBatching{PreferredBatchSize: []int32{16}, MaxQueueDelayMicroseconds: 500}}
	case m.Spec.Convention == ConventionSum:
		c.SchedulingChoice = &kserve.ModelConfig_SequenceBatching{SequenceBatching: &kserve.ModelSequenceBatching{
			MaxSequenceIdleMicroseconds: 5_000_000,
			StrategyChoice:              &kserve.ModelSequenceBatching_Direct{Direct: &kserve.ModelSequenceBatching_StrategyDirect{}},
		}}
	}
	c.InstanceGroup = []*kserve.ModelInstanceGroup{{Name: m.Name + "_0", Count: 1, Kind: kserve.ModelInstanceGroup_KIND_CPU}}
	c.DefaultModelFilename = "model.py"
	return c
}

// steps are the models behind an ensemble, and how their tensors hang together.
func (m *Model) steps() []*kserve.ModelEnsembling_Step {
	return []*kserve.ModelEnsembling_Step{
		{ModelName: m.before.Name, ModelVersion: -1,
			InputMap:  map[string]string{"QUERY": "text_input", "REQUEST_OUTPUT_LEN": "max_tokens"},
			OutputMap: map[string]string{"INPUT_ID": "_INPUT_ID", "REQUEST_INPUT_LEN": "_INPUT_LEN", "OUT_LEN": "_OUT_LEN"}},
		{ModelName: m.engine.Name, ModelVersion: -1,
			InputMap:  map[string]string{"input_ids": "_INPUT_ID", "input_lengths": "_INPUT_LEN", "request_output_len": "_OUT_LEN", "streaming": "stream"},
			OutputMap: map[string]string{"output_ids": "_TOKENS", "sequence_length": "_LENGTH"}},
		{ModelName: m.after.Name, ModelVersion: -1,
			InputMap:  map[string]string{"TOKENS": "_TOKENS", "LENGTH": "_LENGTH"},
			OutputMap: map[string]string{"OUTPUT": "text_output"}},
	}
}
