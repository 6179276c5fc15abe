package args

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/pattern"
	"github.com/inferometer/inferometer/internal/plan"
)

// workload puts the flags that say what requests are about: conversations, prefixes, adapters, images, tools.
func (b *builder) workload() {
	p := &b.draft.Plan
	if b.given("trace") {
		b.trace(b.last("trace"))
	}
	if b.given("scenario") {
		b.scenario(b.last("scenario"))
	}
	if b.given("dataset") {
		b.dataset(b.last("dataset"))
	}
	if b.given("sessions") {
		b.draft.Put("data.sessions.count", "--sessions", b.last("sessions"))
	}
	if b.given("think-time") {
		b.thinkTime(b.last("think-time"))
	}
	if b.given("cancel") {
		b.cancel(b.last("cancel"))
	}
	for _, flag := range []string{"sessions", "turns", "think-time"} {
		if b.given(flag) && !b.draft.Given("data.source") && p.Data.File == "" {
			b.draft.Put("data.source", b.shown(flag), plan.SourceSessions)
		}
	}
	if b.given("shared-prefix") && !b.given("prefix-groups") && p.Data.Prefixes.Count == 0 {
		b.draft.Put("data.prefixes.count", "--shared-prefix", "1")
	}
	if b.given("reset-cache") {
		b.draft.Put("target.reset_cache", "--reset-cache", plan.ResetAuto)
	}
	if b.given("cache-hit") {
		b.cacheHit(b.last("cache-hit"))
	}
	if b.given("lora") {
		b.lora(b.last("lora"))
	}
	if b.given("image-size") {
		b.imageSizes(b.last("image-size"))
	}
	if b.given("audio-length") {
		b.audioLengths(b.last("audio-length"))
	}
	if b.given("tools") {
		b.tools(b.last("tools"))
	}
}

// trace plays a file: at its own times, unless a load is given.
func (b *builder) trace(name string) {
	const flag = "--trace"
	for _, other := range []string{"input-file", "dataset", "turns", "sessions"} {
		if b.given(other) {
			b.fault(flag, "cannot be combined with "+b.shown(other), "give one of them")
			return
		}
	}
	b.draft.Put("data.source", flag, plan.SourceTrace)
	b.draft.Put("data.file", flag, name)
	b.draft.Forget("data.input")
	if b.traceWindow() {
		from, to, _ := strings.Cut(b.last("window"), "..")
		for field, value := range map[string]string{"from": from, "to": to} {
			if value != "" {
				b.draft.Put("data.trace."+field, "--window", value)
			}
		}
	}
}

// agentX is the scenario of InferenceX that replays agents.
const (
	agentX       = plan.ScenarioAgentX
	agentXLength = 30 * time.Minute // where none is given
	agentXLeast  = 15 * time.Minute
	agentXGap    = 10 * time.Second
)

// scenario is a load whose rules are known by name. One that a flag breaks is a fault, or a note where that is wanted.
func (b *builder) scenario(name string) {
	const flag = "--scenario"
	if name != agentX {
		b.fault(flag, "there is no scenario "+strconv.Quote(shorten(name)), "it is "+agentX)
		return
	}
	if !b.given("trace") {
		b.fault(flag, "needs the corpus of recorded sessions", "give a file or a directory of Weka traces with --trace")
		return
	}
	for _, rule := range []struct {
		broken bool
		flag   string
		text   string
	}{
		{b.timeOf("duration", agentXLength) < agentXLeast, "duration", "is less than 15m"},
		{b.timeOf("trace-idle-gap-cap", agentXGap) != agentXGap, "trace-idle-gap-cap", "is not 10s"},
		{b.given("no-stream"), "no-stream", "leaves no times of tokens"},
		{b.given("rate"), "rate", "begins sessions whenever, and there are always as many as --concurrency"},
		{b.given("arrival"), "arrival", "begins sessions whenever, and there are always as many as --concurrency"},
		{b.given("speed"), "speed", "changes the recorded waits"},
		{b.given("cap-gaps"), "cap-gaps", "changes the recorded waits"},
		{b.given("requests"), "requests", "ends the run before its time"},
		{b.given("levels"), "levels", "is more than one load"},
	} {
		switch {
		case rule.broken && b.is("unsafe-override"):
			b.broken = append(b.broken, "--"+rule.flag+" "+rule.text)
		case rule.broken:
			b.fault(b.shown(rule.flag), rule.text+": "+agentX+" does not allow that", "leave it out, or add --unsafe-override")
		}
	}
	lanes := strconv.Itoa(usualConcurrency)
	if b.given("concurrency") {
		lanes = b.last("concurrency")
	}
	for _, f := range [][2]string{
		{"data.trace.format", plan.TraceWeka}, {"data.ignore_eos", "true"}, {"data.replay.lanes", lanes}, {"data.replay.cache_bust", "true"},
		{"data.replay.idle_gap", agentXGap.String()}, {"data.replay.start_max", "1"}, {"data.replay.scenario", agentX},
	} {
		if !b.draft.Given(f[0]) {
			b.draft.Put(f[0], flag, f[1])
		}
	}
}

