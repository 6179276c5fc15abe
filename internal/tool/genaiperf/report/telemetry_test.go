package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// gpus are three looks at the page of a DCGM exporter.
func gpus() dialect.Telemetry {
	fold := dialect.NewTelemetryFold(false)
	for i := range 3 {
		var page record.Page
		put := func(name string, gpu int, values ...float64) {
			page.Samples = append(page.Samples, record.Sample{Name: "DCGM_FI_" + name, Labels: fmt.Sprintf(`UUID="GPU-%d",gpu="%d"`, gpu, gpu), Value: values[i]})
		}
		put("DEV_POWER_USAGE", 0, 100.5, 200.25, 300)
		put("DEV_POWER_USAGE", 1, 50, 60, 70)
		put("DEV_POWER_MGMT_LIMIT", 0, 700, 700, 700)
		put("DEV_POWER_MGMT_LIMIT", 1, 700, 700, 700)
		put("DEV_TOTAL_ENERGY_CONSUMPTION", 0, 5e12, 6e12, 7e12)
		put("DEV_FB_TOTAL", 0, 81920, 81920, 81920)
		put("DEV_FB_USED", 0, 1000, 2000, 1234567)
		put("DEV_GPU_UTIL", 0, 10, 50, 93.5)
		put("PROF_SM_ACTIVE", 0, .5, .25, .75)
		put("DEV_GPU_TEMP", 0, 40, 41, 42)
		fold.Add([]record.Page{page})
	}
	return fold.Telemetry()
}

// The golden files are what the real tool (0.0.16) makes of the same values.
func TestTelemetry(t *testing.T) {
	s := &dialect.Summary{Release: dialect.Latest}
	for _, width := range []int{60, 100} {
		var b bytes.Buffer
		if err := Console(&b, s, Options{Width: width, Verbose: true, Telemetry: gpus()}); err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(b.String(), "┘\n")
		golden(t, fmt.Sprintf("telemetry%d.txt", width), got)
		b.Reset()
		if err := Console(&b, s, Options{Width: width, Telemetry: gpus()}); err != nil || strings.Contains(b.String(), "GPU") {
			t.Error("without -v there are tables of GPUs")
		}
	}
	var b bytes.Buffer
	if err := CSV(&b, s, Options{Telemetry: gpus()}); err != nil {
		t.Fatal(err)
	}
	_, got, ok := strings.Cut(b.String(), "Request Count (count),N/A\r\n")
	if !ok {
		t.Fatal(b.String())
	}
	golden(t, "telemetry.csv", strings.ReplaceAll(got, "\r\n", "\n"))
	r := csv.NewReader(&b)
	r.FieldsPerRecord = -1
	if _, err := r.ReadAll(); err != nil {
		t.Error(err)
	}
	b.Reset()
	if err := JSON(&b, s, "{}", nil, gpus()); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Telemetry map[string]map[string]json.RawMessage `json:"telemetry_stats"`
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Telemetry) != 8 || string(doc.Telemetry["gpu_power_limit"]["unit"]) != `"W"` {
		t.Errorf("%v", doc.Telemetry)
	}
	_, got, _ = strings.Cut(b.String(), "  \"telemetry_stats\"")
	got, _, _ = strings.Cut(got, "  \"input_config\"")
	golden(t, "telemetry.json", got)
}

// golden compares with a file that was made by the real tool.
func golden(t *testing.T, name, got string) {
	t.Helper()
	want, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
