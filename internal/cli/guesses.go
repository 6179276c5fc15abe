package cli

import (
	"path/filepath"
	"slices"
	"strings"
)

// lead says what to type for a word that is no command of ours: what other tools call one, or what a command
// takes; empty if unknown.
func lead(word string) string {
	for _, g := range []struct{ words, instead string }{
		{"bench benchmark load loadtest test perf measure start go eval", "inferometer run URL"},
		{"sweep", "inferometer run URL --concurrency 1..64, or inferometer capacity URL --slo 'ttft.p99 < 200ms' for the highest load that meets objectives"},
		{"profile analyze", "inferometer run URL, or inferometer genai-perf profile for that tool's command line"},
		{"serve server simulator sim", "inferometer mock --listen :8000 starts a server to try things on"},
		{"max find-max saturate slo", "inferometer capacity URL --slo 'ttft.p99 < 200ms'"},
		{"diff ab regression", "inferometer compare A B, or inferometer run URL1 URL2 --ab"},
		{"config validate check lint init template", "inferometer plan check FILE, or inferometer run URL --dry-run to print a plan file"},
		{"show view html ui plot visualize dashboard", "inferometer report DIR --html report.html"},
		{"sglang sglang.bench_serving bench_serving", "inferometer run URL; its flags: inferometer help from-sglang"},
		{"aiperf", "inferometer run URL; its flags: inferometer help from-aiperf"},
		{"guidellm", "inferometer run URL; its flags: inferometer help from-guidellm"},
		{"genai_perf genaiperf", "inferometer genai-perf"},
		{"perf-analyzer perfanalyzer", "inferometer perf_analyzer"},
		{"inference_perf inferenceperf", "inferometer inference-perf"},
		{"llmperf llm-perf", "inferometer llm_perf"},
		{"k6 locust wrk hey ab2", "inferometer run URL --concurrency 8 --duration 30s"},
		{"docs doc", "inferometer help"},
	} {
		if slices.Contains(strings.Fields(g.words), strings.ToLower(word)) {
			return g.instead
		}
	}
	switch {
	case strings.Contains(word, "://") || strings.Contains(word, ":") && !strings.ContainsAny(word, " \n"):
		return "inferometer run " + word
	case slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(word)):
		return "inferometer run " + word
	case strings.HasPrefix(word, "-"):
		return "inferometer run URL " + word
	}
	return ""
}
