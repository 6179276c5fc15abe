// Package args is inferometer's own command line: `run`, `report` and `plan`.
// It turns arguments into a plan, or into all the faults that they have, and runs
// nothing itself.
package args

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// Action is what a `run` command line asks for.
type Action struct {
	Command  string // whose line it is
	Plan     *plan.Plan
	Warnings []string
	Notes    []string // what was left open, and is chosen
	DryRun   bool     // print the plan and stop
	// Calibrate: the built-in mock is measured first, at the same load.
	Calibrate bool
	All       bool   // print every metric and check
	Quiet     bool   // no progress
	JSON      bool   // the result as JSON, and nothing else
	HTML      string // file for the report page; empty: none
	JUnit     string // file for the verdict and the gates; empty: none
	Help      Help   // print it and stop; there is no plan
	// Workers is how many processes send; 0: this one does. They join at an address of this
	// machine, or at a NATS of the user's own; where neither is given, they are started here.
	Workers      int
	JoinAt, NATS string
	RunID        string // empty: a random one
	// NATSCA and NATSCreds are files for that NATS; empty: it needs none.
	NATSCA, NATSCreds string
	SendTo            SendTo
	Repeat            Repeat
	Export            *ExportAction // what else to write when it has ended; nil means nothing
}

// Run reads the arguments of `inferometer run`. readFile reads a plan file. The
// error is a plan.Faults with everything that is wrong.
func Run(args []string, known planfile.Known, readFile func(name string) ([]byte, error)) (*Action, error) {
	return read(runGroups(), args, known, readFile, (*builder).stages)
}

// read reads a command's arguments with the flags of groups; load settles the stages.
func read(groups []group, args []string, known planfile.Known, readFile func(name string) ([]byte, error),
	load func(*builder)) (*Action, error) {
	v, faults := parse(groups, args, aliases()...)
	if h := v.help(); h != NoHelp {
		return &Action{Help: h}, nil
	}
	faults = append(faults, v.resolveAliases()...)
	b := &builder{values: v, draft: planfile.NewDraft(), readFile: readFile}
	faults = append(faults, b.listedLoad()...)
	b.arguments()
	later := b.assignments(groups)
	b.endpointOfPath()
	load(b)
	b.plain(groups)
	b.levels()
	b.special()
	b.workload()
	later()
	notes := b.usual()
	workers := b.workers()
	export := b.export()
	repeat := b.repeat()
	b.draft.Faults = append(faults, b.draft.Faults...)
	b.draft.Known = known
	p, err := b.draft.Finish()
	if err != nil {
		return nil, names(groups).Error(err)
	}
	p.DrawSeed = !b.draft.Given("seed")
	warn := warnings(p)
	if v.typed["rate"] == requestRate && v.given("rate") && !b.draft.Given("stages[0].arrival") {
		warn = append(warn, "--request-rate: requests are sent at even intervals; vLLM, SGLang and AIPerf draw them from a Poisson process: add --arrival poisson for that")
	}
	if len(b.broken) > 0 {
		notes = append(notes, "not by the rules of "+b.last("scenario")+": "+strings.Join(b.broken, "; "))
		p.Data.Replay.Overridden = b.broken
	}
	if w := salted(p, &repeat, b.draft.Given("data.salt")); w != "" {
		warn = append(warn, w)
	}
	return &Action{
		Command: "run", Plan: p, Warnings: warn, Notes: notes, Repeat: repeat,
		DryRun: v.is("dry-run"), Calibrate: v.is("calibrate"), All: v.is("all"), Quiet: v.is("quiet"), JSON: v.is("json"), HTML: v.last("html"), JUnit: v.last("junit"),
		Workers: workers, RunID: v.last("run-id"), JoinAt: v.last("join-at"), NATS: v.last("nats"), NATSCA: v.last("nats-ca"), NATSCreds: v.last("nats-creds"), Export: export, SendTo: v.sendTo(),
	}, nil
}

