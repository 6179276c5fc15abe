package args

import (
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// TestConfigsDiffer: what docs/inference-perf-config.md lists as different from the original.
// differs: ip-config-timeout, ip-config-variance, ip-config-shares
func TestConfigsDiffer(t *testing.T) {
	tenths := "[" + strings.TrimSuffix(strings.Repeat(`{"name":"a","split":0.1},`, 10), ",") + "]"
	for i := range 10 {
		tenths = strings.Replace(tenths, `"a"`, `"`+string(rune('b'+i))+`"`, 1)
	}
	for name, c := range map[string]struct {
		args  []string
		holds func(p *plan.Plan) bool
	}{
		"no time-out is ten minutes": {[]string{"--load.request_timeout", "null"}, func(p *plan.Plan) bool { return p.Target.Timeouts.Request == plan.Duration(10*time.Minute) }},
		"a variance alone": {[]string{"--data.type", "random", "--data.input_distribution", `{"mean":50,"variance":16,"min":1,"max":99}`, "--data.output_distribution", `{"type":"fixed","mean":5}`}, func(p *plan.Plan) bool {
			return p.Data.Input.Mean == 50 && p.Data.Input.Stddev == 4
		}},
		"ten tenths": {[]string{"--load.lora_traffic_split", tenths}, func(p *plan.Plan) bool { return len(p.Data.Adapters) == 10 }},
	} {
		a, err := parse(small, c.args...)
		if err != nil || !c.holds(a.Plan) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
