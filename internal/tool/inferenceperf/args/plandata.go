package args

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/inferometer/inferometer/internal/plan"
)

// usualOutput is the length that is asked for where nothing says one.
const usualOutput = 30

func fixed(n float64) plan.Length { return plan.Length{Dist: plan.DistFixed, Mean: n} }

// length is a number or a distribution as a plan has it. scale is a config's unit in the plan's.
func (b *builder) length(at string, v *value, scale float64) plan.Length {
	switch {
	case v == nil, v.kind != object && v.number() == 0:
		return plan.Length{}
	case v.kind != object:
		return fixed(v.number() * scale)
	}
	d := b.spread(at, v)
	l := plan.Length{
		Dist: d.kind, Mean: d.mean * scale, Stddev: d.stddev * scale,
		Min: int(math.Round(d.least * scale)), Max: int(math.Round(d.most * scale)), Skew: d.skew,
	}
	switch d.kind {
	case plan.DistFixed:
		if n := math.Trunc(l.Mean); n != 0 {
			return fixed(n)
		}
		return plan.Length{}
	case plan.DistUniform:
		l.Mean, l.Stddev = 0, 0
	case plan.DistPoisson:
		l.Stddev = 0
		if scale != 1 { // a multiple of a Poisson number is none
			l.Dist, l.Stddev = plan.DistNormal, math.Sqrt(d.mean)*scale
		}
	}
	if d.kind != plan.DistSkew {
		l.Skew = 0
	}
	return l
}

type spread struct {
	kind                            string
	mean, stddev, least, most, skew float64
}

func (b *builder) spread(at string, v *value) spread {
	d := spread{
		kind: v.child("type").text(), mean: v.child("mean").number(), stddev: v.child("std_dev").number(),
		least: v.child("min").number(), most: v.child("max").number(), skew: v.child("skew").number(),
	}
	if variance := v.child("variance"); variance != nil {
		if v.child("std_dev").given() && d.stddev > 0 {
			b.fault(at+".variance", "cannot be combined with std_dev", "use one of them")
		}
		v.put("std_dev", &value{kind: number, scalar: 0.0}) // as the original wants it beside a variance
		d.stddev = math.Sqrt(variance.number())
	}
	if d.least > d.most {
		b.fault(at, fmt.Sprintf("min %v is more than max %v", d.least, d.most), "")
	}
	if d.least < 0 {
		b.fault(at+".min", "must not be negative", "")
	}
	return d
}

// outputKey is where the config says how long responses are.
func (b *builder) outputKey() string {
	switch b.value("data.type").text() {
	case "shared_prefix":
		return "data.shared_prefix.output_len"
	case "conversation_replay":
		return "data.conversation_replay.output_tokens_per_turn"
	}
	return "data.output_distribution"
}

func (b *builder) data() {
	d, v := &b.plan.Data, b.value("data")
	kind := v.child("type").text()
	d.IgnoreEOS = b.value("server.ignore_eos").yes()
	d.Template = v.child("use_chat_template").yes()
	if d.Template && kind != "random" {
		b.fault("data.use_chat_template", "needs data.type random", "leave it out")
	}
	for _, a := range b.value("load.lora_traffic_split").items() {
		d.Adapters = append(d.Adapters, plan.Adapter{Name: a.child("name").text(), Share: a.child("split").number()})
	}
	section := v.child(kind)
	switch kind {
	case "mock":
		d.Source, d.Output = plan.SourceMock, fixed(usualOutput)
	case "synthetic", "random":
		b.made(kind, d, v)
	case "shared_prefix":
		b.sharedPrefix(d, section)
	case "conversation_replay":
		b.conversations(d, section)
	case "otel_trace_replay", "weka_trace_replay":
		b.replay(kind, d, section)
	case "synthetic_agentic":
		b.agents(d, section)
	default:
		b.dataset(kind, d, v)
	}
}

// lacks reports whether there is no section of the data's type, which is a fault.
func (b *builder) lacks(section *value, kind, hint string) bool {
	if section == nil {
		b.fault("data."+kind, "is missing: type "+kind+" needs it", hint)
	}
	return section == nil
}

