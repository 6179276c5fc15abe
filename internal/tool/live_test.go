package tool

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTakeLive(t *testing.T) {
	for _, tt := range []struct {
		line string
		want *LiveOptions
		rest string
	}{
		{"http://localhost:8000 --rate 5", nil, "http://localhost:8000 --rate 5"},
		{"--live http://localhost:8000", &LiveOptions{}, "http://localhost:8000"},
		{"http://h --live --rate 5", &LiveOptions{}, "http://h --rate 5"},
		{"http://h --live :9464 --rate 5", &LiveOptions{Address: ":9464"}, "http://h --rate 5"},
		{"--live 9464 plan.yaml", &LiveOptions{Address: "9464"}, "plan.yaml"},
		{"--live [::1]:0 x", &LiveOptions{Address: "[::1]:0"}, "x"},
		{"--live bench.example:80", &LiveOptions{Address: "bench.example:80"}, ""},
		{"--live=0.0.0.0:1 a", &LiveOptions{Address: "0.0.0.0:1"}, "a"},
		{"--live=anything a", &LiveOptions{Address: "anything"}, "a"},
		{"--live plan.yaml", &LiveOptions{}, "plan.yaml"},
		{"--live localhost:port", &LiveOptions{}, "localhost:port"},
		{"--live-linger 5m", &LiveOptions{Keep: 5 * time.Minute}, ""},
		{"--live :1 --live-linger=90s a", &LiveOptions{Address: ":1", Keep: 90 * time.Second}, "a"},
		{"profile -- --live :1", nil, "profile -- --live :1"},
		{"--live -- -v", &LiveOptions{}, "-- -v"},
		{"--lively", nil, "--lively"},
	} {
		got, rest, err := takeLive(strings.Fields(tt.line))
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || strings.Join(rest, " ") != tt.rest {
			t.Errorf("%s: rest %q (-want +got):\n%s", tt.line, rest, diff)
		}
	}
	for _, line := range []string{"--live-linger", "--live-linger --rate", "--live-linger 5", "--live-linger=-5s"} {
		if _, _, err := takeLive(strings.Fields(line)); err == nil {
			t.Errorf("%s: no error", line)
		}
	}
}
