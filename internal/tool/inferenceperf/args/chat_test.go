package args

import (
	"maps"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

// What the original sends for chats is what we send, with --faithful and without; what is
// better has a key of its own.
//
// differs: ip-chats
// differs: ip-prefix-chat
func TestChats(t *testing.T) {
	for _, c := range []struct {
		name, flags   string
		whole, repeat bool
		output        float64
		bounds        plan.Bounds
		endpoint      string
	}{
		{"shareGPT", "--api.type chat --data.type shareGPT --data.output_distribution.min 20", true, false, 30, plan.Bounds{}, plan.EndpointChat},
		{"shareGPT, Anthropic", "--api.type anthropic_messages --data.type shareGPT", true, false, 30, plan.Bounds{}, plan.EndpointMessages},
		{"shareGPT, completion", "--data.type shareGPT --data.output_distribution.min 20", false, false, 0, plan.Bounds{Min: 20, Max: 1024}, plan.EndpointCompletions},
		{"shareGPT by its lengths", "--api.type chat --data.type shareGPT --data.chat_lengths data --data.output_distribution.min 20", false, false, 0, plan.Bounds{Min: 20, Max: 1024}, plan.EndpointChat},
		{"instructions", "--api.type chat --data.type infinity_instruct --data.path x.json", true, false, 30, plan.Bounds{}, plan.EndpointChat},
		{"bills", "--api.type chat --data.type billsum_conversations --data.path x.json", true, false, 30, plan.Bounds{}, plan.EndpointChat},
		{"pictures", "--api.type chat --data.type synthetic --data.output_distribution {type:fixed,mean:12} --data.multimodal.image {}", false, false, 30, plan.Bounds{}, plan.EndpointChat},
		{"pictures by their lengths", "--api.type chat --data.type synthetic --data.chat_lengths data --data.output_distribution {type:fixed,mean:12} --data.multimodal.image {}", false, false, 12, plan.Bounds{}, plan.EndpointChat},
		{"pictures of groups", "--data.type shared_prefix --data.shared_prefix.multimodal.image {}", false, false, 50, plan.Bounds{}, plan.EndpointChat},
		{"pictures of questions", "--data.type shared_prefix --data.shared_prefix.seed 3 --data.multimodal.image {}", false, false, 50, plan.Bounds{}, plan.EndpointChat},
		{"pictures, Anthropic", "--api.type anthropic_messages --data.type shared_prefix --data.shared_prefix.seed 3 --data.multimodal.image {}", false, false, 50, plan.Bounds{}, plan.EndpointMessages},
		{"a length of 0", "--data.type synthetic --data.input_distribution {type:fixed,mean:12} --data.output_distribution {type:fixed,mean:0}", false, false, 30, plan.Bounds{}, plan.EndpointCompletions},
		{"turns", "--data.type shared_prefix --data.shared_prefix.enable_multi_turn_chat true", false, true, 50, plan.Bounds{}, plan.EndpointCompletions},
		{"turns of a chat", "--api.type chat --data.type shared_prefix --data.shared_prefix.enable_multi_turn_chat true", false, true, 50, plan.Bounds{}, plan.EndpointChat},
		{"turns with questions", "--data.type shared_prefix --data.shared_prefix.enable_multi_turn_chat true --data.shared_prefix.turns questions", false, false, 50, plan.Bounds{}, plan.EndpointCompletions},
	} {
		for _, faithful := range []bool{false, true} {
			args := strings.Fields(strings.NewReplacer("{type:fixed,mean:12}", `{"type":"fixed","mean":12}`, "{type:fixed,mean:0}", `{"type":"fixed","mean":0}`).Replace(c.flags))
			if faithful {
				args = append(args, "--faithful")
			}
			a, err := parse(small, args...)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			want := c.endpoint
			if faithful && c.name == "turns of a chat" {
				want = plan.EndpointCompletions
			}
			d := &a.Plan.Data
			if d.Dataset.Whole != c.whole || d.SharedPrefix.Repeat != c.repeat || d.Output.Mean != c.output || d.Dataset.Output != c.bounds ||
				a.Plan.Target.Endpoint != want {
				t.Errorf("%s, faithful %v: to %s, %+v", c.name, faithful, a.Plan.Target.Endpoint, d)
			}
			if a.Options.UserSessions != strings.HasPrefix(c.name, "turns") {
				t.Errorf("%s: sessions of users: %v", c.name, a.Options.UserSessions)
			}
		}
	}
}

// A trace says when requests go, rate and duration how many of them.
func TestTraceReplay(t *testing.T) {
	for flags, want := range map[string]int64{
		"--load.type trace_replay --load.trace.file a.csv":                                            7,
		"--load.type trace_replay --load.trace.file a.csv --data.type random --data.trace.file a.csv": 0,
	} {
		a, err := parse(small, append(strings.Fields(flags), "--load.stages", `[{"rate": 3.5, "duration": 2}]`)...)
		if err != nil {
			t.Fatal(err)
		}
		s := a.Plan.Stages[0]
		if s.Requests != want || s.Arrival != plan.ArrivalTrace || s.Rate != 0 || len(a.Options.TraceRates) != 1 ||
			a.Options.TraceRates[0] != 3.5 {
			t.Errorf("%s: %+v, rates %v", flags, s, a.Options.TraceRates)
		}
	}
}

// The words that a flag takes stand in the help as they are written.
func TestHelpShowsWords(t *testing.T) {
	if help := HelpText(); !strings.Contains(help, "--api.type {completion,chat,anthropic_messages}\n") {
		t.Error(help)
	}
}

// TestBodyFields: what is false is said, as in the original.
func TestBodyFields(t *testing.T) {
	for line, want := range map[string]map[string]any{
		"":                     {"stream": false},
		"--api.streaming true": nil,
		"--api.streaming true --server.ignore_eos false":          {"ignore_eos": false},
		"--api.type anthropic_messages --server.ignore_eos false": {"stream": false},
		`--api.streaming true --data.type random --data.use_chat_template true --data.input_distribution {"type":"fixed","mean":50} --data.output_distribution {"type":"fixed","mean":5}`: {"add_special_tokens": false},
	} {
		a, err := parse(small, strings.Fields(line)...)
		if err != nil || !maps.Equal(a.Plan.Target.Body, want) {
			t.Errorf("%s: %v, %v", line, a.Plan.Target.Body, err)
		}
	}
}
