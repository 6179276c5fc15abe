package mock

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/mock/repository"
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
func (s *Server) control(path string, p []byte) ([]byte, *repository.Refusal) {
	answer, failure := s.controlMessage(path, p)
	if failure != nil {
		return nil, failure
	}
	b, err := proto.Marshal(answer)
	if err != nil {
		return nil, repository.Refuse(repository.CodeInternal, "encode the answer: %v", err)
	}
	return b, nil
}

func (s *Server) controlMessage(path string, p []byte) (proto.Message, *repository.Refusal) {
	t := s.triton
	switch path {
	case kserve.ServerLiveMethod:
		return &kserve.ServerLiveResponse{Live: true}, nil
	case kserve.ServerReadyMethod:
		return &kserve.ServerReadyResponse{Ready: true}, nil
	case kserve.ServerMetadataMethod:
		return &kserve.ServerMetadataResponse{Name: "triton", Version: serverVersion, Extensions: extensions()}, nil
	case kserve.ModelReadyMethod:
		return decoded(p, &kserve.ModelReadyRequest{}, func(r *kserve.ModelReadyRequest) (proto.Message, *repository.Refusal) {
			_, failure := t.Find(r.Name, r.Version)
			return &kserve.ModelReadyResponse{Ready: failure == nil}, nil
		})
	case kserve.ModelMetadataMethod:
		return decoded(p, &kserve.ModelMetadataRequest{}, func(r *kserve.ModelMetadataRequest) (proto.Message, *repository.Refusal) {
			m, failure := t.Find(r.Name, r.Version)
			if failure != nil {
				return nil, failure
			}
			return m.Metadata(), nil
		})
	case kserve.ModelConfigMethod:
		return decoded(p, &kserve.ModelConfigRequest{}, func(r *kserve.ModelConfigRequest) (proto.Message, *repository.Refusal) {
			m, failure := t.Find(r.Name, r.Version)
			if failure != nil {
				return nil, failure
			}
			return &kserve.ModelConfigResponse{Config: m.Config()}, nil
		})
	case kserve.ModelStatisticsMethod:
		return decoded(p, &kserve.ModelStatisticsRequest{}, func(r *kserve.ModelStatisticsRequest) (proto.Message, *repository.Refusal) {
			models, failure := t.StatisticsOf(r.Name, r.Version)
			return &kserve.ModelStatisticsResponse{ModelStats: models}, failure
		})
	case kserve.TraceSettingMethod, kserve.LogSettingsMethod, kserve.CudaSharedMemoryStatusMethod, kserve.CudaSharedMemoryUnregisterMethod:
		return &emptypb.Empty{}, nil
	case kserve.CudaSharedMemoryRegisterMethod:
		return nil, repository.Refuse(repository.CodeInvalid, "failed to register CUDA shared memory region: there is no GPU")
	}
	return s.repositoryMessage(path, p)
}

// repositoryMessage serves the methods of the repository and of shared memory.
func (s *Server) repositoryMessage(path string, p []byte) (proto.Message, *repository.Refusal) {
	t := s.triton
	switch path {
	case kserve.RepositoryIndexMethod:
		return decoded(p, &kserve.RepositoryIndexRequest{}, func(r *kserve.RepositoryIndexRequest) (proto.Message, *repository.Refusal) {
			answer := &kserve.RepositoryIndexResponse{}
			for _, e := range t.Index(r.Ready) {
				answer.Models = append(answer.Models, &kserve.RepositoryIndexResponse_ModelIndex{Name: e.Name, Version: e.Version, State: e.State, Reason: e.Reason})
			}
			return answer, nil
		})
	case kserve.RepositoryModelLoadMethod:
		return decoded(p, &kserve.RepositoryModelLoadRequest{}, func(r *kserve.RepositoryModelLoadRequest) (proto.Message, *repository.Refusal) {
			return &emptypb.Empty{}, t.Load(r.ModelName)
		})
	case kserve.RepositoryModelUnloadMethod:
		return decoded(p, &kserve.RepositoryModelUnloadRequest{}, func(r *kserve.RepositoryModelUnloadRequest) (proto.Message, *repository.Refusal) {
			return &emptypb.Empty{}, t.Unload(r.ModelName, r.Parameters["unload_dependents"].GetBoolParam())
		})
	case kserve.SystemSharedMemoryRegisterMethod:
		return decoded(p, &kserve.SystemSharedMemoryRegisterRequest{}, func(r *kserve.SystemSharedMemoryRegisterRequest) (proto.Message, *repository.Refusal) {
			return &emptypb.Empty{}, t.Regions.Register(repository.Region{Name: r.Name, Key: r.Key, Offset: r.Offset, Size: r.ByteSize})
		})
	case kserve.SystemSharedMemoryUnregisterMethod:
		return decoded(p, &kserve.SystemSharedMemoryUnregisterRequest{}, func(r *kserve.SystemSharedMemoryUnregisterRequest) (proto.Message, *repository.Refusal) {
			t.Regions.Unregister(r.Name)
			return &emptypb.Empty{}, nil
		})
	case kserve.SystemSharedMemoryStatusMethod:
		return decoded(p, &kserve.SystemSharedMemoryStatusRequest{}, func(r *kserve.SystemSharedMemoryStatusRequest) (proto.Message, *repository.Refusal) {
			all, failure := t.Regions.Status(r.Name)
			answer := &kserve.SystemSharedMemoryStatusResponse{Regions: make(map[string]*kserve.SystemSharedMemoryStatusResponse_RegionStatus)}
			for _, r := range all {
				answer.Regions[r.Name] = &kserve.SystemSharedMemoryStatusResponse_RegionStatus{Name: r.Name, Key: r.Key, Offset: r.Offset, ByteSize: r.Size}
			}
			return answer, failure
		})
	}
	return nil, repository.Refuse(repository.CodeUnimplemented, "")
}

// decoded reads a request and hands it on.
func decoded[T proto.Message](p []byte, r T, f func(T) (proto.Message, *repository.Refusal)) (proto.Message, *repository.Refusal) {
	if err := proto.Unmarshal(p, r); err != nil {
		return nil, repository.Refuse(repository.CodeInternal, "the request cannot be decoded: %v", err)
	}
	return f(r)
}