// timeOf is the time that a flag gives, or else another.
func (b *builder) timeOf(flag string, usual time.Duration) time.Duration {
	if d, err := plan.ParseDuration(b.last(flag)); b.given(flag) && err == nil {
		return time.Duration(d)
	}
	return usual
}

// traceWindow reports whether --window is of a trace.
func (b *builder) traceWindow() bool {
	return b.given("trace") && strings.Contains(b.last("window"), "..")
}

// dataset is a data set by its name, or a file whose columns say what it is.
func (b *builder) dataset(name string) {
	const flag = "--dataset"
	b.draft.Forget("data.dataset")
	b.draft.Plan.Data.Dataset = plan.Dataset{}
	switch {
	case b.given("input-file"):
		b.fault(flag, "cannot be combined with --input-file", "give one of them")
		return
	case slices.Contains(plan.DatasetKinds(), name):
		b.draft.Put("data.dataset.kind", flag, name)
	case name == "sonnet":
		b.fault(flag, "lines of a poem are in no data set that can be fetched", "what they measure is a shared beginning: --shared-prefix 200 --input-tokens 350 --output-tokens 150")
		return
	case !strings.ContainsAny(name, "./\\"):
		b.fault(flag, "there is no data set "+strconv.Quote(shorten(name)), "one of "+strings.Join(plan.DatasetKinds(), ", ")+", or a file, such as ./"+shorten(name)+".jsonl")
		return
	default:
		b.draft.Put("data.dataset.kind", flag, plan.DatasetAuto)
		b.draft.Put("data.dataset.path", flag, name)
	}
	b.draft.Put("data.source", flag, plan.SourceDataset)
	if !b.given("input-tokens") {
		b.draft.Forget("data.input")
	}
}

// sessionStage is the load of sessions that are each played once: so many at a time, or so many that begin per second.
// The flags of a load say how many.
func (b *builder) sessionStage() {
	b.draft.Plan.Stages = []plan.Stage{{Arrival: plan.ArrivalSessions}}
	b.draft.Set("stages[0].arrival", "--sessions")
	if !b.given("concurrency") && !b.given("rate") && !b.given("max-in-flight") {
		b.flags["concurrency"] = []string{strconv.Itoa(usualConcurrency)}
	}
	for _, f := range [][2]string{{"concurrency", "concurrent"}, {"rate", "rate"}, {"max-in-flight", "concurrent"}, {"duration", "timeout"}} {
		if b.given(f[0]) {
			b.draft.Put("stages[0].sessions."+f[1], b.shown(f[0]), b.last(f[0]))
			delete(b.flags, f[0])
		}
	}
	for _, f := range [][2]string{{"requests", "the run ends with the last session"}, {"levels", "give one --concurrency or --rate"}, {"arrival", "sessions begin evenly spaced"}} {
		if b.given(f[0]) {
			b.fault(b.shown(f[0]), "cannot be combined with --sessions: "+f[1], "leave it out, or use --turns without --sessions")
			delete(b.flags, f[0])
		}
	}
}

// spans are the durations in a distribution of times, such as those of normal:mean=2s,stddev=500ms.
var spans = pattern.New(`\d[\d.]*(?:ns|us|µs|ms|s|m|h)?(?:\d[\d.]*(?:ns|us|µs|ms|s|m|h))*`)

// thinkTime is a distribution of times, which the plan has in milliseconds.
func (b *builder) thinkTime(text string) {
	if ms, zero := b.milliseconds("--think-time", text, "such as 2s, 1s-5s or normal:mean=2s,stddev=500ms,min=100ms"); !zero {
		b.draft.Put("data.sessions.delay_ms", "--think-time", ms)
	}
}

// cancel is a share of the requests, and when their users go away.
func (b *builder) cancel(text string) {
	const flag, hint = "--cancel", "such as 10%@500ms or 10%@200ms-2s: a tenth of the requests, half a second after they were sent"
	share, after, ok := strings.Cut(text, "@")
	if !ok {
		b.fault(flag, strconv.Quote(shorten(text))+" is not SHARE@TIMES", hint)
		return
	}
	b.draft.Forget("cancel")
	b.draft.Plan.Cancel = plan.Cancel{}
	b.draft.Put("cancel.share", flag, strings.TrimSpace(share))
	if ms, zero := b.milliseconds(flag, strings.TrimSpace(after), hint); !zero {
		b.draft.Put("cancel.after_ms", flag, ms)
	}
}

