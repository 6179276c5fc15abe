package planfile

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/document"
)

// Numbers beyond these are slips of the keyboard, not benchmarks.
const (
	mostInFlight = 1_000_000
	mostRate     = 10_000_000
	mostRequests = 1_000_000_000_000
	mostLength   = 100_000_000
	mostPrompts  = 1_000_000_000
	mostStages   = 10_000
	mostCV       = 1000
	mostTime     = plan.Duration(30 * 24 * time.Hour)
)

// Validate says all that is wrong with a plan: the error is a Faults, nil when
// the plan can be run.
func Validate(p *plan.Plan) error { return check(p, Known{}).Err() }

type checker struct {
	known  Known
	faults plan.Faults
}

func check(p *plan.Plan, known Known) plan.Faults {
	c := &checker{known: known}
	if p.Version != plan.Version {
		c.add("version", fmt.Sprintf("is %d; this program reads version %d", p.Version, plan.Version), "")
	}
	c.fields("", p)
	c.target(&p.Target)
	c.data(p)
	if p.Tokenizer.Name == "" {
		c.add("tokenizer.name", "is empty", "name the model's tokenizer, "+plan.TokenizerBuiltin+" or "+plan.TokenizerWords)
	}
	if len(p.Stages) == 0 {
		c.add("stages", "is empty: no requests would be sent", "give one with concurrency or rate")
	}
	if len(p.Stages) > mostStages {
		c.add("stages", fmt.Sprintf("there are %d, more than %d", len(p.Stages), mostStages), "")
	}
	switch searched := p.Capacity.On() || p.Capacity.Max != 0 || p.Capacity.Precision != 0 || p.Capacity.MaxTime != 0 ||
		p.Capacity.Hold != 0; {
	case p.Saturation != (plan.Saturation{}):
		c.saturation(p)
	case searched:
		c.capacity(p)
	default:
		for i := range p.Stages {
			path := fmt.Sprintf("stages[%d]", i)
			c.stage(path, &p.Stages[i], p.Measurement.Endless() || p.Data.Trace.Once)
			c.growth(path, p, &p.Stages[i])
		}
	}
	c.levels(p)
	c.measurement(&p.Measurement)
	c.goodput(p.Goodput)
	c.conditions(p)
	c.breakers(p.Breakers)
	c.probes(p)
	c.cost(p)
	if p.Output.KeepRaw && p.Output.Dir == "" {
		c.lacks("output.keep_raw", "output", "there is no directory to keep responses in", "give %v", message.OutputDir)
	}
	if p.Output.KeepRaw && p.Output.NoTexts {
		c.lacks("output.no_texts", "output", "cannot be combined with output.keep_raw", "keep one of them")
	}
	c.storage(&p.Output)
	return c.faults
}

func (c *checker) add(path, text, hint string, named ...any) {
	c.faults = append(c.faults, plan.Fault{Path: path, Text: text, Hint: hint, Args: named})
}

// lacks is a fault of the field at path, if the part of the plan called needs was read well.
func (c *checker) lacks(path, needs, text, hint string, named ...any) {
	c.faults = append(c.faults, plan.Fault{Path: path, Text: text, Hint: hint, Args: named, Needs: needs})
}

// part is part of a plan, and whether there is anything in it.
type part struct {
	name  string
	given bool
}

// without says that the parts that are given may not be, as the part of the plan called needs has it.
func (c *checker) without(prefix, needs, text, hint string, parts ...part) {
	for _, p := range parts {
		if p.given {
			c.lacks(prefix+p.name, needs, text, hint)
		}
	}
}

// choice says that value is none of known unless it is.
func (c *checker) choice(path, value string, known []string) {
	if slices.Contains(known, value) {
		return
	}
	text := "is empty"
	if value != "" {
		text = "unknown value " + truncate.Quote(value) + suggest.DidYouMean(value, known)
	}
	c.add(path, text, "one of "+strings.Join(known, ", "))
}

func (c *checker) time(path string, d plan.Duration) {
	switch {
	case d < 0:
		c.add(path, fmt.Sprintf("must not be negative, is %s", d), "")
	case d > mostTime:
		c.add(path, fmt.Sprintf("is %s, more than 30 days", d), "")
	}
}

func (c *checker) count(path string, n, most int64) {
	switch {
	case n < 0:
		c.add(path, fmt.Sprintf("must not be negative, is %d", n), "")
	case n > most:
		c.add(path, fmt.Sprintf("is %d, more than %d", n, most), "")
	}
}

// amount checks a number that may have a fraction.
func (c *checker) amount(path string, v, most float64) bool {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		c.add(path, "is not a number", "")
	case v < 0:
		c.add(path, fmt.Sprintf("must not be negative, is %v", v), "")
	case v > most:
		c.add(path, fmt.Sprintf("is %v, more than %v", v, most), "")
	default:
		return true
	}
	return false
}

func (c *checker) share(path string, v float64) {
	if !(v >= 0 && v <= 1) { // NaN too
		c.add(path, fmt.Sprintf("must be from 0 to 1, is %v", v), "write 5% or 0.05")
	}
}

