package args

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan/document"
)

// What becomes of a key that a config changes.
const (
	works   = "works"   // the run is another one
	warns   = "warns"   // it is the same one, and the user is told so
	refused = "refused" // there is none
	// met: the run is the same one, as what the key asks for is so in any case.
	met = "met"
)

// effect is one key, and what changing it does. base and set are flags; values have no
// spaces.
type effect struct{ key, base, set, want string }

// flags are those before and after. A value alone is that of the key's own flag.
func (e effect) flags() (base, with []string) {
	base = strings.Fields(e.base)
	set := e.set
	if !strings.HasPrefix(set, "--") {
		set = "--" + e.key + " " + set
	}
	return base, append(slices.Clone(base), strings.Fields(set)...)
}

// TestEveryKey: no key of the schema is taken without a word where it does nothing.
func TestEveryKey(t *testing.T) {
	table := slices.Concat(apiEffects(), dataEffects(), agentEffects(), replayEffects(), loadEffects(), reportEffects(), otherEffects())
	table = append(table, nested()...)
	probed, bases := map[string]bool{}, map[string]*Action{}
	for _, e := range table {
		probed[e.key] = true
		base, with := e.flags()
		before := bases[e.base]
		if before == nil {
			var err error
			if before, err = parse(small, base...); err != nil {
				t.Errorf("%s: without it: %v", e.key, err)
				continue
			}
			bases[e.base] = before
		}
		after, err := parse(small, with...)
		if got := outcome(before, after, err); got != e.want {
			t.Errorf("%s: %s, want %s (%q on top of %q: %v)", e.key, got, e.want, e.set, e.base, err)
		}
	}
	var all []string
	leaves(root(), "", func(path string) { all = append(all, path) })
	if diff := cmp.Diff(slices.Sorted(slices.Values(all)), slices.Sorted(maps.Keys(probed))); diff != "" {
		t.Errorf("keys of the schema and of this table:\n%s", diff)
	}
}

// outcome says what came of a change.
func outcome(before, after *Action, err error) string {
	if err != nil {
		return refused
	}
	same := reflect.DeepEqual(before.Plan, after.Plan) && reflect.DeepEqual(before.Options, after.Options)
	switch told := len(after.Warnings) > len(before.Warnings); {
	case told && same:
		return warns
	case told:
		return "works, and warns"
	case same:
		return met
	}
	return works
}

// leaves walks the keys that have values of their own. Forms that stand in many places are
// walked in one, as one function reads them; in the others a key stands for all.
func leaves(f form, path string, leaf func(path string)) {
	switch {
	case f.name == "distribution" && path != "data.input_distribution" && path != "data.visionarena.insertion_point":
		leaf(path + ".mean")
		return
	case f.name == "media" && path != "data.multimodal":
		leaf(path + ".image.representation")
		return
	}
	switch f.kind {
	case list:
		leaves(*f.item, path+"[]", leaf)
	case object:
		for _, k := range f.keys {
			leaves(k.form, document.Join(path, k.name), leaf)
		}
	case union:
		if f.scalar != nil {
			leaf(path)
		}
		for _, part := range []*form{f.mapped, f.listed} {
			if part != nil {
				leaves(*part, path, leaf)
			}
		}
	default:
		leaf(path)
	}
}

func apiEffects() []effect {
	schema := `--api.response_format {"json_schema":{"a":1}}`
	return []effect{
		{"api.type", "", "chat", works},
		{"api.streaming", "", "true", works},
		{"api.headers", "", `{"X-A":"1"}`, works},
		{"api.slo_unit", `--api.headers {"x-slo-ttft-s":"3"}`, "s", works},
		{"api.slo_unit", "", "s", warns},
		{"api.slo_ttft_header", `--api.headers {"X-A":"3"}`, "x-a", works},
		{"api.slo_tpot_header", `--api.headers {"X-A":"3"}`, "x-a", works},
		{"api.response_format.type", schema, "json_object", "works, and warns"}, // of the schema
		{"api.response_format.type", "--api.type anthropic_messages", "json_object", warns},
		{"api.response_format.name", schema, "n", works},
		{"api.response_format.name", "--api.response_format.type json_object", "n", warns},
		{"api.response_format.json_schema", schema, `{"b":1}`, works},
		{"api.response_format.json_schema", "--api.response_format.type json_object", `{"b":1}`, warns},
		{"api.session_id_header_key", "", "x-id", works},
		{"api.session_token_header_key", "", "x-token", works},
	}
}

// Lengths that types of data need.
const (
	lengths       = `--data.input_distribution {"mean":20,"std_dev":3,"min":1,"max":40} --data.output_distribution {"mean":20,"std_dev":3,"min":1,"max":40}`
	random        = "--data.type random " + lengths
	synthetic     = "--data.type synthetic " + lengths
	shared        = "--data.type shared_prefix --data.shared_prefix {}"
	sharedChat    = shared + " --api.type chat"
	conversations = "--data.type conversation_replay --data.conversation_replay {}"
	visions       = "--api.type chat --data.type visionarena --data.visionarena {}"
)

