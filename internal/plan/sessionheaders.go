package plan

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

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
	return object(
		fieldOf("id", text(), func(s *SessionHeaders) *string { return &s.ID }, "Request header that carries the session's id."),
		fieldOf("token", text(), func(s *SessionHeaders) *string { return &s.Token },
			"Response header whose value later requests of the session send back under the same name."),
	)
}

// SLOHeaders are request headers that tell the server a request's objectives. What
// they say is the request's own objective of goodput.
type SLOHeaders struct {
	TTFT string
	TPOT string
	Unit string // "s", "ms" (also when empty) or "us"
}

var sloHeadersSpec = sync.OnceValue(func() codec[SLOHeaders] {
	return object(
		fieldOf("ttft", text(), func(s *SLOHeaders) *string { return &s.TTFT }, "Header that holds the longest time to first token."),
		fieldOf("tpot", text(), func(s *SLOHeaders) *string { return &s.TPOT }, "Header that holds the longest time per output token."),
		fieldOf("unit", word("s", "ms", "us"), func(s *SLOHeaders) *string { return &s.Unit }, "Unit of both. Left out: `ms`."),
	)
})

func (c *checker) routing(t *Target) {
	for _, h := range []struct{ path, name string }{
		{"target.session.id", t.Session.ID}, {"target.session.token", t.Session.Token},
		{"target.slo_headers.ttft", t.SLOHeaders.TTFT}, {"target.slo_headers.tpot", t.SLOHeaders.TPOT},
	} {
		if h.name != "" && !isHeaderName(h.name) {
			c.add(h.path, quote(h.name)+" is not a header name", "")
		}
	}
	sloHeadersSpec().check(c, "target.slo_headers", &t.SLOHeaders)
	for _, name := range sortedKeys(t.Headers) {
		if _, most, ok := t.objective(name, t.Headers[name]); ok && most == 0 {
			c.add(join("target.headers", name), "must be a number more than 0: target.slo_headers makes it an objective", "")
		}
	}
	if t.Protocol == ProtocolTriton && (t.Session != SessionHeaders{}) {
		c.lacks("target.session", "target.protocol", "does not apply to protocol triton", "leave it out")
	}
}

// inferObjectives makes what the headers promise objectives of goodput, instead of
// what else is said of them. What is no number is left to the checks.
func (d *Draft) inferObjectives() {
	p := &d.Plan
	for name, value := range p.Target.Headers {
		metric, most, ok := p.Target.objective(name, value)
		if !ok || most <= 0 {
			continue
		}
		p.Goodput = slices.DeleteFunc(slices.Clone(p.Goodput), func(s SLO) bool { return s.Metric == metric })
		p.Goodput = append(p.Goodput, SLO{Metric: metric, Max: most})
	}
	if p.Target.SLOHeaders != (SLOHeaders{}) {
		slices.SortStableFunc(p.Goodput, func(a, b SLO) int { return strings.Compare(a.Metric, b.Metric) })
	}
}

// objective is what a header promises; 0: it is no time.
func (t *Target) objective(name, value string) (metric string, most Duration, ok bool) {
	switch h := t.SLOHeaders; {
	case h.TTFT != "" && strings.EqualFold(name, h.TTFT):
		metric = sloAlias("ttft")
	case h.TPOT != "" && strings.EqualFold(name, h.TPOT):
		metric = sloAlias("tpot")
	default:
		return "", 0, false
	}
	unit := cmp.Or(map[string]float64{"s": 1e9, "us": 1e3}[t.SLOHeaders.Unit], 1e6)
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(n*unit >= 1) || n*unit > float64(mostTime) {
		return metric, 0, true
	}
	return metric, Duration(math.Round(n * unit)), true
}

// inferAnthropic fills in what the protocol says.
func (d *Draft) inferAnthropic() {
	if t := &d.Plan.Target; t.Protocol == ProtocolAnthropic && !d.Given("target.endpoint") {
		t.Endpoint = EndpointMessages
	}
}
