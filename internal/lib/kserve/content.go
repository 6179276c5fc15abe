package kserve

// ModelName says which model a request is about; statistics without a name are those of all.
type ModelName struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ModelMetadata is what a model takes and gives.
type ModelMetadata struct {
	Name     string           `json:"name"`
	Versions []string         `json:"versions"`
	Platform string           `json:"platform"`
	Inputs   []TensorMetadata `json:"inputs"`
	Outputs  []TensorMetadata `json:"outputs"`
}

// TensorMetadata describes a tensor of a model.
type TensorMetadata struct {
	Name     string  `json:"name"`
	Datatype string  `json:"datatype"`
	Shape    []int64 `json:"shape"`
}

// ModelConfigResponse is the response about a model's configuration.
type ModelConfigResponse struct {
	Config *ModelConfig `json:"config"`
}

// ModelConfig is a model's configuration; nil means the server gives none.
type ModelConfig struct {
	Backend                string                  `json:"backend"`
	MaxBatchSize           int32                   `json:"max_batch_size"`
	Input                  []ModelInput            `json:"input"`
	SequenceBatching       *struct{}               `json:"sequence_batching"`
	EnsembleScheduling     *ModelEnsembling        `json:"ensemble_scheduling"`
	ModelTransactionPolicy *ModelTransactionPolicy `json:"model_transaction_policy"`
	ResponseCache          *ModelResponseCache     `json:"response_cache"`
}

// Decoupled says whether a request may have any number of responses.
func (c *ModelConfig) Decoupled() bool {
	return c != nil && c.ModelTransactionPolicy != nil && c.ModelTransactionPolicy.Decoupled
}

// Cached says whether responses may come out of a cache.
func (c *ModelConfig) Cached() bool {
	return c != nil && c.ResponseCache != nil && c.ResponseCache.Enable
}

// Steps are those of an ensemble.
func (c *ModelConfig) Steps() []EnsemblingStep {
	if c == nil || c.EnsembleScheduling == nil {
		return nil
	}
	return c.EnsembleScheduling.Step
}

// ModelInput is an input as configurations have it.
type ModelInput struct {
	Name          string `json:"name"`
	IsShapeTensor bool   `json:"is_shape_tensor"`
	Optional      bool   `json:"optional"`
}

// ModelEnsembling are the steps of an ensemble.
type ModelEnsembling struct {
	Step []EnsemblingStep `json:"step"`
}

// EnsemblingStep is a model that an ensemble calls.
type EnsemblingStep struct {
	ModelName    string `json:"model_name"`
	ModelVersion int64  `json:"model_version"`
}

// ModelTransactionPolicy says what a request is answered with.
type ModelTransactionPolicy struct {
	Decoupled bool `json:"decoupled"`
}

// ModelResponseCache says whether responses are cached.
type ModelResponseCache struct {
	Enable bool `json:"enable"`
}

// ModelStatisticsResponse is the response about statistics.
type ModelStatisticsResponse struct {
	ModelStats []ModelStatistics `json:"model_stats"`
}

// ModelStatistics is what a server has counted of a model.
type ModelStatistics struct {
	Name           string                             `json:"name"`
	Version        string                             `json:"version"`
	LastInference  uint64                             `json:"last_inference"`
	InferenceCount uint64                             `json:"inference_count"`
	ExecutionCount uint64                             `json:"execution_count"`
	InferenceStats InferStatistics                    `json:"inference_stats"`
	BatchStats     []InferBatchStatistics             `json:"batch_stats"`
	ResponseStats  map[string]InferResponseStatistics `json:"response_stats"`
}

// StatisticDuration is how often something happened and how long it took in all.
type StatisticDuration struct {
	Count uint64 `json:"count"`
	Ns    uint64 `json:"ns"`
}

// InferStatistics are of a model's requests.
type InferStatistics struct {
	Success       StatisticDuration `json:"success"`
	Fail          StatisticDuration `json:"fail"`
	Queue         StatisticDuration `json:"queue"`
	ComputeInput  StatisticDuration `json:"compute_input"`
	ComputeInfer  StatisticDuration `json:"compute_infer"`
	ComputeOutput StatisticDuration `json:"compute_output"`
	CacheHit      StatisticDuration `json:"cache_hit"`
	CacheMiss     StatisticDuration `json:"cache_miss"`
}

// InferResponseStatistics are of a model's responses at one place of their requests.
type InferResponseStatistics struct {
	ComputeInfer  StatisticDuration `json:"compute_infer"`
	ComputeOutput StatisticDuration `json:"compute_output"`
	Success       StatisticDuration `json:"success"`
	Fail          StatisticDuration `json:"fail"`
	EmptyResponse StatisticDuration `json:"empty_response"`
	Cancel        StatisticDuration `json:"cancel"`
}

// InferBatchStatistics are of batches of one size.
type InferBatchStatistics struct {
	BatchSize     uint64            `json:"batch_size"`
	ComputeInput  StatisticDuration `json:"compute_input"`
	ComputeInfer  StatisticDuration `json:"compute_infer"`
	ComputeOutput StatisticDuration `json:"compute_output"`
}
