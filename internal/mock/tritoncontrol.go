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

// method serves one method of gRPC that is no inference, given the request's bytes.
type method func(t *repository.Repository, p []byte) (proto.Message, *repository.StatusError)

// methods are all of them.
var methods = map[string]method{
	kserve.ServerLiveMethod:     fixed(&kserve.ServerLiveResponse{Live: true}),
	kserve.ServerReadyMethod:    fixed(&kserve.ServerReadyResponse{Ready: true}),
	kserve.ServerMetadataMethod: fixed(&kserve.ServerMetadataResponse{Name: "triton", Version: serverVersion, Extensions: extensions()}),
	kserve.ModelReadyMethod: decoded(func(t *repository.Repository, r *kserve.ModelReadyRequest) (proto.Message, *repository.StatusError) {
		_, failure := t.Find(r.Name, r.Version)
		return &kserve.ModelReadyResponse{Ready: failure == nil}, nil
	}),
	kserve.ModelMetadataMethod: decoded(func(t *repository.Repository, r *kserve.ModelMetadataRequest) (proto.Message, *repository.StatusError) {
		m, failure := t.Find(r.Name, r.Version)
		if failure != nil {
			return nil, failure
		}
		return m.Metadata(), nil
	}),
	kserve.ModelConfigMethod: decoded(func(t *repository.Repository, r *kserve.ModelConfigRequest) (proto.Message, *repository.StatusError) {
		m, failure := t.Find(r.Name, r.Version)
		if failure != nil {
			return nil, failure
		}
		return &kserve.ModelConfigResponse{Config: m.Config()}, nil
	}),
	kserve.ModelStatisticsMethod: decoded(func(t *repository.Repository, r *kserve.ModelStatisticsRequest) (proto.Message, *repository.StatusError) {
		models, failure := t.StatisticsOf(r.Name, r.Version)
		return &kserve.ModelStatisticsResponse{ModelStats: models}, failure
	}),
	kserve.TraceSettingMethod:               fixed(&emptypb.Empty{}),
	kserve.LogSettingsMethod:                fixed(&emptypb.Empty{}),
	kserve.CudaSharedMemoryStatusMethod:     fixed(&emptypb.Empty{}),
	kserve.CudaSharedMemoryUnregisterMethod: fixed(&emptypb.Empty{}),
	kserve.CudaSharedMemoryRegisterMethod: func(*repository.Repository, []byte) (proto.Message, *repository.StatusError) {
		return nil, repository.Refuse(repository.CodeInvalid, "failed to register CUDA shared memory region: there is no GPU")
	},
	kserve.RepositoryIndexMethod: decoded(func(t *repository.Repository, r *kserve.RepositoryIndexRequest) (proto.Message, *repository.StatusError) {
		answer := &kserve.RepositoryIndexResponse{}
		for _, e := range t.Index(r.Ready) {
			answer.Models = append(answer.Models, &kserve.RepositoryIndexResponse_ModelIndex{Name: e.Name, Version: e.Version, State: e.State, Reason: e.Reason})
		}
		return answer, nil
	}),
	kserve.RepositoryModelLoadMethod: decoded(func(t *repository.Repository, r *kserve.RepositoryModelLoadRequest) (proto.Message, *repository.StatusError) {
		return &emptypb.Empty{}, t.Load(r.ModelName)
	}),
	kserve.RepositoryModelUnloadMethod: decoded(func(t *repository.Repository, r *kserve.RepositoryModelUnloadRequest) (proto.Message, *repository.StatusError) {
		return &emptypb.Empty{}, t.Unload(r.ModelName, r.Parameters["unload_dependents"].GetBoolParam())
	}),
	kserve.SystemSharedMemoryRegisterMethod: decoded(func(t *repository.Repository, r *kserve.SystemSharedMemoryRegisterRequest) (proto.Message, *repository.StatusError) {
		return &emptypb.Empty{}, t.Regions.Register(repository.Region{Name: r.Name, Key: r.Key, Offset: r.Offset, Size: r.ByteSize})
	}),
	kserve.SystemSharedMemoryUnregisterMethod: decoded(func(t *repository.Repository, r *kserve.SystemSharedMemoryUnregisterRequest) (proto.Message, *repository.StatusError) {
		t.Regions.Unregister(r.Name)
		return &emptypb.Empty{}, nil
	}),
	kserve.SystemSharedMemoryStatusMethod: decoded(func(t *repository.Repository, r *kserve.SystemSharedMemoryStatusRequest) (proto.Message, *repository.StatusError) {
		all, failure := t.Regions.Status(r.Name)
		answer := &kserve.SystemSharedMemoryStatusResponse{Regions: make(map[string]*kserve.SystemSharedMemoryStatusResponse_RegionStatus)}
		for _, r := range all {
			answer.Regions[r.Name] = &kserve.SystemSharedMemoryStatusResponse_RegionStatus{Name: r.Name, Key: r.Key, Offset: r.Offset, ByteSize: r.Size}
		}
		return answer, failure
	}),
}

// fixed is a method that always answers the same, whatever is asked.
func fixed(answer proto.Message) method {
	return func(*repository.Repository, []byte) (proto.Message, *repository.StatusError) { return answer, nil }
}

// decoded is a method that reads its request.
func decoded[T any, M interface {
	*T
	proto.Message
}](serve func(*repository.Repository, M) (proto.Message, *repository.StatusError)) method {
	return func(t *repository.Repository, p []byte) (proto.Message, *repository.StatusError) {
		r := M(new(T))
		if err := proto.Unmarshal(p, r); err != nil {
			return nil, repository.Refuse(repository.CodeInternal, "the request cannot be decoded: %v", err)
		}
		return serve(t, r)
	}
}

// control serves a method that is no inference.
func (s *Server) control(path string, p []byte) ([]byte, *repository.StatusError) {
	answer, failure := methods[path](s.triton, p)
	if failure != nil {
		return nil, failure
	}
	b, err := proto.Marshal(answer)
	if err != nil {
		return nil, repository.Refuse(repository.CodeInternal, "encode the answer: %v", err)
	}
	return b, nil
}
