package mock

import (
	"google.golang.org/protobuf/proto"

	"inferometer/internal/kserve"
)

// serverVersion is the version of Triton whose behaviour this server has.
const serverVersion = "2.51.0"

// extensions are those that the server speaks of.
func extensions() []string {
	return []string{
		"classification", "sequence", "model_repository", "model_repository(unload_dependents)", "schedule_policy", "model_configuration",
		"system_shared_memory", "cuda_shared_memory", "binary_tensor_data", "parameters", "statistics", "trace", "logging",
	}
}

// knownMethod tells the methods that control serves.
func knownMethod(path string) bool {
	switch path {
	case kserve.ServerLiveMethod, kserve.ServerReadyMethod, kserve.ModelReadyMethod, kserve.ServerMetadataMethod, kserve.ModelMetadataMethod,
		kserve.ModelConfigMethod, kserve.ModelStatisticsMethod, kserve.RepositoryIndexMethod, kserve.RepositoryModelLoadMethod,
		kserve.RepositoryModelUnloadMethod, kserve.SystemSharedMemoryStatusMethod, kserve.SystemSharedMemoryRegisterMethod,
		kserve.SystemSharedMemoryUnregisterMethod, kserve.CudaSharedMemoryStatusMethod, kserve.CudaSharedMemoryRegisterMethod,
		kserve.CudaSharedMemoryUnregisterMethod, kserve.TraceSettingMethod, kserve.LogSettingsMethod:
		return true
	}
	return false
}

// control serves every method that is no inference.
func (s *Server) control(path string, p []byte) ([]byte, *rpcError) {
	answer, failure := s.controlMessage(path, p)
	if failure != nil {
		return nil, failure
	}
	b, err := proto.Marshal(answer)
	if err != nil {
		return nil, refusal(codeInternal, "encode the answer: %v", err)
	}
	return b, nil
}

func (s *Server) controlMessage(path string, p []byte) (proto.Message, *rpcError) {
	t := s.triton
	switch path {
	case kserve.ServerLiveMethod:
		return &kserve.ServerLiveResponse{Live: true}, nil
	case kserve.ServerReadyMethod:
		return &kserve.ServerReadyResponse{Ready: true}, nil
	case kserve.ServerMetadataMethod:
		return &kserve.ServerMetadataResponse{Name: "triton", Version: serverVersion, Extensions: extensions()}, nil
	case kserve.ModelReadyMethod:
		return decoded(p, &kserve.ModelReadyRequest{}, func(r *kserve.ModelReadyRequest) (proto.Message, *rpcError) {
			_, failure := t.find(r.Name, r.Version)
			return &kserve.ModelReadyResponse{Ready: failure == nil}, nil
		})
	case kserve.ModelMetadataMethod:
		return decoded(p, &kserve.ModelMetadataRequest{}, func(r *kserve.ModelMetadataRequest) (proto.Message, *rpcError) {
			m, failure := t.find(r.Name, r.Version)
			if failure != nil {
				return nil, failure
			}
			return m.metadata(), nil
		})
	case kserve.ModelConfigMethod:
		return decoded(p, &kserve.ModelConfigRequest{}, func(r *kserve.ModelConfigRequest) (proto.Message, *rpcError) {
			m, failure := t.find(r.Name, r.Version)
			if failure != nil {
				return nil, failure
			}
			return &kserve.ModelConfigResponse{Config: m.config()}, nil
		})
	case kserve.ModelStatisticsMethod:
		return decoded(p, &kserve.ModelStatisticsRequest{}, func(r *kserve.ModelStatisticsRequest) (proto.Message, *rpcError) {
			models, failure := t.statisticsOf(r.Name, r.Version)
			return &kserve.ModelStatisticsResponse{ModelStats: models}, failure
		})
	case kserve.TraceSettingMethod:
		return &kserve.TraceSettingResponse{}, nil
	case kserve.LogSettingsMethod:
		return &kserve.LogSettingsResponse{}, nil
	case kserve.CudaSharedMemoryStatusMethod:
		return &kserve.CudaSharedMemoryStatusResponse{}, nil
	case kserve.CudaSharedMemoryUnregisterMethod:
		return &kserve.CudaSharedMemoryUnregisterResponse{}, nil
	case kserve.CudaSharedMemoryRegisterMethod:
		return nil, refusal(codeInvalid, "failed to register CUDA shared memory region: there is no GPU")
	}
	return s.repositoryMessage(path, p)
}

