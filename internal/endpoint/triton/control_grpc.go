package triton

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/wire/grpc"
)

// grpcServer asks over gRPC.
type grpcServer struct{ client *grpc.Client }

// call carries out a call of the control plane. A refusal is a *serverError, but where
// the server does not know the method at all.
func (s grpcServer) call(ctx context.Context, method string, ask, answer proto.Message) error {
	message, err := proto.Marshal(ask)
	if err != nil {
		return fmt.Errorf("encoding a call of %s: %w", method, err)
	}
	got, err := s.client.Call(ctx, method, message)
	var status *grpc.StatusError
	switch {
	case errors.As(err, &status) && status.Code != grpc.Unimplemented && status.Message != "":
		return &serverError{status.Message}
	case err != nil:
		return err
	}
	if err := proto.Unmarshal(got, answer); err != nil {
		return fmt.Errorf("malformed response to %s: %w", method, err)
	}
	return nil
}

func unimplemented(err error) bool {
	var status *grpc.StatusError
	return errors.As(err, &status) && status.Code == grpc.Unimplemented
}

func (s grpcServer) alive(ctx context.Context) error {
	err := s.call(ctx, kserve.ServerLiveMethod, &emptypb.Empty{}, &kserve.ServerLiveResponse{})
	if unimplemented(err) {
		return fmt.Errorf("it speaks gRPC but has no service %s: this is not Triton (%w)", kserve.Service, err)
	}
	return err
}

func (s grpcServer) model(ctx context.Context, name, version string) (*kserve.ModelMetadataResponse, *kserve.ModelConfig, error) {
	var m kserve.ModelMetadataResponse
	if err := s.call(ctx, kserve.ModelMetadataMethod, &kserve.ModelMetadataRequest{Name: name, Version: version}, &m); err != nil {
		return nil, nil, err
	}
	var c kserve.ModelConfigResponse
	err := s.call(ctx, kserve.ModelConfigMethod, &kserve.ModelConfigRequest{Name: name, Version: version}, &c)
	if unimplemented(err) {
		err = nil
	}
	return &m, c.GetConfig(), err
}

func (s grpcServer) register(ctx context.Context, name, key string, size int64) error {
	ask := &kserve.SystemSharedMemoryRegisterRequest{Name: name, Key: key, ByteSize: uint64(size)}
	return s.call(ctx, kserve.SystemSharedMemoryRegisterMethod, ask, &emptypb.Empty{})
}

func (s grpcServer) unregister(ctx context.Context, name string) error {
	ask := &kserve.SystemSharedMemoryUnregisterRequest{Name: name}
	return s.call(ctx, kserve.SystemSharedMemoryUnregisterMethod, ask, &emptypb.Empty{})
}

func (s grpcServer) index(ctx context.Context) ([]listed, error) {
	var r kserve.RepositoryIndexResponse
	if err := s.call(ctx, kserve.RepositoryIndexMethod, &kserve.RepositoryIndexRequest{}, &r); err != nil {
		return nil, err
	}
	var list []listed
	for _, m := range r.GetModels() {
		list = append(list, listed{m.GetName(), m.GetVersion(), m.GetState(), m.GetReason()})
	}
	return list, nil
}