func (c *checker) target(t *plan.Target) {
	c.choice("target.protocol", t.Protocol, plan.AddMissing(protocolNames(), c.known.Protocols))
	c.protocol(t)
	c.routing(t)
	c.proxy(t.Proxy)
	if t.Path != "" && !strings.HasPrefix(t.Path, "/") {
		c.add("target.path", truncate.Quote(plan.SafeURL(t.Path))+" does not begin with a slash", "such as /v1/chat/completions")
	}
	if t.Endpoint == plan.EndpointEmbeddings && t.Streaming {
		c.add("target.streaming", "embeddings are never streamed", "leave it out or set it to false")
	}
	c.headers(t.Headers)
	nodes := 0
	for _, name := range sortedKeys(t.Body) {
		if !bodyFits(t.Body[name], 0, &nodes) {
			c.add(document.Join("target.body", name), errTooLarge.Error(), "")
			break
		}
	}
	if t.APIKey.Env != "" && t.APIKey.File != "" {
		c.add("target.api_key", "env and file cannot be combined", "give one of them")
	}
	c.oauth(t)
	if strings.ContainsAny(t.APIKey.Env, "= \t") {
		c.add("target.api_key.env", "is not the name of an environment variable", "give the name, never the key itself")
	}
	switch {
	case t.TLS.Cert != "" && t.TLS.Key == "":
		c.add("target.tls.cert", "a client certificate needs both cert and key", "give %v", message.GiveKey)
	case t.TLS.Key != "" && t.TLS.Cert == "":
		c.add("target.tls.key", "a client certificate needs both cert and key", "give %v", message.GiveCert)
	}
	if t.TLS.Insecure && t.TLS.CA != "" {
		c.add("target.tls", "ca and insecure cannot be combined", "give one of them")
	}
	c.retries(t)
}

func (c *checker) url(path, raw string) {
	if raw == "" {
		c.add(path, "is empty", "such as http://localhost:8000")
		return
	}
	if !strings.Contains(raw, "://") {
		safe := plan.SafeURL(raw)
		c.add(path, "has no scheme: "+truncate.Quote(safe), "did you mean "+strings.Trim(truncate.Quote("http://"+safe), `"`)+"?")
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		// The parser's own message repeats the URL, and with it a password.
		c.add(path, "is not a URL", "such as http://localhost:8000")
	case !knownScheme(u.Scheme):
		c.add(path, "unknown scheme "+truncate.Quote(u.Scheme), "%v", message.Schemes)
	case u.Hostname() == "":
		c.add(path, "names no host", "such as http://localhost:8000")
	case badPort(u.Port()):
		c.add(path, "port "+u.Port()+" is not from 1 to 65535", "")
	case u.Fragment != "":
		c.add(path, "has a fragment (#), which is never sent", "leave it out")
	}
}

// proxy checks whom requests go through. A URL, which may hold a password, is not repeated.
func (c *checker) proxy(raw string) {
	if raw == "" || raw == plan.ProxyEnvironment || raw == plan.ProxyNone {
		return
	}
	const such = "environment, none, or a URL such as http://proxy.example.com:3128"
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Hostname() == "":
		c.add("target.proxy", "is not the URL of a proxy", such)
	case u.Scheme != "http":
		c.add("target.proxy", "scheme "+truncate.Quote(u.Scheme)+" cannot be used: only http:// proxies can", such)
	case badPort(u.Port()):
		c.add("target.proxy", "port "+u.Port()+" is not from 1 to 65535", "")
	}
}

// badPort reports whether a port is given and is none.
func badPort(port string) bool {
	n, err := strconv.Atoi(port)
	return port != "" && (err != nil || n < 1 || n > 65535)
}

func (c *checker) headers(headers map[string]string) {
	for _, name := range sortedKeys(headers) {
		path := document.Join("target.headers", name)
		switch value := headers[name]; {
		case !isHeaderName(name):
			c.add("target.headers", truncate.Quote(name)+" is not a header name", "")
		case strings.ContainsAny(value, "\r\n\x00"):
			c.add(path, "a header's value must be on one line", "")
		case value == plan.Hidden:
			c.add(path, "was taken out when this plan was printed", "put the value back, or use api_key")
		}
	}
}

// isHeaderName reports whether s is a token of RFC 9110.
func isHeaderName(s string) bool {
	for _, b := range []byte(s) {
		if b <= ' ' || b >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, b) >= 0 {
			return false
		}
	}
	return s != ""
}

