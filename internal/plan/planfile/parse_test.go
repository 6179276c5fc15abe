package planfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestParseGoodput(t *testing.T) {
	got, err := ParseGoodput("ttft:200ms, ITL:30ms,tpot:1ms,ntpot:2ms,latency:1s,time_to_second_token:3s")
	want := []plan.SLO{
		{Metric: "time_to_first_token", Max: second / 5}, {Metric: "inter_token_latency", Max: 30 * second / 1000},
		{Metric: "time_per_output_token", Max: second / 1000}, {Metric: "normalized_time_per_output_token", Max: second / 500},
		{Metric: "request_latency", Max: second}, {Metric: "time_to_second_token", Max: 3 * second},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	_, err = ParseGoodput("ttft,itl:3")
	wantErr := "\"ttft\" is not an objective: write it as ttft:200ms,itl:30ms\nitl: 3 has no unit: write 3s or 3ms"
	if err == nil || err.Error() != wantErr {
		t.Errorf("got %v", err)
	}
	_, err = ParseGoodput("ttft:0,foo:1s,itl:3")
	wantErr = "itl: 3 has no unit: write 3s or 3ms\ntime_to_first_token: must be more than 0, is 0s\nfoo: unknown metric"
	if err == nil || err.Error() != wantErr {
		t.Errorf("got %v", err)
	}
	for _, s := range plan.SLOShortNames() {
		if plan.SLOMetric(s) == s {
			t.Errorf("%s is no alias", s)
		}
	}
}
