package triton

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"

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
	return s.text(ctx, kserve.ServerMetadataMethod, nil)
}

func (s grpcServer) described(ctx context.Context, name, version string) ([]string, error) {
	metadata, err := s.text(ctx, kserve.ModelMetadataMethod, kserve.ModelName{Name: name, Version: version})
	if err != nil {
		return nil, err
	}
	config, err := s.text(ctx, kserve.ModelConfigMethod, kserve.ModelName{Name: name, Version: version})
	if unimplemented(err) {
		return []string{metadata}, nil
	}
	if err != nil {
		return nil, err
	}
	return []string{metadata, config}, nil
}

func (s grpcServer) statistics(ctx context.Context, name, version string) (string, error) {
	return s.text(ctx, kserve.ModelStatisticsMethod, kserve.ModelName{Name: name, Version: version})
}

// text carries out a call; the response is for a reader.
func (s grpcServer) text(ctx context.Context, method string, ask any) (string, error) {
	got, err := s.send(ctx, method, ask)
	if err != nil {
		return "", err
	}
	text, err := kserve.Response(method).Text(got)
	if err != nil {
		return "", fmt.Errorf("malformed response to %s: %w", method, err)
	}
	return messageText(text), nil
}

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

// messageText is the text of a message as other implementations of protobuf write it. The one of
// Go adds spaces at random so that its form cannot be relied on.
func messageText(text string) string {
	text = regexp.MustCompile(`(?m)^( *\w+):? +\{$`).ReplaceAllString(text, "$1 {")
	text = regexp.MustCompile(`(?m)^( *)(\w+):? +\{\}$`).ReplaceAllString(text, "$1$2 {\n$1}")
	return regexp.MustCompile(`(?m)^( *\w+): +`).ReplaceAllString(text, "$1: ")
}