func (c *checker) data(p *plan.Plan) {
	d := &p.Data
	c.choice("data.source", d.Source, plan.AddMissing(sourceNames(), c.known.Sources))
	c.tensors(p)
	c.sources(p)
	c.bare(p)
	switch {
	case d.Source == plan.SourceFile && d.File == "":
		c.add("data.file", "is missing", "give the file that holds the prompts")
	case !slices.Contains([]string{plan.SourceFile, plan.SourceTensors, plan.SourcePayload, plan.SourceTrace, plan.SourceVLLM}, d.Source) && d.File != "":
		c.add("data.file", "cannot be combined with source: "+d.Source, "set source to file or leave the file out")
	}
	switch {
	case d.Source == plan.SourceFile && d.Input != plan.Length{}:
		c.lacks("data.input", "data.source", "prompts from a file have the length they have", "leave it out")
	case !made(d.Source) && d.Source != plan.SourceTensors && d.Source != plan.SourcePayload && d.Source != plan.SourceTrace &&
		d.Input != plan.Length{}:
		c.lacks("data.input", "data.source", "does not apply to source: "+d.Source, "leave it out")
	case made(d.Source) && d.Input == plan.Length{} && d.Trace.Lengths == "":
		c.add("data.input", "is missing", "such as 128")
	}
	if p.Target.Endpoint == plan.EndpointEmbeddings && d.Output != (plan.Length{}) {
		c.add("data.output", "embeddings have no output length", "leave it out")
	}
	if d.MinTokens && d.Output == (plan.Length{}) && d.Source == plan.SourceSynthetic {
		c.lacks("data.min_tokens", "data.output", "there is no output length to send", "give %v", message.GiveOutput)
	}
	if d.OutputCap {
		c.without("data.", "data.output_cap", "cannot be combined with output_cap, which allows shorter responses", "leave one of them out",
			part{"min_tokens", d.MinTokens}, part{"ignore_eos", d.IgnoreEOS})
		if d.Output == (plan.Length{}) && d.Source == plan.SourceSynthetic {
			c.lacks("data.output_cap", "data.output", "there is no output length to be shorter than", "give %v", message.GiveOutput)
		}
	}
	if d.Counted != "" && !slices.Contains([]string{plan.SourceSynthetic, plan.SourceRandom, plan.SourceSharedPrefix}, d.Source) {
		c.lacks("data.input_tokens_count", "data.source", "does not apply to source: "+d.Source, "leave it out")
	}
}

func (c *checker) length(path string, l plan.Length) {
	if l == (plan.Length{}) {
		return
	}
	c.choice(path+".dist", l.Dist, plan.Distributions())
	mean := c.amount(path+".mean", l.Mean, mostLength)
	stddev := c.amount(path+".stddev", l.Stddev, mostLength)
	c.count(path+".min", int64(l.Min), mostLength)
	c.count(path+".max", int64(l.Max), mostLength)
	if l.Max > 0 && l.Min > l.Max {
		c.add(path, fmt.Sprintf("min %d is more than max %d", l.Min, l.Max), "")
	}
	c.shape(path, l)
	if !mean || !stddev {
		return
	}
	switch l.Dist {
	case plan.DistUniform:
		if l.Max <= 0 {
			c.add(path+".max", "a uniform length needs a max", "such as 100-200")
		}
		if l.Mean != 0 || l.Stddev != 0 {
			c.add(path, "a uniform length has min and max, no mean or stddev", "")
		}
		return
	case plan.DistFixed:
		if l.Stddev != 0 || l.Min != 0 || l.Max != 0 {
			c.add(path, "a fixed length has a mean alone", "use normal or uniform")
		}
	}
	if l.Mean < 1 {
		hint := ""
		if path == "data.output" {
			hint = "leave it out and the server decides"
		}
		c.add(path+".mean", fmt.Sprintf("must be 1 or more, is %v", l.Mean), hint)
	}
	if l.Dist == plan.DistFixed && l.Mean != math.Trunc(l.Mean) {
		c.add(path+".mean", fmt.Sprintf("a fixed length must be a whole number, is %v", l.Mean), "")
	}
	if l.Max > 0 && l.Mean > float64(l.Max) || l.Mean < float64(l.Min) {
		c.add(path+".mean", fmt.Sprintf("%v is outside min and max", l.Mean), "")
	}
}

func (c *checker) goodput(slos []plan.SLO) {
	seen := map[string]bool{}
	for _, s := range slos {
		path := document.Join("goodput", s.Metric)
		if !slices.Contains(plan.SLOMetrics(), s.Metric) {
			c.add(path, "unknown metric"+suggest.DidYouMean(s.Metric, append(plan.SLOShortNames(), plan.SLOMetrics()...)), "one of "+strings.Join(plan.SLOShortNames(), ", ")+" or their full names")
			continue
		}
		if seen[s.Metric] {
			c.add(path, "given twice", "")
		}
		seen[s.Metric] = true
		if s.Max <= 0 {
			c.add(path, fmt.Sprintf("must be more than 0, is %s", s.Max), "such as 200ms")
			continue
		}
		c.time(path, s.Max)
	}
}

func (c *checker) storage(o *plan.Output) {
	if o.S3 != (plan.S3{}) {
		if o.S3.Bucket == "" {
			c.add("output.s3.bucket", "is missing", "")
		}
		if o.S3.Endpoint != "" {
			c.url("output.s3.endpoint", o.S3.Endpoint)
		}
	}
	if o.GCS != (plan.GCS{}) && o.GCS.Bucket == "" {
		c.add("output.gcs.bucket", "is missing", "")
	}
	if o.Dir == "" && (o.S3 != plan.S3{} || o.GCS != plan.GCS{}) {
		c.lacks("output", "output", "there is nothing to copy without a directory", "give %v", message.OutputDir)
	}
}
