package otlp

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/inferometer/inferometer/internal/remote/otlp"
)

// DefaultService is the service's name where none is given.
const DefaultService = "inference-perf"

// Settings say whether spans are wanted, and where.
type Settings struct {
	otlp.Settings
	Service  string
	PerStage bool
}

// FromEnv takes the settings from the variables that OpenTelemetry and inference-perf
// have for them; ok: spans are wanted.
func FromEnv(getenv func(string) string) (s Settings, ok bool, err error) {
	if !otlp.IsTrue(getenv("OTEL_TRACES_ENABLED")) || otlp.IsTrue(getenv("OTEL_SDK_DISABLED")) {
		return s, false, nil
	}
	s.Service = cmp.Or(getenv("OTEL_SERVICE_NAME"), DefaultService)
	s.PerStage = otlp.IsTrue(getenv("OTEL_TRACE_PER_STAGE"))
	s.Settings, err = otlp.Lookup{Getenv: getenv, Signal: otlp.Traces, Likely: likely}.Settings()
	return s, err == nil, err
}

// likely is the protocol of a collector where no variable names one: over gRPC, as the
// original does in every case, but for an address that only HTTP can have.
func likely(u *url.URL) string {
	if u.Port() == "4318" || strings.Trim(u.Path, "/") != "" {
		return otlp.HTTPJSON
	}
	return otlp.GRPC
}
