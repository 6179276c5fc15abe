package mock

import (
	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/mock/repository"
)

// serverVersion is the version of Triton whose behaviour this server has.
const serverVersion = "2.51.0"

func extensions() []string {
	return []string{
		"classification", "sequence", "model_repository", "model_repository(unload_dependents)", "schedule_policy", "model_configuration",
		"system_shared_memory", "cuda_shared_memory", "binary_tensor_data", "parameters", "statistics", "trace", "logging",
	}
}

// repositoryRequest is for a model to be loaded or unloaded.
type repositoryRequest struct {
	ModelName  string `json:"model_name"`
	Parameters map[string]struct {
		Bool bool `json:"bool_param"`
	} `json:"parameters"`
}

// regionName names a region of shared memory; none: all of them.
type regionName struct {
	Name string `json:"name"`
}

// method serves one method of gRPC that is no inference, given the request's kind and bytes. It
// returns the content of the response.
type method func(t *repository.Repository, kind kserve.Message, p []byte) (any, *repository.StatusError)

var methods = map[string]method{
	kserve.ServerLiveMethod:     fixed(map[string]bool{"live": true}),
	kserve.ServerReadyMethod:    fixed(map[string]bool{"ready": true}),
	kserve.ServerMetadataMethod: fixed(map[string]any{"name": "triton", "version": serverVersion, "extensions": extensions()}),
	kserve.ModelReadyMethod: decoded(func(t *repository.Repository, r *kserve.ModelName) (any, *repository.StatusError) {
		_, failure := t.Find(r.Name, r.Version)
		return map[string]bool{"ready": failure == nil}, nil
	}),
	kserve.ModelMetadataMethod: decoded(func(t *repository.Repository, r *kserve.ModelName) (any, *repository.StatusError) {
		m, failure := t.Find(r.Name, r.Version)
		if failure != nil {
			return nil, failure
		}
		return m.Metadata(), nil
	}),
	kserve.ModelConfigMethod: decoded(func(t *repository.Repository, r *kserve.ModelName) (any, *repository.StatusError) {
		m, failure := t.Find(r.Name, r.Version)
		if failure != nil {
			return nil, failure
		}
		return map[string]any{"config": m.Config()}, nil
	}),
	kserve.ModelStatisticsMethod: decoded(func(t *repository.Repository, r *kserve.ModelName) (any, *repository.StatusError) {
		return t.Statistics(r.Name, r.Version)
	}),
	kserve.TraceSettingMethod:               fixed(nil),
	kserve.LogSettingsMethod:                fixed(nil),
	kserve.CudaSharedMemoryStatusMethod:     fixed(nil),
	kserve.CudaSharedMemoryUnregisterMethod: fixed(nil),
	kserve.CudaSharedMemoryRegisterMethod: func(*repository.Repository, kserve.Message, []byte) (any, *repository.StatusError) {
		return nil, repository.Refuse(repository.CodeInvalid, "failed to register CUDA shared memory region: there is no GPU")
	},
	kserve.RepositoryIndexMethod: decoded(func(t *repository.Repository, r *struct {
		Ready bool `json:"ready"`
	}) (any, *repository.StatusError) {
		return map[string]any{"models": t.Index(r.Ready)}, nil
	}),
	kserve.RepositoryModelLoadMethod: decoded(func(t *repository.Repository, r *repositoryRequest) (any, *repository.StatusError) {
		return nil, t.Load(r.ModelName)
	}),
	kserve.RepositoryModelUnloadMethod: decoded(func(t *repository.Repository, r *repositoryRequest) (any, *repository.StatusError) {
		return nil, t.Unload(r.ModelName, r.Parameters["unload_dependents"].Bool)
	}),
	kserve.SystemSharedMemoryRegisterMethod: decoded(func(t *repository.Repository, r *repository.Region) (any, *repository.StatusError) {
		return nil, t.Regions.Register(*r)
	}),
	kserve.SystemSharedMemoryUnregisterMethod: decoded(func(t *repository.Repository, r *regionName) (any, *repository.StatusError) {
		t.Regions.Unregister(r.Name)
		return nil, nil
	}),
	kserve.SystemSharedMemoryStatusMethod: decoded(func(t *repository.Repository, r *regionName) (any, *repository.StatusError) {
		all, failure := t.Regions.Status(r.Name)
		regions := make(map[string]repository.Region)
		for _, r := range all {
			regions[r.Name] = r
		}
		return map[string]any{"regions": regions}, failure
	}),
}

// fixed is a method that always answers the same, whatever is asked.
func fixed(answer any) method {
	return func(*repository.Repository, kserve.Message, []byte) (any, *repository.StatusError) {
		return answer, nil
	}
}

func decoded[T any](serve func(*repository.Repository, *T) (any, *repository.StatusError)) method {
	return func(t *repository.Repository, kind kserve.Message, p []byte) (any, *repository.StatusError) {
		r := new(T)
		if err := kind.Decode(p, r); err != nil {
			return nil, repository.Refuse(repository.CodeInternal, "the request cannot be decoded: %v", err)
		}
		return serve(t, r)
	}
}

func (s *Server) control(path string, p []byte) ([]byte, *repository.StatusError) {
	answer, failure := methods[path](s.triton, kserve.Request(path), p)
	if failure != nil {
		return nil, failure
	}
	b, err := kserve.Response(path).Encode(answer)
	if err != nil {
		return nil, repository.Refuse(repository.CodeInternal, "encode the response: %v", err)
	}
	return b, nil
}