// milliseconds is a distribution of times as one of numbers; zero: it is nothing, or a fault.
func (b *builder) milliseconds(flag, text, hint string) (ms string, zero bool) {
	var wrong error
	zero = true
	ms = spans().ReplaceAllStringFunc(text, func(one string) string {
		d, err := plan.ParseDuration(one)
		if err != nil {
			wrong = err
		}
		zero = zero && d == 0
		return strconv.FormatInt(time.Duration(d).Round(time.Millisecond).Milliseconds(), 10)
	})
	switch _, err := plan.ParseLength(ms); {
	case wrong != nil:
		b.fault(flag, wrong.Error(), hint)
	case err != nil:
		b.fault(flag, strconv.Quote(shorten(text))+" is not a time", hint)
	default:
		return ms, zero
	}
	return "", true
}

// cacheHit has prompts begin as others do, with that share of their length.
func (b *builder) cacheHit(share string) {
	const flag = "--cache-hit"
	for _, other := range []string{"shared-prefix", "turns", "sessions", "trace", "dataset", "input-file"} {
		if b.given(other) {
			b.fault(flag, "cannot be combined with "+b.shown(other), "it is for synthetic prompts, of a length that --input-tokens says")
			return
		}
	}
	b.draft.Put("data.prefixes.share", flag, share)
	if !b.given("prefix-groups") && b.draft.Plan.Data.Prefixes.Count == 0 {
		b.draft.Put("data.prefixes.count", flag, "1")
	}
}

// lora is a list of adapters with their shares of the traffic, or without: then they share alike.
func (b *builder) lora(text string) {
	const flag = "--lora"
	b.draft.Forget("data.adapters")
	b.draft.Plan.Data.Adapters = nil
	parts := strings.Split(text, ",")
	for i, part := range parts {
		name, share, ok := strings.Cut(part, "=")
		if ok != strings.Contains(parts[0], "=") {
			b.fault(flag, "some adapters have a share and others have none", "such as --lora sql=0.7,tweets=0.3, or --lora sql,tweets for equal shares")
			return
		}
		if !ok {
			share = strconv.FormatFloat(1/float64(len(parts)), 'g', -1, 64)
		}
		at := fmt.Sprintf("data.adapters[%d].", i)
		b.draft.Put(at+"name", flag, strings.TrimSpace(name))
		b.draft.Put(at+"share", flag, strings.TrimSpace(share))
	}
}

// imageSizes are sizes that are drawn from, of one image where their number is not given.
func (b *builder) imageSizes(text string) {
	const flag = "--image-size"
	for i, size := range strings.Split(text, ",") {
		width, height, ok := strings.Cut(strings.ToLower(strings.TrimSpace(size)), "x")
		if !ok {
			b.fault(flag, strconv.Quote(shorten(size))+" is not WIDTHxHEIGHT", "such as 1024x768")
			return
		}
		at := fmt.Sprintf("data.media.image.sizes[%d].", i)
		b.draft.Put(at+"width", flag, width)
		b.draft.Put(at+"height", flag, height)
	}
	if !b.draft.Given("data.media.image.count") {
		b.draft.Put("data.media.image.count", flag, "1")
	}
}

// audioLengths are lengths of sounds that are drawn from, of one sound where their number is not given.
func (b *builder) audioLengths(text string) {
	const flag = "--audio-length"
	for i, length := range strings.Split(text, ",") {
		b.draft.Put(fmt.Sprintf("data.media.audio.clips[%d].length", i), flag, strings.TrimSpace(length))
	}
	if !b.draft.Given("data.media.audio.count") {
		b.draft.Put("data.media.audio.count", flag, "1")
	}
}

// tools has every request bring the tools of a file: a list, or an object that has one under tools.
func (b *builder) tools(name string) {
	const flag, hint = "--tools", `the file holds a JSON list such as [{"type": "function", "function": {"name": "search", "parameters": {…}}}]`
	data, err := b.readFile(name)
	if err != nil {
		b.fault(flag, "cannot read the tools: "+reason(err), "")
		return
	}
	var whole struct {
		Tools json.RawMessage `json:"tools"`
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && json.Unmarshal(data, &whole) == nil && whole.Tools != nil {
		data = whole.Tools
	}
	value, err := decodeJSON(string(data))
	if err != nil {
		b.fault(flag, shorten(name)+" is not JSON: "+reason(err), hint)
		return
	}
	list, ok := value.([]any)
	for i := range list {
		_, object := list[i].(map[string]any)
		ok = ok && object
	}
	if !ok || len(list) == 0 {
		b.fault(flag, shorten(name)+" is not a list of tools", hint)
		return
	}
	b.body("tools", value, flag)
}
