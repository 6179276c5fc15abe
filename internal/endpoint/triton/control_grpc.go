package triton

import (
	"context"
	"errors"
	"fmt"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/wire/grpc"
)

// grpcServer asks over gRPC.
type grpcServer struct{ client *grpc.Client }

// call carries out a call of the control plane. A refusal is a *serverError, but where
// the server does not know the method at all.
func (s grpcServer) call(ctx context.Context, method string, ask, answer any) error {
	got, err := s.send(ctx, method, ask)
	if err != nil {
		return err
	}
	if err := kserve.Response(method).Decode(got, answer); err != nil {
		return fmt.Errorf("malformed response to %s: %w", method, err)
	}
	return nil
}

// send carries out a call and returns the response as it came.
func (s grpcServer) send(ctx context.Context, method string, ask any) ([]byte, error) {
	message, err := kserve.Request(method).Encode(ask)
	if err != nil {
		return nil, fmt.Errorf("encoding a call of %s: %w", method, err)
	}
	got, err := s.client.Call(ctx, method, message)
	var status *grpc.StatusError
	if errors.As(err, &status) && status.Code != grpc.Unimplemented && status.Message != "" {
		return nil, &serverError{status.Message}
	}
	return got, err
}

func unimplemented(err error) bool {
	var status *grpc.StatusError
	return errors.As(err, &status) && status.Code == grpc.Unimplemented
}

func (s grpcServer) alive(ctx context.Context) error {
	err := s.call(ctx, kserve.ServerLiveMethod, nil, nil)
	if unimplemented(err) {
		return fmt.Errorf("it speaks gRPC but has no service %s: this is not Triton (%w)", kserve.Service, err)
	}
	return err
}

func (s grpcServer) model(ctx context.Context, name, version string) (*kserve.ModelMetadata, *kserve.ModelConfig, error) {
	var m kserve.ModelMetadata
	if err := s.call(ctx, kserve.ModelMetadataMethod, kserve.ModelName{Name: name, Version: version}, &m); err != nil {
		return nil, nil, err
	}
	var c kserve.ModelConfigResponse
	err := s.call(ctx, kserve.ModelConfigMethod, kserve.ModelName{Name: name, Version: version}, &c)
	if unimplemented(err) {
		err = nil
	}
	return &m, c.Config, err
}

func (s grpcServer) register(ctx context.Context, name, key string, size int64) error {
	ask := map[string]any{"name": name, "key": key, "byte_size": size}
	return s.call(ctx, kserve.SystemSharedMemoryRegisterMethod, ask, nil)
}

func (s grpcServer) unregister(ctx context.Context, name string) error {
	return s.call(ctx, kserve.SystemSharedMemoryUnregisterMethod, map[string]any{"name": name}, nil)
}

func (s grpcServer) index(ctx context.Context) ([]listed, error) {
	var r struct {
		Models []listed `json:"models"`
	}
	err := s.call(ctx, kserve.RepositoryIndexMethod, nil, &r)
	return r.Models, err
}
