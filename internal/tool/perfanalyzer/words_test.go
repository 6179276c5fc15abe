package perfanalyzer

import (
	"regexp"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/repository"
)

// Given twice, -v prints the server's own words: about the model before the settings, and
// its statistics at each edge of a window.
// differs: pa-twice-verbose
func TestTwiceVerbose(t *testing.T) {
	s := serve(t, func(c *config.Server) {
		c.Triton.Models = map[string]repository.Convention{"simple": repository.ConventionAdd}
	})
	for name, tc := range map[string]struct{ server, first, model, stats string }{
		"grpc": {"-i grpc -u " + s.grpc, "Creating new channel with url:" + s.grpc, "name: \"simple\"\nversions: \"1\"\n", "model_stats {\n  name: \"simple\"\n"},
		"http": {"-u " + s.http, `{"name":"simple",`, `"versions":["1"]`, `{"model_stats":[{"name":"simple"`},
	} {
		t.Run(name, func(t *testing.T) {
			line := "-m simple --measurement-mode count_windows --measurement-request-count 5 -s 99999999 " + tc.server
			got := command(t, line+" -v -v", nil)
			head, rest, ok := strings.Cut(got.out, "*** Measurement Settings ***\n")
			if got.Code != 0 || !ok || !strings.HasPrefix(head, tc.first) || !strings.Contains(head, tc.model) {
				t.Fatalf("exit code %d, %v, head:\n%s\n%s", got.Code, got.err, head, got.log)
			}
			// One at the beginning of the level and one before each of its three windows.
			order := regexp.MustCompile(`(?m)^(Request concurrency|model_stats|\{"model_stats"|  Pass|  Client)`).FindAllString(rest, -1)
			short := strings.NewReplacer(`{"model_stats"`, "stats", "model_stats", "stats", "  ", "").Replace(strings.Join(order, ","))
			if want := "Request concurrency,stats,stats,Pass,stats,Pass,stats,Pass,Client"; short != want {
				t.Errorf("order %s, should be %s\n%s", short, want, rest)
			}
			if !strings.Contains(rest, tc.stats) {
				t.Errorf("no statistics of the model in\n%s", rest)
			}
			once := command(t, line+" -v", nil)
			if !strings.HasPrefix(once.out, "*** Measurement Settings ***\n") || strings.Contains(once.out, "model_stats") {
				t.Errorf("-v says more than it should:\n%s", once.out)
			}
		})
	}
}
