package planfile

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/localaddr"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/document"
)

// sourcesSpec is a list of local addresses and ranges of them, none of which holds another:
// the same address twice has its ports but once.
func sourcesSpec() *form {
	f := listOrOne(reflect.TypeFor[[]netip.Prefix](), scalar("an IP address or CIDR range", schema{"type": "string"},
		func(p netip.Prefix) any { return localaddr.Text(p) },
		func(n *yaml.Node) (netip.Prefix, error) { return localaddr.Parse(n.Value) }))
	f.kind = "list of addresses"
	f.check = func(c *checker, path string, v any) {
		prefixes := *v.(*[]netip.Prefix)
		order := make([]int, len(prefixes))
		for i := range order {
			order[i] = i
		}
		at := func(i int) netip.Prefix { return prefixes[i] }
		slices.SortStableFunc(order, func(a, b int) int { return at(a).Compare(at(b)) })
		widest := 0 // of those that begin no later
		for k, i := range order {
			if k > 0 && at(order[widest]).Overlaps(at(i)) {
				c.add(fmt.Sprintf("%s[%d]", path, i), localaddr.Text(at(i))+" is also in "+localaddr.Text(at(order[widest])), "leave one of them out")
				continue
			}
			widest = k
		}
	}
	return f
}

// oauth checks how tokens are had.
func (c *checker) oauth(t *plan.Target) {
	const at = "target.oauth."
	o := &t.OAuth
	if unset(o) {
		return
	}
	if o.TokenURL == "" {
		c.add(at+"token_url", "is missing", "where tokens are had, such as https://login.example.com/oauth/token")
	} else {
		c.url(at+"token_url", o.TokenURL)
	}
	if o.ClientID == "" {
		c.add(at+"client_id", "is missing", "")
	}
	if s := o.ClientSecret; (s.Env == "") == (s.File == "") {
		c.add(at+"client_secret", "needs either env or file", "the name of an environment variable or of a file that holds it")
	}
	if t.APIKey != (plan.Secret{}) {
		c.lacks(at+"token_url", "target.api_key", "cannot be combined with an API key: a token takes its place", "give one of them")
	}
	if t.Protocol == plan.ProtocolTriton {
		c.lacks(at+"token_url", "target.protocol", "is not for Triton", "leave it out")
	}
}

func httpEndpoints() []string {
	return []string{plan.EndpointRankings, plan.EndpointRerank, plan.EndpointRetrieval, plan.EndpointTGI, plan.EndpointSGLang,
		plan.EndpointCohereRerank, plan.EndpointJinaRerank, plan.EndpointTemplate}
}

// inferHTTP fills in what the endpoint says.
func (d *Draft) inferHTTP() {
	t := &d.Plan.Target
	if slices.Contains(httpEndpoints(), t.Endpoint) && !d.Given("target.protocol") {
		t.Protocol = plan.ProtocolHTTP
	}
	if t.Endpoint == plan.EndpointTranscriptions && !d.Given("data.media.audio.count") && d.Plan.Data.Source == plan.SourceSynthetic {
		d.Plan.Data.Media.Audio.Count = plan.Length{Dist: plan.DistFixed, Mean: 1}
	}
	if !t.Generates() && !d.Given("target.streaming") {
		t.Streaming = false
	}
}

