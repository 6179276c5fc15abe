package otlp

// Span is a span, as OTLP's JSON has it: 64 bits do not fit JSON's numbers, so those are
// texts.
type Span struct {
	TraceID    string      `json:"traceId" pb:"1,hex"` // in hexadecimal, as the others
	SpanID     string      `json:"spanId" pb:"2,hex"`
	Parent     string      `json:"parentSpanId,omitempty" pb:"4,hex"`
	Name       string      `json:"name" pb:"5"`
	Kind       int         `json:"kind" pb:"6"`
	Start      int64       `json:"startTimeUnixNano,string" pb:"7,fixed"`
	End        int64       `json:"endTimeUnixNano,string" pb:"8,fixed"`
	Attributes []Attribute `json:"attributes,omitempty" pb:"9"`
	Events     []Event     `json:"events,omitempty" pb:"11"`
	Status     Status      `json:"status" pb:"15"`
}

// Event is a time of a span.
type Event struct {
	Time int64  `json:"timeUnixNano,string" pb:"1,fixed"`
	Name string `json:"name" pb:"2"`
}

// Status says how a span ended.
type Status struct {
	Code    int    `json:"code,omitempty" pb:"3"`
	Message string `json:"message,omitempty" pb:"2"`
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
