package args

// SendTo is where a run is sent to when it is over.
type SendTo struct {
	OTLP        string // address of an OpenTelemetry collector; empty: none
	RemoteWrite string // address of a Prometheus remote-write receiver; empty: none
}

func (v values) sendTo() SendTo {
	return SendTo{OTLP: v.last("otlp"), RemoteWrite: v.last("remote-write")}
}
