package cli

import (
	"path/filepath"
	"strings"
)

// frontEnds are the commands that are other tools' command lines. A link to the
// program, or a copy of it, under such a name behaves as that tool.
func frontEnds() []command {
	return []command{
		{"genai-perf", "measure with the command line of NVIDIA's GenAI-Perf", genaiPerfCommand},
		{"inference-perf", "measure with the config file and command line of inference-perf", inferencePerfCommand},
		{"perf_analyzer", "measure with the command line of Triton's Perf Analyzer", perfAnalyzerCommand},
		{"llm_perf", "measure with the command line of llm_perf", llmPerfCommand},
		{"llm_perf.py", "the same under its other name", llmPerfCommand},
	}
}

// byName puts the command in front of the arguments where the program is called by a
// front end's name.
func byName(program string, args []string) []string {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	for _, c := range frontEnds() {
		if c.name == name {
			return append([]string{name}, args...)
		}
	}
	return args
}