func (b *builder) made(kind string, d *plan.Data, v *value) {
	d.Source = plan.SourceSynthetic
	if b.value("api.type").text() == "completion" {
		d.Counted = plan.CountPrompt // special tokens are counted, as the server does
	}
	if kind == "random" {
		d.Source = plan.SourceRandom
		if t := v.child("trace"); t != nil {
			d.Trace.Lengths, d.Trace.Once = t.child("file").text(), true
			return
		}
	} else {
		d.Corpus = v.child("corpus_file_path").text()
	}
	d.Input = b.length("data.input_distribution", v.child("input_distribution"), 1)
	d.Output = b.length("data.output_distribution", v.child("output_distribution"), 1)
	if d.Output == (plan.Length{}) { // the original takes a length of 0 for one that is not given
		d.Output = fixed(usualOutput)
	}
	if media := v.child("multimodal"); media != nil && !b.leftOver(kind) {
		b.media(&d.Media, media, "data.multimodal")
		if v.child("input_distribution") == nil {
			d.Input = fixed(100)
		}
		if v.child("output_distribution") == nil || b.originalLengths() {
			d.Output = fixed(usualOutput)
		}
		return
	}
	for _, name := range []string{"input_distribution", "output_distribution"} {
		if v.child(name) == nil {
			b.fault("data."+name, "is missing: type "+kind+" needs it", "such as {type: fixed, mean: 100}")
		}
	}
	d.Input.Shifted, d.Output.Shifted = d.Input.Dist == plan.DistLognormal, d.Output.Dist == plan.DistLognormal
	d.Ahead = b.ahead(v)
}

// leftOver reports whether media are ones that a type has no use for: random prompts have none
// unless they are chats, which only ours can be.
func (b *builder) leftOver(kind string) bool {
	return kind == "random" && b.value("api.type").text() == "completion"
}

// ahead is how many lengths the original draws before a run: one more than the longest stage
// has requests, or total_count. The stages of a sweep are not known yet.
func (b *builder) ahead(v *value) plan.Ahead {
	if b.value("load.sweep") != nil {
		return plan.Ahead{}
	}
	most := int64(0)
	for _, s := range b.value("load.stages").items() {
		if b.value("load.type").text() == "concurrent" {
			most = max(most, s.child("num_requests").integer())
		} else {
			most = max(most, requests(s))
		}
	}
	count := func(name string) int {
		return int(min(max(most+1, v.child(name).child("total_count").integer()), mostAhead))
	}
	return plan.Ahead{Input: count("input_distribution"), Output: count("output_distribution")}
}

// mostAhead bounds what is kept of lengths. A stage with more requests repeats them.
const mostAhead = 1 << 24

// originalLengths reports whether answers of chats are as long as the original has them.
func (b *builder) originalLengths() bool { return b.value("data.chat_lengths").text() != "data" }

func (b *builder) sharedPrefix(d *plan.Data, v *value) {
	d.Source = plan.SourceSharedPrefix
	const at = "data.shared_prefix."
	if b.lacks(v, "shared_prefix", "such as {num_groups: 10, question_len: 50}") {
		return
	}
	length := func(name, legacy string) plan.Length {
		field := v.child(name)
		if old := v.child(legacy); legacy != "" && old != nil {
			if field != nil && field.kind == object {
				b.fault(at+legacy, "cannot be combined with a distribution in "+name, "use one of them")
			}
			return b.length(at+legacy, old, 1)
		}
		if field != nil && field.kind != object && field.number() > 0 {
			// A number is drawn, too: what is drawn after it depends on that.
			n := field.integer()
			return plan.Length{Dist: plan.DistNormal, Mean: float64(n), Min: int(n), Max: int(n)}
		}
		return b.length(at+name, field, 1)
	}
	d.SharedPrefix = plan.SharedPrefix{
		Groups: int(v.child("num_unique_system_prompts").integer()), Prompts: int(v.child("num_users_per_system_prompt").integer()),
		Prefix: length("system_prompt_len", ""), Question: length("question_len", "question_distribution"),
		MultiTurn: v.child("enable_multi_turn_chat").yes(), Seed: uint64(v.child("seed").integer()),
	}
	if s := v.child("seed"); s != nil && s.integer() == 0 {
		b.plan.Seed = 0 // which a seed of 0 leaves it to
	}
	d.SharedPrefix.Repeat = d.SharedPrefix.MultiTurn && v.child("turns").text() != "questions"
	d.Counted = plan.CountPrompt // of both parts: special tokens are counted twice
	b.action.Options.UserSessions = d.SharedPrefix.MultiTurn
	d.Output = length("output_len", "output_distribution")
	if media := v.child("multimodal"); media != nil {
		b.media(&d.SharedPrefix.Media, media, at+"multimodal")
	}
	if media := b.value("data.multimodal"); media != nil {
		b.media(&d.Media, media, "data.multimodal")
	}
	b.prefixEndpoint(&b.plan.Target)
}

