package triton

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/plan"
)

func TestMessageText(t *testing.T) {
	got := messageText(&kserve.ModelStatisticsResponse{ModelStats: []*kserve.ModelStatistics{{
		Name: "a: {}", InferenceCount: 2,
		InferenceStats: &kserve.InferStatistics{Success: &kserve.StatisticDuration{Count: 2, Ns: 31}, Fail: &kserve.StatisticDuration{}},
	}}})
	want := `model_stats {
  name: "a: {}"
  inference_count: 2
  inference_stats {
    success {
      count: 2
      ns: 31
    }
    fail {
    }
  }
}
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Fields that are not known here are left out.
func TestMessageTextOfUnknownFields(t *testing.T) {
	m := &kserve.ModelConfig{Name: "m"}
	m.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 999, protowire.VarintType), 7))
	if got := messageText(m); got != "name: \"m\"\n" {
		t.Errorf("%q", got)
	}
}

// A server's own words come as it gave them, on either transport.
func testWords(t *testing.T, s *testServer) {
	for name, tc := range map[string]struct {
		target plan.Target
		parts  []string // how each answer begins
		stats  string
	}{
		"grpc": {
			s.overGRPC("ensemble", plan.EndpointStream, true),
			[]string{`name: "ensemble"`, "config {\n  name: \"ensemble\"", "config {\n  name: \"preprocessing\"", "config {\n  name: \"tensorrt_llm\"", "config {\n  name: \"postprocessing\"", `name: "triton"`},
			"model_stats {\n  name: \"",
		},
		"http": {
			s.overHTTP("ensemble", plan.EndpointGenerate, true),
			[]string{`{"name":"ensemble"`, `{"name":"ensemble"`, `{"name":"preprocessing"`, `{"name":"tensorrt_llm"`, `{"name":"postprocessing"`, `{"name":"triton"`},
			`{"model_stats":[{"name":"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := connect(t, tc.target)
			words, err := e.Words(t.Context())
			if err != nil || len(words) != len(tc.parts) {
				t.Fatalf("%q, %v", words, err)
			}
			for i, w := range words {
				if !strings.HasPrefix(w, tc.parts[i]) {
					t.Errorf("answer %d is %.60q, should begin with %q", i, w, tc.parts[i])
				}
			}
			stats, err := e.Statistics(t.Context())
			if err != nil || !strings.HasPrefix(stats, tc.stats) || !strings.Contains(stats, `"tensorrt_llm"`) {
				t.Errorf("%.200q, %v", stats, err)
			}
		})
	}
}
