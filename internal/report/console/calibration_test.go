package console

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/inferometer/inferometer/internal/result"
)

func TestCalibration(t *testing.T) {
	c := new(result.Calibration)
	err := json.Unmarshal([]byte(`{"load": "32 in flight", "verdict": "valid", "requests": 640, "requests_per_second": 47.2, "in_flight": 31.9, "events_per_second": 3021,
		"bars": [
			{"metric": "time_to_first_byte", "name": "Time to first byte", "unit": "ms", "true_avg": 50, "error": 0.11},
			{"metric": "time_to_first_token", "name": "Time to first token", "unit": "ms", "true_avg": 50, "error": 0.12},
			{"metric": "inter_token_latency", "name": "Inter-token latency", "unit": "ms", "true_avg": 10, "error": 0.034},
			{"metric": "request_throughput", "name": "Requests/s", "unit": "requests/sec", "true_avg": 47.2, "error": 0.001}],
		"run": {"requests_per_second": 12.5, "in_flight": 30.2, "events_per_second": 1900}}`), c)
	if err != nil {
		t.Fatal(err)
	}
	for name, all := range map[string]bool{"calibration.txt": false, "calibration-all.txt": true} {
		var b bytes.Buffer
		if err := Write(&b, &result.Result{Calibration: c, Verdict: result.Verdict{Status: result.Valid, Valid: true}},
			Options{All: all}); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.String())
	}
}