// prefixEndpoint is where prompts with a shared prefix go: with media always to the chat.
func (b *builder) prefixEndpoint(t *plan.Target) {
	switch media := b.value("data.shared_prefix.multimodal") != nil || b.value("data.multimodal") != nil; {
	case media && t.Endpoint == plan.EndpointCompletions:
		t.Endpoint = plan.EndpointChat
		b.warn("api.type completion has no effect: prompts with media go to /v1/chat/completions")
	case !media && t.Endpoint == plan.EndpointChat && b.action.Options.Faithful:
		t.Endpoint = plan.EndpointCompletions
	}
}

func (b *builder) conversations(d *plan.Data, v *value) {
	d.Source = plan.SourceConversationReplay
	const at = "data.conversation_replay."
	b.action.Options.UserSessions = true
	if b.lacks(v, "conversation_replay", "{} uses the defaults") {
		return
	}
	length := func(name string, def float64) plan.Length {
		if v.child(name) == nil && def > 0 {
			return fixed(def)
		}
		return b.length(at+name, v.child(name), 1)
	}
	d.Conversations = plan.Conversations{
		Count: int(v.child("num_conversations").integer()), SharedPrompt: int(v.child("shared_system_prompt_len").integer()),
		DynamicPrompt: length("dynamic_system_prompt_len", 0), Turns: length("turns_per_conversation", 10),
		Input: length("input_tokens_per_turn", 512), ToolLatency: b.length(at+"tool_call_latency_sec", v.child("tool_call_latency_sec"), 1000),
		MaxContext: 225000, Seed: uint64(v.child("seed").integer()),
	}
	if m := v.child("max_model_len"); m != nil {
		d.Conversations.MaxContext = int(m.integer())
	}
	d.Output = length("output_tokens_per_turn", 256)
}

func (b *builder) replay(kind string, d *plan.Data, v *value) {
	d.Source = plan.SourceOtelTrace
	if kind == "weka_trace_replay" {
		d.Source = plan.SourceWekaTrace
	}
	b.sessions(kind, d, v, "give trace_directory, trace_files or hf_dataset_path")
	if v == nil {
		return
	}
	r := &d.Replay
	r.Dir, r.Files, r.Hub, r.Filter = v.child("trace_directory").text(), v.child("trace_files").texts(), hub(v.child("hf_dataset_path")), v.child("filter").text()
	r.MaxTokens, r.RandomID, r.Sessions = int(v.child("default_max_tokens").integer()), v.child("inject_random_session_id").yes(), int(v.child("duplicate_sessions_target").integer())
	r.SkipErrors, r.SkipInvalid, r.NoSubstitution = !v.child("include_errors").yes(), v.child("skip_invalid_files").yes(), v.child("disable_output_substitution").yes()
	r.Headers, r.Labels = v.child("attribute_to_header_map").textMap(), v.child("attribute_to_label_map").textMap()
	r.IdleGap, r.ThinkTimeOnly = seconds(v.child("trace_idle_gap_cap_seconds").number()), v.child("use_think_time_only").yes()
	r.IgnoreDelays = r.IgnoreDelays || v.child("ignore_trace_delays").yes()
	r.BlockSize, r.Entries = int(v.child("default_block_size").integer()), int(v.child("num_dataset_entries").integer())
	if kind == "weka_trace_replay" { // which has no tools and no errors
		r.ToolMaxTokens, r.BadToolCalls, r.ToolChoice, r.SkipErrors = 0, "", "", false
	}
	sources := slices.DeleteFunc([]string{"trace_directory", "trace_files", "hf_dataset_path"}, func(name string) bool { return v.child(name) == nil })
	if len(sources) != 1 {
		b.fault("data."+kind, fmt.Sprintf("needs exactly one of trace_directory, trace_files and hf_dataset_path, has %d", len(sources)), "")
	}
	if v.child("hf_dataset_path") != nil && r.Hub.Name == "" {
		b.fault("data."+kind+".hf_dataset_path.path", "is missing", "give owner/name")
	}
}