// bare checks what the endpoints of plain HTTP servers need.
func (c *checker) bare(p *plan.Plan) {
	t, d := &p.Target, &p.Data
	if !t.Generates() {
		name := t.Endpoint
		switch {
		case t.Endpoint == plan.EndpointEmbeddings: // has words of its own
		case t.Streaming:
			c.add("target.streaming", name+" returns a single response", "leave it out or set it to false")
		}
		if t.Endpoint != plan.EndpointEmbeddings && d.Output != (plan.Length{}) {
			c.add("data.output", name+" has no output length", "leave it out")
		}
	}
	switch {
	case t.Endpoint == plan.EndpointTemplate && t.Template == "":
		c.add("target.template", "is missing", "give the file that bodies are made from, or "+plan.TemplateEmbedQA)
	case t.Endpoint != plan.EndpointTemplate && t.Template != "":
		c.lacks("target.template", "target.endpoint", "only for endpoint template", "leave it out")
	}
	if t.Endpoint == plan.EndpointRetrieval && d.Media.Image.Count == (plan.Length{}) && d.Source != plan.SourceFile {
		c.lacks("data.media.image.count", "data", "is missing: there would be nothing to look at", "such as 1")
	}
	if d.Batch > 0 && !t.Batches() {
		c.lacks("data.batch", "target.endpoint", "endpoint "+truncate.Quote(t.Endpoint)+" takes a single text", "leave it out")
	}
}

const mostRetries = 1000

func (c *checker) retries(t *plan.Target) {
	if t.Retries.Backoff > 0 && t.Retries.Count == 0 {
		c.add("target.retries.backoff", "there are no retries to wait for", "give %v", message.Retries)
	}
}

func (c *checker) routing(t *plan.Target) {
	for _, h := range []struct{ path, name string }{
		{"target.session.id", t.Session.ID}, {"target.session.token", t.Session.Token},
		{"target.slo_headers.ttft", t.SLOHeaders.TTFT}, {"target.slo_headers.tpot", t.SLOHeaders.TPOT},
	} {
		if h.name != "" && !isHeaderName(h.name) {
			c.add(h.path, truncate.Quote(h.name)+" is not a header name", "")
		}
	}
	for _, name := range sortedKeys(t.Headers) {
		if _, most, ok := objectiveIn(t.SLOHeaders, name, t.Headers[name]); ok && most == 0 {
			c.add(document.Join("target.headers", name), "must be a number more than 0: target.slo_headers makes it an objective", "")
		}
	}
	if t.Protocol == plan.ProtocolTriton && (t.Session != plan.SessionHeaders{}) {
		c.lacks("target.session", "target.protocol", "does not apply to protocol triton", "leave it out")
	}
}

// inferObjectives makes what the headers promise objectives of goodput, instead of
// what else is said of them. What is no number is left to the checks.
func (d *Draft) inferObjectives() {
	p := &d.Plan
	for name, value := range p.Target.Headers {
		metric, most, ok := objectiveIn(p.Target.SLOHeaders, name, value)
		if !ok || most <= 0 {
			continue
		}
		p.Goodput = slices.DeleteFunc(slices.Clone(p.Goodput), func(s plan.SLO) bool { return s.Metric == metric })
		p.Goodput = append(p.Goodput, plan.SLO{Metric: metric, Max: most})
	}
	if p.Target.SLOHeaders != (plan.SLOHeaders{}) {
		slices.SortStableFunc(p.Goodput, func(a, b plan.SLO) int { return strings.Compare(a.Metric, b.Metric) })
	}
}

// objectiveIn is what a header promises; 0: it is no time.
func objectiveIn(h plan.SLOHeaders, name, value string) (metric string, most plan.Duration, ok bool) {
	switch {
	case h.TTFT != "" && strings.EqualFold(name, h.TTFT):
		metric = plan.SLOMetric("ttft")
	case h.TPOT != "" && strings.EqualFold(name, h.TPOT):
		metric = plan.SLOMetric("tpot")
	default:
		return "", 0, false
	}
	unit := cmp.Or(map[string]float64{"s": 1e9, "us": 1e3}[h.Unit], 1e6)
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(n*unit >= 1) || n*unit > float64(mostTime) {
		return metric, 0, true
	}
	return metric, plan.Duration(math.Round(n * unit)), true
}

// inferAnthropic fills in what the protocol says.
func (d *Draft) inferAnthropic() {
	if t := &d.Plan.Target; t.Protocol == plan.ProtocolAnthropic && !d.Given("target.endpoint") {
		t.Endpoint = plan.EndpointMessages
	}
}