func dataEffects() []effect {
	return []effect{
		{"data.type", lengths, "random", works},
		{"data.type", "", "synthetic_agentic", refused},
		{"data.path", "--data.type shareGPT", "p.json", works},
		{"data.path", "", "p.json", warns},
		{"data.path", random, "p.json", warns},
		{"data.corpus_file_path", synthetic, "c.txt", works},
		{"data.corpus_file_path", random, "c.txt", warns},
		{"data.trace.file", "--data.type random --data.trace.file s.csv", "t.csv", works},
		{"data.trace.file", random, "t.csv", "works, and warns"}, // of the distributions
		{"data.trace.file", synthetic, "t.csv", warns},
		{"data.trace.format", "--data.type random --data.trace.file t.csv", "AzurePublicDataset", met}, // the only one
		{"data.use_chat_template", random, "true", works},
		{"data.use_chat_template", synthetic, "true", refused},

		{"data.shared_prefix.num_unique_system_prompts", shared, "3", works},
		{"data.shared_prefix.num_users_per_system_prompt", shared, "3", works},
		{"data.shared_prefix.system_prompt_len", shared, "3", works},
		{"data.shared_prefix.question_len", shared, "3", works},
		{"data.shared_prefix.question_len", shared + ` --data.shared_prefix.question_distribution {"mean":20}`, "3", warns},
		{"data.shared_prefix.output_len", shared, "3", works},
		{"data.shared_prefix.output_len", shared + ` --data.shared_prefix.output_distribution {"mean":20}`, "3", warns},
		{"data.shared_prefix.seed", shared, "3", works},
		{"data.shared_prefix.enable_multi_turn_chat", shared, "true", works},
		{"data.shared_prefix.enable_multi_turn_chat", random, "true", warns},
		{"data.shared_prefix.turns", shared + " --data.shared_prefix.enable_multi_turn_chat true", "questions", works},
		{"data.shared_prefix.turns", shared, "questions", warns},
		{"data.chat_lengths", "--api.type chat --data.type shareGPT", "data", works},
		{"data.chat_lengths", "--data.type shareGPT", "data", warns},
		{"data.output_distribution.mean", "--api.type chat --data.type shareGPT", "20", warns},
		{"data.input_distribution.mean", "--api.type chat --data.type shareGPT", "20", warns},
		{"data.output_distribution.mean", "--api.type chat --data.type synthetic --data.multimodal.image.representation png", "20", warns},

		{"data.conversation_replay.seed", conversations, "3", works},
		{"data.conversation_replay.num_conversations", conversations, "3", works},
		{"data.conversation_replay.shared_system_prompt_len", conversations, "3", works},
		{"data.conversation_replay.max_model_len", conversations, "3000", works},

		{"data.visionarena.hf_dataset_name", visions, "o/n", works},
		{"data.visionarena.hf_dataset_name", visions + " --data.path p.parquet", "o/n", warns},
		{"data.visionarena.hf_split", visions, "test", works},
		{"data.visionarena.hf_data_files", visions, "f", works},
		{"data.visionarena.num_rows", visions, "3", works},
		{"data.visionarena.max_images_per_request", visions, "3", works},
		{"data.visionarena.insertion_point", visions, "0.5", works},
	}
}

// nested are the keys of distributions and media, at every place that has them.
func nested() []effect {
	var out []effect
	for place, base := range map[string]string{
		"data.output_distribution":             random,
		"data.shared_prefix.system_prompt_len": shared, "data.shared_prefix.question_len": shared, "data.shared_prefix.output_len": shared,
		"data.shared_prefix.question_distribution": shared, "data.shared_prefix.output_distribution": shared,
		"data.conversation_replay.dynamic_system_prompt_len": conversations, "data.conversation_replay.turns_per_conversation": conversations,
		"data.conversation_replay.input_tokens_per_turn": conversations, "data.conversation_replay.output_tokens_per_turn": conversations,
		"data.conversation_replay.tool_call_latency_sec": conversations,
	} {
		out = append(out, only(".mean", distributionEffects(place, base))...)
	}
	out = append(out, distributionEffects("data.input_distribution", random)...)
	out = append(out, spotEffects("data.visionarena.insertion_point", visions)...)
	out = append(out, mediaEffects("data.multimodal", synthetic+" --api.type chat")...)
	return append(out, only(".image.representation", mediaEffects("data.shared_prefix.multimodal", sharedChat))...)
}

// only are the effects of keys that end so.
func only(end string, all []effect) []effect {
	return slices.DeleteFunc(all, func(e effect) bool { return !strings.HasSuffix(e.key, end) })
}

func distributionEffects(at, base string) []effect {
	is := base + " --" + at + ` {"mean":20,"std_dev":3,"min":1,"max":40}`
	part := func(key, value string) string { return "--" + at + ` {"` + key + `":` + value + "}" }
	return []effect{
		{at + ".min", is, part("min", `2`), works},
		{at + ".max", is, part("max", `39`), works},
		{at + ".mean", is, part("mean", `21`), works},
		{at + ".std_dev", is, part("std_dev", `4`), works},
		{at + ".total_count", is, part("total_count", `7`), met}, // as many are drawn as are needed
		{at + ".type", is, part("type", `"uniform"`), works},
		{at + ".variance", base + " --" + at + ` {"mean":20,"std_dev":0,"min":1,"max":40}`, part("variance", `16`), works},
		{at + ".variance", is, part("variance", `16`), refused}, // beside a deviation
		{at + ".skew", base + " --" + at + ` {"type":"skew_normal","mean":20,"std_dev":3,"min":1,"max":40}`, part("skew", `2`), works},
	}
}