// repositoryMessage serves the methods of the repository and of shared memory.
func (s *Server) repositoryMessage(path string, p []byte) (proto.Message, *rpcError) {
	t := s.triton
	switch path {
	case kserve.RepositoryIndexMethod:
		return decoded(p, &kserve.RepositoryIndexRequest{}, func(r *kserve.RepositoryIndexRequest) (proto.Message, *rpcError) {
			answer := &kserve.RepositoryIndexResponse{}
			for _, e := range t.index(r.Ready) {
				answer.Models = append(answer.Models, &kserve.RepositoryIndexResponse_ModelIndex{Name: e.Name, Version: e.Version, State: e.State, Reason: e.Reason})
			}
			return answer, nil
		})
	case kserve.RepositoryModelLoadMethod:
		return decoded(p, &kserve.RepositoryModelLoadRequest{}, func(r *kserve.RepositoryModelLoadRequest) (proto.Message, *rpcError) {
			return &kserve.RepositoryModelLoadResponse{}, t.load(r.ModelName)
		})
	case kserve.RepositoryModelUnloadMethod:
		return decoded(p, &kserve.RepositoryModelUnloadRequest{}, func(r *kserve.RepositoryModelUnloadRequest) (proto.Message, *rpcError) {
			return &kserve.RepositoryModelUnloadResponse{}, t.unload(r.ModelName, r.Parameters["unload_dependents"].GetBoolParam())
		})
	case kserve.SystemSharedMemoryRegisterMethod:
		return decoded(p, &kserve.SystemSharedMemoryRegisterRequest{}, func(r *kserve.SystemSharedMemoryRegisterRequest) (proto.Message, *rpcError) {
			return &kserve.SystemSharedMemoryRegisterResponse{}, t.regions.register(region{r.Name, r.Key, r.Offset, r.ByteSize})
		})
	case kserve.SystemSharedMemoryUnregisterMethod:
		return decoded(p, &kserve.SystemSharedMemoryUnregisterRequest{}, func(r *kserve.SystemSharedMemoryUnregisterRequest) (proto.Message, *rpcError) {
			t.regions.unregister(r.Name)
			return &kserve.SystemSharedMemoryUnregisterResponse{}, nil
		})
	case kserve.SystemSharedMemoryStatusMethod:
		return decoded(p, &kserve.SystemSharedMemoryStatusRequest{}, func(r *kserve.SystemSharedMemoryStatusRequest) (proto.Message, *rpcError) {
			all, failure := t.regions.status(r.Name)
			answer := &kserve.SystemSharedMemoryStatusResponse{Regions: make(map[string]*kserve.SystemSharedMemoryStatusResponse_RegionStatus)}
			for _, r := range all {
				answer.Regions[r.name] = &kserve.SystemSharedMemoryStatusResponse_RegionStatus{Name: r.name, Key: r.key, Offset: r.offset, ByteSize: r.size}
			}
			return answer, failure
		})
	}
	return nil, refusal(codeUnimplemented, "")
}

// decoded reads a request and hands it on.
func decoded[T proto.Message](p []byte, r T, f func(T) (proto.Message, *rpcError)) (proto.Message, *rpcError) {
	if err := proto.Unmarshal(p, r); err != nil {
		return nil, refusal(codeInternal, "the request cannot be decoded: %v", err)
	}
	return f(r)
}

// statisticsOf returns a model's statistics, or all models'.
func (t *triton) statisticsOf(name, version string) ([]*kserve.ModelStatistics, *rpcError) {
	var out []*kserve.ModelStatistics
	if name == "" {
		for _, m := range t.all() {
			out = append(out, m.statistics())
		}
		return out, nil
	}
	m, failure := t.find(name, version)
	if failure != nil {
		return nil, refusal(codeInvalid, "requested model '%s' is not available", name)
	}
	return append(out, m.statistics()), nil
}

