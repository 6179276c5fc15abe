package otlp

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// DefaultService is the service's name where none is given.
const DefaultService = "inference-perf"

// How exports go to a collector, by OpenTelemetry's names.
const (
	GRPC         = "grpc"
	HTTPProtobuf = "http/protobuf"
	HTTPJSON     = "http/json"
)

// Settings say whether spans are wanted, and where.
type Settings struct {
	Endpoint string // full address; empty: no collector
	Protocol string
	Headers  map[string]string // of every export
	Service  string
	PerStage bool
}

// FromEnv takes the settings from the variables that OpenTelemetry and inference-perf
// have for them; ok: spans are wanted.
func FromEnv(getenv func(string) string) (s Settings, ok bool, err error) {
	if !isTrue(getenv("OTEL_TRACES_ENABLED")) || isTrue(getenv("OTEL_SDK_DISABLED")) {
		return s, false, nil
	}
	s.Service = cmp.Or(getenv("OTEL_SERVICE_NAME"), DefaultService)
	s.PerStage = isTrue(getenv("OTEL_TRACE_PER_STAGE"))
	if err := s.collector(getenv); err != nil {
		return s, false, err
	}
	list, name := first(getenv, "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
	s.Headers, err = headers(list, name)
	return s, err == nil, err
}

// first is the first variable that is set, and its name.
func first(getenv func(string) string, names ...string) (value, name string) {
	for _, name = range names {
		if value = strings.TrimSpace(getenv(name)); value != "" {
			return value, name
		}
	}
	return "", name
}

// collector finds where exports go, and how.
func (s *Settings) collector(getenv func(string) string) error {
	to, name := first(getenv, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	if to == "" {
		return nil
	}
	address := to
	if !strings.Contains(to, "://") {
		address = "http://" + to // host:port, as gRPC has it
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%s is not a collector URL: use one such as http://localhost:4317 (gRPC) or http://localhost:4318 (HTTP)", name)
	}
	by, said := first(getenv, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
	by = cmp.Or(by, likely(u))
	switch by {
	case GRPC:
		s.Endpoint = u.Scheme + "://" + u.Host
	case HTTPProtobuf, HTTPJSON:
		s.Endpoint = address
		if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
			s.Endpoint = strings.TrimSuffix(address, "/") + "/v1/traces"
		}
	default:
		return fmt.Errorf("%s is %q: use %s, %s or %s", said, by, GRPC, HTTPProtobuf, HTTPJSON)
	}
	s.Protocol = by
	return nil
}

// likely is the protocol of a collector where no variable names one: over gRPC, as the
// original does in every case, but for an address that only HTTP can have.
func likely(u *url.URL) string {
	if u.Port() == "4318" || strings.Trim(u.Path, "/") != "" {
		return HTTPJSON
	}
	return GRPC
}

func isTrue(s string) bool { return strings.EqualFold(strings.TrimSpace(s), "true") || s == "1" }

// headers reads name=value pairs with commas between them, values percent-encoded.
func headers(list, variable string) (map[string]string, error) {
	out := map[string]string{}
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || err != nil || name == "" || strings.ContainsAny(name+value, "\r\n") {
			return nil, fmt.Errorf("%s has an entry that is not name=value: use name1=value1,name2=value2 with percent-encoded values", variable)
		}
		out[name] = value
	}
	return out, nil
}
