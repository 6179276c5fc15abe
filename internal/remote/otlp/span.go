package otlp

// Span is a span, as OTLP's JSON has it: 64 bits do not fit JSON's numbers, so those are
// texts.
type Span struct {
	TraceID    string      `json:"traceId"` // in hexadecimal, as the others
	SpanID     string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      int64       `json:"startTimeUnixNano,string"`
	End        int64       `json:"endTimeUnixNano,string"`
	Attributes []Attribute `json:"attributes,omitempty"`
	Events     []Event     `json:"events,omitempty"`
	Status     Status      `json:"status"`
}

// Event is a moment of a span.
type Event struct {
	Time int64  `json:"timeUnixNano,string"`
	Name string `json:"name"`
}

// Status says how a span ended.
type Status struct {
	Code    int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// The numbers that OTLP has for kinds and states.
const (
	KindInternal = 1
	KindClient   = 3
	StatusOK     = 1
	StatusError  = 2
)

// Add adds attributes, if the span has them.
func (s *Span) Add(has bool, list ...Attribute) {
	if has {
		s.Attributes = append(s.Attributes, list...)
	}
}

// protobuf is an opentelemetry.proto.trace.v1.Span.
func (s *Span) protobuf() (m message) {
	m.id(1, s.TraceID)
	m.id(2, s.SpanID)
	m.id(4, s.Parent)
	m.text(5, s.Name)
	m.varint(6, uint64(s.Kind))
	m.fixed(7, uint64(s.Start))
	m.fixed(8, uint64(s.End))
	m.attributes(9, s.Attributes)
	for _, e := range s.Events {
		var event message
		event.fixed(1, uint64(e.Time))
		event.text(2, e.Name)
		m.bytes(11, event)
	}
	if s.Status != (Status{}) {
		var end message
		end.text(2, s.Status.Message)
		end.varint(3, uint64(s.Status.Code))
		m.bytes(15, end)
	}
	return m
}
