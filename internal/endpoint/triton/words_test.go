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
	kind := kserve.Response(kserve.ModelStatisticsMethod)
	b, err := kind.Encode(map[string]any{"model_stats": []any{map[string]any{
		"name": "a: {}", "inference_count": 2,
		"inference_stats": map[string]any{"success": kserve.StatisticDuration{Count: 2, Ns: 31}, "fail": map[string]any{}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := kind.Text(b)
	if err != nil {
		t.Fatal(err)
	}
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
	if diff := cmp.Diff(want, messageText(text)); diff != "" {
		t.Error(diff)
	}
}

// Fields that are not known here are left out.
func TestMessageTextOfUnknownFields(t *testing.T) {
	b := protowire.AppendVarint(protowire.AppendTag([]byte("\x0a\x01m"), 999, protowire.VarintType), 7)
	text, err := kserve.Response(kserve.ModelMetadataMethod).Text(b)
	if got := messageText(text); err != nil || got != "name: \"m\"\n" {
		t.Errorf("%q, %v", got, err)
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