// names are our own, and the flags of fields that were set nowhere.
func names(groups []group) message.Names {
	return message.Names{Place: func(path string) (where, at string) {
		for _, g := range groups {
			for _, o := range g.options {
				if o.path != "" && o.path == path {
					return "--" + o.name, path
				}
			}
		}
		return "", path
	}}
}

// builder puts flags on top of a draft.
type builder struct {
	values
	draft    *planfile.Draft
	readFile func(name string) ([]byte, error)
	fromFile bool
	broken   []string // rules of the scenario
}

func (b *builder) fault(where, text, hint string) {
	b.draft.Faults = append(b.draft.Faults, plan.Fault{Where: where, Text: text, Hint: hint})
}

// arguments reads the plan file, if there is one, and the URLs.
func (b *builder) arguments() {
	var urls, places []string
	for i, arg := range b.args {
		where := fmt.Sprintf("argument %d", i+1)
		if strings.Contains(arg, "://") {
			urls, places = append(urls, served(arg)), append(places, where)
			continue
		}
		data, err := b.readFile(arg)
		switch {
		case err == nil && foreignPlan(arg, data) != "":
			b.fault(where, "this is "+foreignPlan(arg, data), "")
		case err == nil && b.fromFile:
			b.fault(where, "a second plan file", "give one")
		case err == nil:
			b.fromFile = true
			b.draft = planfile.Read(arg, data)
		case schemed(arg) != "" && !isPlanName(arg):
			urls, places = append(urls, served(schemed(arg))), append(places, where)
		case isPlanName(arg) || strings.Contains(arg, "/"):
			b.fault(where, "cannot read the plan file: "+reason(err), "")
		case slices.Contains([]string{".js", ".ts", ".py", ".lua", ".jmx", ".sh"}, filepath.Ext(arg)):
			b.fault(where, "is a script of another tool", "a load needs none: inferometer run URL --concurrency 8 --duration 30s")
		case isNumber(arg) || arg == "true" || arg == "false":
			b.fault(where, strconv.Quote(arg)+" is neither a URL nor a plan file", "is it the value of a flag that takes none?")
		default: // a host with no scheme, as validation will say
			urls, places = append(urls, arg), append(places, where)
		}
	}
	if len(urls) == 0 {
		return
	}
	b.draft.Forget("target.urls")
	b.draft.Plan.Target.URLs = nil
	for i, u := range urls {
		b.draft.Put(fmt.Sprintf("target.urls[%d]", i), places[i], u)
	}
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

func reason(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }

// demo reports whether the built-in mock is what is measured.
func (b *builder) demo() bool { return !b.fromFile && len(b.args) == 0 }

// stageFlags are the flags that fill in the only stage.
func stageFlags() []option {
	return slices.DeleteFunc(flagsOf("Load"), func(o option) bool { return !strings.HasPrefix(o.path, "stages[0]") })
}

// stages settles which stages there are, of each --stage, before the flags fill them in.
func (b *builder) stages() {
	if !b.given("stage") {
		b.oneStage()
		return
	}
	for _, o := range stageFlags() {
		if b.given(o.name) {
			field := strings.TrimPrefix(o.path, "stages[0].")
			b.fault("--"+o.name, "cannot be combined with --stage", "put it into --stage as "+field+"=…")
			delete(b.flags, o.name)
		}
	}
	b.draft.Forget("stages")
	b.draft.Plan.Stages = nil
	for i, spec := range b.flags["stage"] {
		where := fmt.Sprintf("--stage %d", i+1)
		path := fmt.Sprintf("stages[%d]", i)
		b.draft.Plan.Stages = append(b.draft.Plan.Stages, plan.Stage{})
		b.draft.Set(path, where)
		for part := range strings.SplitSeq(spec, ",") {
			key, value, ok := strings.Cut(part, "=")
			key = strings.ReplaceAll(strings.TrimSpace(key), "-", "_")
			if !ok || key == "" || strings.ContainsAny(key, ".[]") {
				b.draft.Fault(path, strconv.Quote(shorten(part))+" is not NAME=VALUE", "such as concurrency=8,duration=30s")
				continue
			}
			b.draft.Put(path+"."+key, where+", "+shorten(key), strings.TrimSpace(value))
		}
	}
}

// oneStage makes way for the flags of the only stage.
func (b *builder) oneStage() {
	p := &b.draft.Plan
	if !b.fromFile && b.given("sessions") {
		b.sessionStage()
		return
	}
	if !b.fromFile {
		p.Stages = []plan.Stage{b.usualStage()}
		return
	}
	if len(p.Stages) > 1 {
		for _, o := range stageFlags() {
			if b.given(o.name) {
				b.fault("--"+o.name, fmt.Sprintf("the plan file has %d stages", len(p.Stages)), "replace them with --stage")
				delete(b.flags, o.name)
			}
		}
		return
	}
	if len(p.Stages) == 0 {
		return
	}
	// A load from the command line replaces the file's, with all that belongs to the other kind.
	s := &p.Stages[0]
	var dropped []string
	switch {
	case b.given("rate"):
		s.Concurrency, s.RampTo = 0, 0
		dropped = []string{"concurrency", "ramp_to"}
	case b.given("concurrency"):
		s.Rate, s.Arrival, s.CV, s.Draws, s.MaxInFlight, s.RampTo = 0, "", 0, "", 0, 0
		dropped = []string{"rate", "arrival", "cv", "draws", "max_in_flight", "ramp_to"}
	}
	for _, field := range dropped {
		b.draft.Forget("stages[0]." + field)
	}
}

// What a command line measures that says little: as long as it takes to tell, whatever the server.
const (
	usualConcurrency = 4
	usualLength      = 30 * time.Second
	usualRequests    = 30
	usualDrain       = "2m"
	usualOutput      = 128
)

// usualStage is the load of a command line that names none: a few requests at a time for 30 s, and
// until there are enough to tell, or a short demonstration for the built-in mock.
func (b *builder) usualStage() plan.Stage {
	switch {
	case b.last("arrival") == plan.ArrivalTrace:
		return plan.Stage{} // it says when it ends
	case b.given("scenario"):
		return plan.Stage{Concurrency: usualConcurrency, Duration: plan.Duration(agentXLength)}
	case b.given("trace") && !b.given("rate") && !b.given("concurrency") && !b.given("levels"):
		return plan.Stage{Arrival: plan.ArrivalTrace}
	case b.given("rate"):
		return b.usualRate()
	}
	s := plan.Stage{Concurrency: usualConcurrency, Duration: plan.Duration(usualLength), MinRequests: usualRequests}
	switch {
	case b.demo():
		s = plan.Stage{Concurrency: 8, Duration: plan.Duration(5 * time.Second)}
	case b.given("levels"):
		s.Concurrency = 1
	case b.given("ramp-to"):
		s.Concurrency, s.MinRequests = 1, 0
	case b.given("duration"):
		s.MinRequests = 0
	}
	if b.given("requests") || b.windowed() {
		s.Duration, s.MinRequests = 0, 0
	}
	if s.MinRequests > 0 && !b.given("drain") {
		b.draft.Put("drain", "the usual load", usualDrain)
	}
	return s
}

// usualRate is how long a rate lasts that does not say so: as long as it takes to tell.
func (b *builder) usualRate() plan.Stage {
	rate, err := strconv.ParseFloat(b.last("rate"), 64)
	if err != nil || !(rate > 0) || b.given("requests") || b.given("duration") || b.given("ramp-to") || b.windowed() {
		return plan.Stage{}
	}
	length := max(usualLength, time.Duration(min(usualRequests/rate, time.Hour.Seconds())*float64(time.Second)).Round(time.Second))
	return plan.Stage{Duration: plan.Duration(length)}
}

// usual fills in what a command line without a plan file leaves open, and says so.
func (b *builder) usual() (notes []string) {
	p := &b.draft.Plan
	b.exactLengths()
	generates := p.Target.Protocol == "" || p.Target.Protocol == plan.ProtocolOpenAI || p.Target.Protocol == plan.ProtocolAnthropic
	for _, u := range p.Target.URLs {
		generates = generates && strings.HasPrefix(u, "http")
	}
	switch p.Target.Endpoint {
	case plan.EndpointSGLang:
		generates = true
	case "", plan.EndpointChat, plan.EndpointCompletions, plan.EndpointResponses, plan.EndpointMessages:
	default:
		generates = false
	}
	if b.fromFile || b.demo() || !generates || b.draft.Given("data.output") || !generated(&p.Data) {
		return nil
	}
	b.draft.Put("data.output", "--output-tokens", strconv.Itoa(usualOutput))
	if !p.Data.IgnoreEOS && !p.Data.MinTokens {
		b.draft.Put("data.output_cap", "--output-cap", "true")
	}
	return []string{fmt.Sprintf("responses end after at most %d tokens: choose another length with --output-tokens", usualOutput)}
}

// exactLengths has the model's tokenizer looked for where a length is asked for without a
// tokenizer.
func (b *builder) exactLengths() {
	p := &b.draft.Plan
	for _, u := range p.Target.URLs {
		if !strings.HasPrefix(u, "http") {
			return
		}
	}
	spoken := p.Target.Protocol == "" || p.Target.Protocol == plan.ProtocolOpenAI || p.Target.Protocol == plan.ProtocolAnthropic
	asked := b.given("input-tokens") || b.given("system-prompt-tokens") || b.given("shared-prefix") || b.given("token-ids")
	made := generated(&p.Data) && asked || p.Data.Source == plan.SourceTrace
	if spoken && made && p.Data.Corpus == "" && !b.draft.Given("tokenizer") {
		b.draft.Put("tokenizer.find", "--input-tokens", "true")
	}
}

// generated reports whether prompts are made to a length.
func generated(d *plan.Data) bool {
	return d.Source == plan.SourceSynthetic || d.Source == plan.SourceSessions
}

// plain puts the flags that stand for one field.
func (b *builder) plain(groups []group) {
	for _, g := range groups {
		for _, o := range g.options {
			if o.path != "" && b.given(o.name) {
				b.draft.Put(o.path, b.shown(o.name), b.last(o.name))
			}
		}
	}
}

// warnings are what a valid plan probably does not mean.
func warnings(p *plan.Plan) []string {
	var list []string
	var plainHTTP, https bool
	for _, raw := range p.Target.URLs {
		u, err := url.Parse(raw)
		if err != nil {
			continue
		}
		https = https || u.Scheme == "https" || u.Scheme == "grpcs"
		local := u.Hostname() == "localhost" || strings.HasPrefix(u.Hostname(), "127.") || u.Hostname() == "::1"
		plainHTTP = plainHTTP || (u.Scheme == "http" || u.Scheme == "grpc") && !local
	}
	if p.Target.APIKey != (plan.Secret{}) && plainHTTP {
		list = append(list, "the API key is sent unencrypted: the URL is http or grpc, not https or grpcs")
	}
	if p.Target.TLS != (plan.TLS{}) && !https {
		list = append(list, "the TLS settings have no effect: no URL is https or grpcs")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Target.Headers)) {
		if strings.EqualFold(name, "Content-Length") || strings.EqualFold(name, "Transfer-Encoding") {
			list = append(list, "the header "+name+" has no effect: it is set from the request")
		}
	}
	if p.Tokenizer.Revision != "" && p.Tokenizer.StandIn() {
		list = append(list, "the tokenizer's revision has no effect: "+p.Tokenizer.Name+" has none")
	}
	return list
}

func shorten(s string) string { return truncate.Text(s, 40) }
