package triton

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/inferometer/inferometer/internal/lib/kserve"
)

// speaker gives a server's answers as they are, for a reader: the text of messages over
// gRPC, JSON over HTTP.
type speaker interface {
	about(ctx context.Context) (string, error)
	// described are a model's metadata and its configuration.
	described(ctx context.Context, name, version string) ([]string, error)
	// statistics are those of a model; without a name, of all.
	statistics(ctx context.Context, name, version string) (string, error)
}

// Words are what the server says of the model, of those that it is composed of and of
// itself, each answer as it came.
func (e *Endpoint) Words(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, prepareTime)
	defer cancel()
	var words []string
	for i, name := range e.model.All() {
		version := ""
		if i == 0 {
			version = e.version
		}
		said, err := e.speaker.described(ctx, name, version)
		if err != nil {
			return words, err
		}
		if i > 0 {
			said = said[len(said)-1:] // of its steps only the configurations are of interest
		}
		words = append(words, said...)
	}
	about, err := e.speaker.about(ctx)
	if err != nil {
		return words, err
	}
	return append(words, about), nil
}

// Statistics are what the server has counted of the model; of an ensemble, of all its
// models.
func (e *Endpoint) Statistics(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	if e.model.Ensemble() {
		return e.speaker.statistics(ctx, "", "")
	}
	return e.speaker.statistics(ctx, e.model.Name, e.version)
}

func (s grpcServer) about(ctx context.Context) (string, error) {
	var m kserve.ServerMetadataResponse
	err := s.call(ctx, kserve.ServerMetadataMethod, &emptypb.Empty{}, &m)
	return messageText(&m), err
}

func (s grpcServer) described(ctx context.Context, name, version string) ([]string, error) {
	var m kserve.ModelMetadataResponse
	if err := s.call(ctx, kserve.ModelMetadataMethod, &kserve.ModelMetadataRequest{Name: name, Version: version}, &m); err != nil {
		return nil, err
	}
	var c kserve.ModelConfigResponse
	if err := s.call(ctx, kserve.ModelConfigMethod, &kserve.ModelConfigRequest{Name: name, Version: version}, &c); err != nil {
		if unimplemented(err) {
			return []string{messageText(&m)}, nil
		}
		return nil, err
	}
	return []string{messageText(&m), messageText(&c)}, nil
}

func (s grpcServer) statistics(ctx context.Context, name, version string) (string, error) {
	var m kserve.ModelStatisticsResponse
	err := s.call(ctx, kserve.ModelStatisticsMethod, &kserve.ModelStatisticsRequest{Name: name, Version: version}, &m)
	return messageText(&m), err
}

// said gets an answer as it is.
func (s *httpServer) said(ctx context.Context, path string) (string, error) {
	var text json.RawMessage
	err := s.ask(ctx, http.MethodGet, path, "", &text)
	return string(text), err
}

func (s *httpServer) about(ctx context.Context) (string, error) { return s.said(ctx, "/v2") }

func (s *httpServer) described(ctx context.Context, name, version string) ([]string, error) {
	var words []string
	for _, part := range []string{"", "/config"} {
		text, err := s.said(ctx, modelPath(name, version)+part)
		if err != nil {
			return words, err
		}
		words = append(words, text)
	}
	return words, nil
}

func (s *httpServer) statistics(ctx context.Context, name, version string) (string, error) {
	if name == "" {
		return s.said(ctx, "/v2/models/stats")
	}
	return s.said(ctx, modelPath(name, version)+"/stats")
}

// messageText is a message as other implementations of protobuf write it. The one of Go
// adds a space here and there so that nobody relies on its form.
func messageText(m proto.Message) string {
	// Fields that the protocol of here does not have would stand in it as bytes.
	marshaled, err := prototext.MarshalOptions{Multiline: true, Indent: "  ", AllowPartial: true}.Marshal(m)
	if err != nil {
		return err.Error()
	}
	text := string(marshaled)
	text = regexp.MustCompile(`(?m)^( *\w+):? +\{$`).ReplaceAllString(text, "$1 {")
	text = regexp.MustCompile(`(?m)^( *)(\w+):? +\{\}$`).ReplaceAllString(text, "$1$2 {\n$1}")
	return regexp.MustCompile(`(?m)^( *\w+): +`).ReplaceAllString(text, "$1: ")
}