// indexEntry is a line of the repository's index.
type indexEntry struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	State   string `json:"state,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// index lists the models, or only those that are ready.
func (t *triton) index(ready bool) []indexEntry {
	all := []indexEntry{}
	for _, m := range t.all() {
		all = append(all, indexEntry{Name: m.name, Version: "1", State: "READY"})
	}
	if ready {
		return all
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for name := range t.unloaded {
		all = append(all, indexEntry{Name: name, Version: "1", State: "UNAVAILABLE", Reason: "unloaded"})
	}
	return all
}

// metadata is what a model's metadata says.
func (m *tritonModel) metadata() *kserve.ModelMetadataResponse {
	tensors := func(specs []tensorSpec) (out []*kserve.ModelMetadataResponse_TensorMetadata) {
		for _, t := range specs {
			out = append(out, &kserve.ModelMetadataResponse_TensorMetadata{Name: t.name, Datatype: t.datatype, Shape: m.fullShape(t.dims)})
		}
		return out
	}
	return &kserve.ModelMetadataResponse{
		Name: m.name, Versions: []string{"1"}, Platform: m.spec.platform, Inputs: tensors(m.spec.inputs), Outputs: tensors(m.spec.outputs),
	}
}

// dataType is a datatype as configurations write it.
func dataType(datatype string) kserve.DataType {
	if datatype == "BYTES" {
		datatype = "STRING"
	}
	return kserve.DataType(kserve.DataType_value["TYPE_"+datatype])
}

// config is a model's configuration.
func (m *tritonModel) config() *kserve.ModelConfig {
	c := &kserve.ModelConfig{
		Name: m.name, Backend: m.spec.backend, MaxBatchSize: int32(m.spec.maxBatch),
		VersionPolicy: &kserve.ModelVersionPolicy{PolicyChoice: &kserve.ModelVersionPolicy_Latest_{Latest: &kserve.ModelVersionPolicy_Latest{NumVersions: 1}}},
	}
	for _, t := range m.spec.inputs {
		c.Input = append(c.Input, &kserve.ModelInput{Name: t.name, DataType: dataType(t.datatype), Dims: t.dims, Optional: t.optional})
	}
	for _, t := range m.spec.outputs {
		c.Output = append(c.Output, &kserve.ModelOutput{Name: t.name, DataType: dataType(t.datatype), Dims: t.dims})
	}
	if m.spec.decoupled {
		c.ModelTransactionPolicy = &kserve.ModelTransactionPolicy{Decoupled: true}
	}
	switch {
	case m.engine != nil:
		c.Platform = "ensemble"
		c.SchedulingChoice = &kserve.ModelConfig_EnsembleScheduling{EnsembleScheduling: &kserve.ModelEnsembling{Step: m.steps()}}
		return c
	case m.spec.convention == ConventionAdd:
		c.SchedulingChoice = &kserve.ModelConfig_DynamicBatching{DynamicBatching: &kserve.ModelDynamicBatching{PreferredBatchSize: []int32{16}, MaxQueueDelayMicroseconds: 500}}
	case m.spec.convention == ConventionSum:
		c.SchedulingChoice = &kserve.ModelConfig_SequenceBatching{SequenceBatching: &kserve.ModelSequenceBatching{
			MaxSequenceIdleMicroseconds: 5_000_000,
			StrategyChoice:              &kserve.ModelSequenceBatching_Direct{Direct: &kserve.ModelSequenceBatching_StrategyDirect{}},
		}}
	}
	c.InstanceGroup = []*kserve.ModelInstanceGroup{{Name: m.name + "_0", Count: 1, Kind: kserve.ModelInstanceGroup_KIND_CPU}}
	c.DefaultModelFilename = "model.py"
	return c
}

// steps are the models behind an ensemble, and how their tensors hang together.
func (m *tritonModel) steps() []*kserve.ModelEnsembling_Step {
	return []*kserve.ModelEnsembling_Step{
		{ModelName: m.before.name, ModelVersion: -1,
			InputMap:  map[string]string{"QUERY": "text_input", "REQUEST_OUTPUT_LEN": "max_tokens"},
			OutputMap: map[string]string{"INPUT_ID": "_INPUT_ID", "REQUEST_INPUT_LEN": "_INPUT_LEN", "OUT_LEN": "_OUT_LEN"}},
		{ModelName: m.engine.name, ModelVersion: -1,
			InputMap:  map[string]string{"input_ids": "_INPUT_ID", "input_lengths": "_INPUT_LEN", "request_output_len": "_OUT_LEN", "streaming": "stream"},
			OutputMap: map[string]string{"output_ids": "_TOKENS", "sequence_length": "_LENGTH"}},
		{ModelName: m.after.name, ModelVersion: -1,
			InputMap:  map[string]string{"TOKENS": "_TOKENS", "LENGTH": "_LENGTH"},
			OutputMap: map[string]string{"OUTPUT": "text_output"}},
	}
}
