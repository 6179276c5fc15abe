// Package kserve holds the messages of the KServe v2 inference protocol with Triton's
// extensions and the paths of its gRPC methods. It sends nothing: who speaks the protocol
// brings a connection of their own.
//
// The definition, which `make proto` writes, is NVIDIA's; see LICENSE.definitions.
package kserve

// Service is the full name of the gRPC service.
const Service = "inference.GRPCInferenceService"

// The methods of the service, as gRPC writes them into a request's path.
const (
	ServerLiveMethod                   = "/" + Service + "/ServerLive"
	ServerReadyMethod                  = "/" + Service + "/ServerReady"
	ModelReadyMethod                   = "/" + Service + "/ModelReady"
	ServerMetadataMethod               = "/" + Service + "/ServerMetadata"
	ModelMetadataMethod                = "/" + Service + "/ModelMetadata"
	ModelInferMethod                   = "/" + Service + "/ModelInfer"
	ModelStreamInferMethod             = "/" + Service + "/ModelStreamInfer"
	ModelConfigMethod                  = "/" + Service + "/ModelConfig"
	ModelStatisticsMethod              = "/" + Service + "/ModelStatistics"
	RepositoryIndexMethod              = "/" + Service + "/RepositoryIndex"
	RepositoryModelLoadMethod          = "/" + Service + "/RepositoryModelLoad"
	RepositoryModelUnloadMethod        = "/" + Service + "/RepositoryModelUnload"
	SystemSharedMemoryStatusMethod     = "/" + Service + "/SystemSharedMemoryStatus"
	SystemSharedMemoryRegisterMethod   = "/" + Service + "/SystemSharedMemoryRegister"
	SystemSharedMemoryUnregisterMethod = "/" + Service + "/SystemSharedMemoryUnregister"
	CudaSharedMemoryStatusMethod       = "/" + Service + "/CudaSharedMemoryStatus"
	CudaSharedMemoryRegisterMethod     = "/" + Service + "/CudaSharedMemoryRegister"
	CudaSharedMemoryUnregisterMethod   = "/" + Service + "/CudaSharedMemoryUnregister"
	TraceSettingMethod                 = "/" + Service + "/TraceSetting"
	LogSettingsMethod                  = "/" + Service + "/LogSettings"
)

// Names of the request and response parameters that have a meaning to Triton.
const (
	ParameterSequenceID    = "sequence_id"                        // int64 or string
	ParameterSequenceStart = "sequence_start"                     // bool
	ParameterSequenceEnd   = "sequence_end"                       // bool
	ParameterPriority      = "priority"                           // whole number
	ParameterTimeout       = "timeout"                            // microseconds
	ParameterEmptyFinal    = "triton_enable_empty_final_response" // bool, request: ask for a marker of the end
	ParameterFinal         = "triton_final_response"              // bool, response: this is the last one
	ParameterBinarySize    = "binary_data_size"                   // int64, HTTP: bytes of a tensor after the JSON header
	ParameterBinary        = "binary_data"                        // bool, HTTP: wanted as bytes after the JSON header
	ParameterBinaryOutputs = "binary_data_output"                 // bool, HTTP: so are all outputs
	ParameterRegion        = "shared_memory_region"               // string: the tensor lies in this region
	ParameterRegionSize    = "shared_memory_byte_size"            // int64
	ParameterRegionOffset  = "shared_memory_offset"               // int64
)
