package perfanalyzer

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/repository"
	"github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
)

// A model that takes sequences is asked asynchronously unless the command line says not to,
// and one item at a time.
func TestModelsWithSequences(t *testing.T) {
	s := serve(t, func(c *config.Server) {
		c.Triton.Models = map[string]repository.Convention{"simple": repository.ConventionSum}
	})
	line := "-m simple -i grpc --measurement-mode count_windows --measurement-request-count 10 -s 99999999 -u " + s.grpc
	for more, want := range map[string]bool{"": true, " --sync": false, " --async": true} {
		got := command(t, line+more, nil)
		if got.Code != args.ExitOK || !strings.Contains(got.out, "    Sequence count: ") || strings.Contains(got.out, "  Using asynchronous calls for inference\n") != want {
			t.Errorf("%q: code %d, %v\n%s", more, got.Code, got.err, got.out)
		}
		if strings.Contains(got.out, "  Stabilizing using average throughput\n") != want {
			t.Errorf("%q:\n%s", more, got.out)
		}
		echo, err := json.Marshal(got.Result.Plan)
		if err != nil || strings.Contains(string(echo), `"throughput_alone":true`) != want {
			t.Errorf("%q: the plan is %s, %v", more, echo, err)
		}
	}
	if got := command(t, line+" -b 2", nil); got.Code != args.ExitGeneric || got.err == nil || !strings.Contains(got.err.Error(), "takes sequences, one item at a time") {
		t.Errorf("code %d, %v", got.Code, got.err)
	}
}

func TestDataWithoutPayloads(t *testing.T) {
	s := serve(t, nil)
	data := write(t, "in.json", `{"data":[{"payload":[{"model":"mock"}]},{"text_input":["hello"]}]}`)
	got := command(t, "-m mock --service-kind openai --endpoint v1/chat/completions --async --input-data "+data+" -u "+s.http, nil)
	if got.Code != args.ExitGeneric || got.err == nil || !strings.Contains(got.err.Error(), "in.json, stream 0, step 1: has no payload") || got.out != "" {
		t.Errorf("code %d, %v\n%s", got.Code, got.err, got.out)
	}
}
