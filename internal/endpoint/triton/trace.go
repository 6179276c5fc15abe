package triton

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/inferometer/inferometer/internal/lib/kserve"
)

// tracer is a server that can be told about its own traces.
type tracer interface {
	trace(ctx context.Context, settings map[string]string) error
}

// setTraces tells a server what it shall trace. It stays so after the run.
func setTraces(ctx context.Context, t tracer, settings map[string]string) error {
	if len(settings) == 0 {
		return nil
	}
	if err := t.trace(ctx, settings); err != nil {
		return fmt.Errorf("setting the server's traces: %w", err)
	}
	return nil
}

func (s grpcServer) trace(ctx context.Context, settings map[string]string) error {
	values := map[string]any{}
	for name, value := range settings {
		values[name] = map[string]any{"value": []string{value}}
	}
	return s.call(ctx, kserve.TraceSettingMethod, map[string]any{"settings": values}, nil)
}

func (s *httpServer) trace(ctx context.Context, settings map[string]string) error {
	ask := map[string]any{}
	for name, value := range settings {
		ask[name] = value
		if name == "trace_level" {
			ask[name] = []string{value} // the only one that may have several
		}
	}
	send, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	return s.ask(ctx, http.MethodPost, "/v2/trace/setting", string(send), nil)
}