// sessions reads what all sessions have that are graphs of calls.
func (b *builder) sessions(kind string, d *plan.Data, v *value, hint string) {
	at := "data." + kind
	if b.value("api.type").text() == "completion" {
		b.fault("api.type", kind+" needs type chat or anthropic_messages: recorded sessions are chats", "")
	}
	if b.value("load.type").text() != "trace_session_replay" {
		b.fault("load.type", kind+" needs type trace_session_replay", "")
	}
	if b.lacks(v, kind, hint) {
		return
	}
	r := &d.Replay
	*r = plan.Replay{
		Models: v.child("model_mapping").textMap(), MaxWait: seconds(v.child("max_wait_ms").number() / 1000), PredecessorTimeout: seconds(v.child("predecessor_wait_timeout_sec").number()),
		BadToolCalls: v.child("bad_tool_call_handling").text(), ToolChoice: v.child("tool_choice_mode").text(),
	}
	// A stage that says how many sessions it plays is refused by the original where all of them ask for
	// too many; one that does not has what is left.
	stages := b.value("load.stages").items()
	r.Once = len(stages) > 1 && slices.ContainsFunc(stages, func(s *value) bool { return s.child("num_sessions") == nil })
	if v.child("override_tool_call_max_tokens").yes() {
		r.ToolMaxTokens = 4096
	}
	if v.child("max_wait_ms").number() == 0 {
		r.IgnoreDelays = true // a bound of 0 is none in a plan
	}
	static, name := v.child("use_static_model").yes(), v.child("static_model_name").text()
	switch {
	case static && name == "":
		b.fault(at+".static_model_name", "is missing: use_static_model needs it", "")
	case !static && name != "" && len(r.Models) == 0:
		b.fault(at+".static_model_name", "has no effect without use_static_model", "set use_static_model to true, or use model_mapping")
	case static:
		r.Model, r.Models = name, nil
	}
	// The server's own model needs no name of its own, which reports would take for an adapter's.
	if own := b.value("server.model_name").text(); own != "" {
		if r.Model == own {
			r.Model = ""
		}
		maps.DeleteFunc(r.Models, func(_, to string) bool { return to == own })
	}
	if len(r.Models) == 0 {
		r.Models = nil
	}
}

// hub is a data set by its name, or by more than that.
func hub(v *value) plan.Hub {
	return plan.Hub{
		Name: cmp.Or(v.text(), v.child("path").text()), Config: v.child("name").text(), Revision: v.child("revision").text(), Split: v.child("split").text(),
	}
}

func (b *builder) dataset(kind string, d *plan.Data, v *value) {
	d.Source = plan.SourceDataset
	kinds := map[string]string{
		"shareGPT": plan.DatasetShareGPT, "cnn_dailymail": plan.DatasetCNN, "infinity_instruct": plan.DatasetInfinity,
		"billsum_conversations": plan.DatasetBillsum, "visionarena": plan.DatasetVisionArena,
	}
	s := &d.Dataset
	s.Kind, s.Path = kinds[kind], v.child("path").text()
	bounds := func(name string) plan.Bounds {
		l := v.child(name)
		if l != nil {
			b.spread("data."+name, l) // for its faults
		}
		return plan.Bounds{Min: int(l.child("min").integer()), Max: int(l.child("max").integer())}
	}
	s.Input, s.Output = bounds("input_distribution"), bounds("output_distribution")
	if s.Path == "" && (s.Kind == plan.DatasetInfinity || s.Kind == plan.DatasetBillsum) {
		b.fault("data.path", "is missing: "+kind+" is read from local files", "give a file, or a directory of files")
	}
	s.Start, s.GoOn = 1, true // as the original, which drops the first row
	if kind != "visionarena" {
		b.wholeChats(kind, d)
		return
	}
	s.Start, s.GoOn = 0, false
	if b.value("api.type").text() == "completion" {
		b.fault("api.type", "visionarena needs type chat or anthropic_messages: /v1/completions takes no images", "")
	}
	a := v.child("visionarena")
	if b.lacks(a, kind, "{} uses the defaults") {
		return
	}
	d.Output = b.length("data.output_distribution", v.child("output_distribution"), 1)
	if d.Output == (plan.Length{}) || b.originalLengths() {
		d.Output = fixed(usualOutput)
	}
	s.Input, s.Output = plan.Bounds{}, plan.Bounds{}
	s.Rows, s.Images = int(a.child("num_rows").integer()), int(a.child("max_images_per_request").integer())
	s.At = b.spot("data.visionarena.insertion_point", a.child("insertion_point"))
	if s.Path == "" {
		s.Hub = plan.Hub{Name: a.child("hf_dataset_name").text(), Split: a.child("hf_split").text()}
		s.Files = a.child("hf_data_files").text()
	}
}

// wholeChats takes the conversations of a data set as the original does: as they are, and
// with responses of one length.
func (b *builder) wholeChats(kind string, d *plan.Data) {
	s := &d.Dataset
	if b.value("api.type").text() == "completion" || s.Kind == plan.DatasetCNN || !b.originalLengths() {
		return
	}
	s.Whole, d.Output = true, fixed(usualOutput)
	s.Input, s.Output = plan.Bounds{}, plan.Bounds{}
	if kind == "billsum_conversations" {
		b.warn("data.type billsum_conversations sends the data's own roles (human, gpt), as the original does; set data.chat_lengths: data to send user and assistant")
	}
}
