package plan

// ProtocolAnthropic is Anthropic's messages API; EndpointMessages is its endpoint.
const (
	ProtocolAnthropic = "anthropic"
	EndpointMessages  = "messages"
)

// Chats reports whether requests are chats, around which the server puts its template.
func (t *Target) Chats() bool {
	return t.Endpoint == EndpointChat || t.Endpoint == EndpointMessages
}

// SessionHeaders tie the requests of a session together for routers.
type SessionHeaders struct {
	ID    string // request header that carries the session's id
	Token string // response header whose value later requests of the session send back
}

func sessionHeadersSpec() codec[SessionHeaders] {
	return object("mapping", []field[SessionHeaders]{
		at("id", text(), func(s *SessionHeaders) *string { return &s.ID }, "Request header that carries the session's id."),
		at("token", text(), func(s *SessionHeaders) *string { return &s.Token },
			"Response header whose value later requests of the session send back under the same name."),
	}, nil)
}

// SLOHeaders are request headers that tell the server a request's objectives. What
// they say is the request's own objective of goodput.
type SLOHeaders struct {
	TTFT string
	TPOT string
	Unit string // "s", "ms" (also when empty) or "us"
}

func sloHeadersSpec() codec[SLOHeaders] {
	return object("mapping", []field[SLOHeaders]{
		at("ttft", text(), func(s *SLOHeaders) *string { return &s.TTFT }, "Header that holds the longest time to first token."),
		at("tpot", text(), func(s *SLOHeaders) *string { return &s.TPOT }, "Header that holds the longest time per output token."),
		at("unit", word("`s`, `ms` or `us`", "s", "ms", "us"), func(s *SLOHeaders) *string { return &s.Unit }, "Unit of both. Left out: `ms`."),
	}, nil)
}

func (c *checker) routing(t *Target) {
	for _, h := range []struct{ path, name string }{
		{"target.session.id", t.Session.ID}, {"target.session.token", t.Session.Token},
		{"target.slo_headers.ttft", t.SLOHeaders.TTFT}, {"target.slo_headers.tpot", t.SLOHeaders.TPOT},
	} {
		if h.name != "" && !isHeaderName(h.name) {
			c.add(h.path, quote(h.name)+" is not a header name", "")
		}
	}
	if t.SLOHeaders.Unit != "" {
		c.choice("target.slo_headers.unit", t.SLOHeaders.Unit, []string{"s", "ms", "us"})
	}
	if t.Protocol == ProtocolTriton && (t.Session != SessionHeaders{}) {
		c.lacks("target.session", "target.protocol", "has no meaning for protocol triton", "leave it out")
	}
}

// inferAnthropic fills in what the protocol says.
func (d *Draft) inferAnthropic() {
	if t := &d.Plan.Target; t.Protocol == ProtocolAnthropic && !d.Given("target.endpoint") {
		t.Endpoint = EndpointMessages
	}
}
