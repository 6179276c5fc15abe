package genaiperf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The exporter's page is read during the run, and is in the reports.
func TestServerMetrics(t *testing.T) {
	s := serve(t, nil)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "# TYPE DCGM_FI_DEV_POWER_USAGE gauge\n"+`DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",Hostname="h"} 123.5`+"\n"+
			`DCGM_FI_DEV_POWER_USAGE{gpu="1",UUID="GPU-b",Hostname="h"} 99`+"\n"+`DCGM_FI_DEV_FB_TOTAL{gpu="0"} 1000`)
	}))
	defer page.Close()
	var log bytes.Buffer
	a := parse(t, s, t.TempDir(), "profile", "-m", "gpt2", "--endpoint-type", "chat", "--isl", "10", "--osl", "4", "--tokenizer", "builtin:gpt2", "--server-metrics-url", page.URL+"/metrics", page.URL, "http://127.0.0.1:1/metrics")
	out := profile(t, a, world(offline, &log))
	power := out.Report.Telemetry.Find("gpu_power_usage")
	if power == nil || len(power.GPUs) != 4 || power.GPUs[0].ID != "0" || power.GPUs[3].ID != "2:1" || power.GPUs[0].Stat.Avg != 123.5 {
		t.Errorf("%+v", out.Report.Telemetry)
	}
	if !strings.Contains(log.String(), "--server-metrics-url http://127.0.0.1:1/metrics: ") {
		t.Errorf("of the page that is not there nothing is said:\n%s", log.String())
	}
	text, err := os.ReadFile(filepath.Join(a.Settings.Dir, "profile_export_genai_perf.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Telemetry map[string]map[string]any `json:"telemetry_stats"`
	}
	if err := json.Unmarshal(text, &doc); err != nil || len(doc.Telemetry["total_gpu_memory"]) != 3 || doc.Telemetry["gpu_power_usage"]["1"].(map[string]any)["avg"] != 99.0 {
		t.Errorf("%v, %v", doc, err)
	}
}
