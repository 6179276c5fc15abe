package args

// SendTo is where a run is sent to when it is over.
type SendTo struct {
	OTLP        string // address of an OpenTelemetry collector; empty: none
	RemoteWrite string // address of a Prometheus remote-write receiver; empty: none
}

// sendFlags are the flags about that.
func sendFlags() []option {
	return []option{
		{name: "otlp", arg: "URL", help: "send spans and metrics to this OpenTelemetry collector afterwards, such as http://host:4318 (docs/telemetry.md)"},
		{name: "remote-write", arg: "URL", help: "send time series to this Prometheus remote-write receiver afterwards, such as http://host:9090/api/v1/write (docs/telemetry.md)"},
	}
}

func (v values) sendTo() SendTo {
	return SendTo{OTLP: v.last("otlp"), RemoteWrite: v.last("remote-write")}
}