func spotEffects(at, base string) []effect {
	is := base + " --" + at + ` {"mean":1,"std_dev":0.5,"min":0,"max":1}`
	part := func(key, value string) string { return "--" + at + ` {"` + key + `":` + value + "}" }
	return []effect{
		{at + ".min", is, part("min", `1`), works},
		{at + ".max", base + " --" + at + ` {"mean":0,"std_dev":0.5,"min":0,"max":1}`, part("max", `0`), works},
		{at + ".mean", is, part("mean", `0.5`), works},
		{at + ".std_dev", is, part("std_dev", `0.1`), works},
		{at + ".total_count", is, part("total_count", `7`), met}, // as many are drawn as are needed
		{at + ".type", is, part("type", `"uniform"`), works},
		{at + ".variance", base + " --" + at + ` {"mean":1,"std_dev":0,"min":0,"max":1}`, part("variance", `0.25`), works},
		{at + ".skew", base + " --" + at + ` {"type":"skew_normal","mean":1,"std_dev":0.5,"min":0,"max":1}`, part("skew", `2`), warns},
	}
}

func mediaEffects(at, base string) []effect {
	var out []effect
	for _, kind := range []string{"image", "video", "audio"} {
		path := at + "." + kind
		out = append(out, only(".mean", distributionEffects(path+".count", base))...)
		out = append(out, effect{path + ".insertion_point", base + " --" + path + " {}", "0.5", works})
		out = append(out, only(".mean", spotEffects(path+".insertion_point", base))...)
	}
	set := func(key, sub, from, to string) {
		section := at + "." + key
		out = append(out, effect{section + sub, base + " --" + section + " " + from, "--" + section + " " + to, works})
	}
	set("image.resolutions", "", `"4k"`, `"360p"`)
	set("image.resolutions", ".height", `{"height":4,"width":4}`, `{"height":5,"width":4}`)
	set("image.resolutions", ".width", `{"height":4,"width":4}`, `{"height":4,"width":5}`)
	set("image.resolutions", "[].resolution", `[{"resolution":"4k"}]`, `[{"resolution":"360p"}]`)
	set("image.resolutions", "[].resolution.height", `[{"resolution":{"height":4,"width":4}}]`, `[{"resolution":{"height":5,"width":4}}]`)
	set("image.resolutions", "[].resolution.width", `[{"resolution":{"height":4,"width":4}}]`, `[{"resolution":{"height":4,"width":5}}]`)
	set("image.resolutions", "[].weight", `[{"resolution":"4k"},{"resolution":"720p"}]`, `[{"resolution":"4k","weight":3},{"resolution":"720p"}]`)
	set("image.representation", "", "png", "jpeg")
	set("video.profiles", ".resolution", `{"resolution":"4k","frames":2}`, `{"resolution":"360p","frames":2}`)
	set("video.profiles", ".resolution.height", `{"resolution":{"height":4,"width":4},"frames":2}`, `{"resolution":{"height":6,"width":4},"frames":2}`)
	set("video.profiles", ".resolution.width", `{"resolution":{"height":4,"width":4},"frames":2}`, `{"resolution":{"height":4,"width":6},"frames":2}`)
	set("video.profiles", ".frames", `{"resolution":"4k","frames":2}`, `{"resolution":"4k","frames":3}`)
	set("video.profiles", "[].profile.resolution", `[{"profile":{"resolution":"4k","frames":2}}]`, `[{"profile":{"resolution":"360p","frames":2}}]`)
	set("video.profiles", "[].profile.resolution.height", `[{"profile":{"resolution":{"height":4,"width":4},"frames":2}}]`, `[{"profile":{"resolution":{"height":6,"width":4},"frames":2}}]`)
	set("video.profiles", "[].profile.resolution.width", `[{"profile":{"resolution":{"height":4,"width":4},"frames":2}}]`, `[{"profile":{"resolution":{"height":4,"width":6},"frames":2}}]`)
	set("video.profiles", "[].profile.frames", `[{"profile":{"resolution":"4k","frames":2}}]`, `[{"profile":{"resolution":"4k","frames":3}}]`)
	set("video.profiles", "[].weight", `[{"profile":{"resolution":"4k","frames":2}}]`, `[{"profile":{"resolution":"4k","frames":2},"weight":2}]`)
	set("video.representation", "", "mp4", "png_frames")
	set("audio.durations", "", "1", "2")
	set("audio.durations", "[].duration", `[{"duration":1}]`, `[{"duration":2}]`)
	set("audio.durations", "[].weight", `[{"duration":1}]`, `[{"duration":1,"weight":2}]`)
	return out
}
