package otlp

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
)

// How exports go to a collector, by OpenTelemetry's names.
const (
	GRPC         = "grpc"
	HTTPProtobuf = "http/protobuf"
	HTTPJSON     = "http/json"
)

// The signals, as the paths of addresses name them.
const (
	Traces  = "traces"
	Metrics = "metrics"
)

// Settings say where exports of one signal go.
type Settings struct {
	Endpoint string // full address; empty: no collector
	Protocol string
	Headers  map[string]string // of every export
}

// Lookup finds the settings of a signal.
type Lookup struct {
	Getenv func(string) string
	Signal string // Traces or Metrics
	// Base is an address in place of the environment's, and Name what errors call it; empty: none.
	Base, Name string
	// Likely is the protocol of an address where no variable names one.
	Likely func(u *url.URL) string
}

// Settings are those of OpenTelemetry's variables. Without an address there is no endpoint.
func (l Lookup) Settings() (s Settings, err error) {
	if err := l.collector(&s); err != nil {
		return s, err
	}
	list, name := l.first("HEADERS")
	s.Headers, err = Pairs(list, name)
	return s, err
}

// first is the first set variable of an exporter, and its name: the signal's comes before the
// shared one.
func (l Lookup) first(what string) (value, name string) {
	for _, name = range []string{"OTEL_EXPORTER_OTLP_" + strings.ToUpper(l.Signal) + "_" + what, "OTEL_EXPORTER_OTLP_" + what} {
		if value = strings.TrimSpace(l.Getenv(name)); value != "" {
			return value, name
		}
	}
	return "", name
}

// collector finds where exports go, and how.
func (l Lookup) collector(s *Settings) error {
	to, name := l.first("ENDPOINT")
	whole := name != "OTEL_EXPORTER_OTLP_ENDPOINT" // it is the signal's own, path and all
	if l.Base != "" {
		to, name, whole = l.Base, l.Name, false
	}
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
	by, said := l.first("PROTOCOL")
	by = cmp.Or(by, l.Likely(u))
	switch by {
	case GRPC:
		s.Endpoint = u.Scheme + "://" + u.Host
	case HTTPProtobuf, HTTPJSON:
		s.Endpoint = address
		if !whole {
			s.Endpoint = strings.TrimSuffix(address, "/") + "/v1/" + l.Signal
		}
	default:
		return fmt.Errorf("%s is %q: use %s, %s or %s", said, by, GRPC, HTTPProtobuf, HTTPJSON)
	}
	s.Protocol = by
	return nil
}

// IsTrue reads a variable that is true or false.
func IsTrue(s string) bool { return strings.EqualFold(strings.TrimSpace(s), "true") || s == "1" }

// Pairs reads name=value pairs with commas between them, values percent-encoded, out of a
// variable.
func Pairs(list, variable string) (map[string]string, error) {
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
