package inferenceperf

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A stage without a request has no report, and those behind it keep their numbers.
func TestEmptyStage(t *testing.T) {
	dir, _, printed := measure(t, strings.ReplaceAll(configYAML, "{rate: 50, duration: 1}", "{rate: 0.5, duration: 1}"), "--server.base_url", serve(t))
	for name, there := range map[string]bool{
		"stage_0_lifecycle_metrics.json": false, "stage_1_lifecycle_metrics.json": true,
		"inference-perf.partial.stage_0.yaml": false, "inference-perf.partial.stage_1.yaml": true,
	} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != there {
			t.Errorf("%s: there: %v", name, err == nil)
		}
	}
	if !strings.Contains(printed, "=== START_STAGE_1 ===") || strings.Contains(printed, "STAGE_0") {
		t.Error("the stage has another number")
	}
	if got, want := told(printed), "0 started, 0 completed, 1 started, 1 completed"; got != want {
		t.Errorf("told of stages %s, not %s", got, want)
	}
	findings, err := os.ReadFile(filepath.Join(dir, "validation.json"))
	if err != nil || !strings.Contains(string(findings), "the config has 2 stages, and there is no report of stage_0") {
		t.Errorf("%v: %s", err, findings)
	}
	if single, err := os.ReadFile(filepath.Join(dir, "per_request_lifecycle_metrics.json")); err != nil || strings.Contains(string(single), `"stage_id": 0`) {
		t.Error("requests of stage 0", err)
	}
}

// told is what was printed of the stages that are run, without the times.
func told(printed string) string {
	lines := regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - inference_perf.loadgen.load_generator - INFO - Stage (-?\d+) - run (.*)$`).FindAllStringSubmatch(printed, -1)
	var out []string
	for _, l := range lines {
		out = append(out, l[1]+" "+l[2])
	}
	return strings.Join(out, ", ")
}

// Stages without a request behind the last that has some are told of, also where a breaker has opened.
func TestEmptyStagesAtTheEnd(t *testing.T) {
	const empty, begun = "{rate: 0.5, duration: 1}", "0 started, 0 completed"
	for more, want := range map[string]string{
		"": begun + ", 1 started, 1 completed, 2 started, 2 completed, 3 started, 3 completed",
		"circuit_breakers: [{name: any, metrics: {matches: ['@']}, triggers: [{type: consecutive, threshold: 2}]}]\n": begun + ", 1 started, 1 failed, 2 started, 2 completed, 3 started, 3 completed",
	} {
		text := strings.ReplaceAll(configYAML, "{rate: 50, duration: 1}", empty)
		stages := regexp.MustCompile(`stages: \[(.*)\]`)
		text = stages.ReplaceAllString(text, "stages: [$1, "+empty+", "+empty+"]")
		if more != "" {
			text = strings.ReplaceAll(text, "stages:", "circuit_breakers: [any]\n  stages:")
		}
		if _, _, printed := measure(t, text+more, "--server.base_url", serve(t)); told(printed) != want {
			t.Errorf("told of stages %s, not %s", told(printed), want)
		}
	}
}

// A stage that a breaker ends has failed.
func TestFailedStage(t *testing.T) {
	_, _, printed := measure(t, strings.ReplaceAll(configYAML, "stages:", "circuit_breakers: [any]\n  stages:")+
		"circuit_breakers: [{name: any, metrics: {matches: ['@']}, triggers: [{type: consecutive, threshold: 2}]}]\n", "--server.base_url", serve(t))
	if !strings.Contains(printed, "INFO - Stage 0 - run failed\n") {
		t.Error("told of no stage that failed")
	}
}

// The stages behind an open breaker have failed: nothing is sent in them.
func TestStagesBehindABreaker(t *testing.T) {
	const stage = "{rate: 50, duration: 1}"
	text := strings.ReplaceAll(configYAML, stage, stage+", {rate: 0.5, duration: 1}, "+stage)
	dir, _, printed := measure(t, strings.ReplaceAll(text, "stages:", "circuit_breakers: [any]\n  stages:")+
		"circuit_breakers: [{name: any, metrics: {matches: ['@']}, triggers: [{type: consecutive, threshold: 2}]}]\n", "--server.base_url", serve(t))
	if got, want := told(printed), "0 started, 0 failed, 1 started, 1 completed, 2 started, 2 failed"; !strings.HasPrefix(got, want) {
		t.Errorf("told of stages %s, not %s", got, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "stage_2_lifecycle_metrics.json")); err == nil {
		t.Error("a stage in which nothing was sent has a report")
	}
}
