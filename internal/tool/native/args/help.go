package args

import (
	"strings"
)

// helpWidth is how many columns a help text may have.
const helpWidth = 100

// RunHelp is the help of `inferometer run`.
func RunHelp() string {
	return `Measure an inference server.

  inferometer run [URL...|plan.yaml] [flags]

Without a URL or plan file, the built-in mock is measured. Several URLs take requests in turn.
Flags override the plan file; docs/plan.md describes it.

Examples:
  inferometer run
  inferometer run http://host:8000 --model M --concurrency 32 --duration 30s --out results
  inferometer run http://host:8000 --model M --rate 50 --arrival poisson --max-in-flight 500 \
      --requests 2000 --goodput ttft:200ms,itl:30ms
  inferometer run http://host:8000 --input-tokens normal:mean=550,stddev=50 --output-tokens 128 \
      --ignore-eos --stage concurrency=8,duration=30s --stage concurrency=16,duration=30s,gap=5s
  inferometer run grpc://host:8001 --model ensemble --concurrency 8 --output-tokens 128
  inferometer run http://host:8000 --protocol triton --model vllm_model --endpoint generate
  inferometer run plan.yaml --seed 7
` + helpOf(runGroups())
}

// ReportHelp is the help of `inferometer report`.
func ReportHelp() string {
	return `Rebuild the reports of a saved run from its records.

  inferometer report DIR [flags]
  inferometer report DIR DIR...     what the workers of one run kept, as one report
  inferometer report FILE           averages of Perf Analyzer's profile_export.json

To compare runs with one another: inferometer compare A B

Example:
  inferometer report results --format console,csv
` + helpOf(reportGroups())
}

// PlanHelp is the help of `inferometer plan`.
func PlanHelp() string {
	return `Check or print a plan without running it.

  inferometer plan check  [URL...|plan.yaml] [flags of run]   find errors in it and its files
  inferometer plan print  [URL...|plan.yaml] [flags of run]   print it in full, without secrets
  inferometer plan schema [plan|result|comparison|repeats]    print the JSON Schema of plan files,
                                                              or of result.json and so on

Examples:
  inferometer plan check plan.yaml
  inferometer plan print http://host:8000 --concurrency 32 > plan.yaml
`
}

// helpOf lists flags in two columns.
func helpOf(groups []group) string {
	left := 0
	for _, g := range groups {
		for _, o := range g.options {
			left = max(left, len(o.heading()))
		}
	}
	var b strings.Builder
	for _, g := range groups {
		b.WriteString("\n" + g.title + ":\n")
		for _, o := range g.options {
			head := o.heading()
			for _, line := range wrap(o.help, helpWidth-left-2) {
				b.WriteString(head + strings.Repeat(" ", left-len(head)+2) + line + "\n")
				head = ""
			}
		}
	}
	return b.String()
}

// heading is the left column: "  -H, --header 'NAME: VALUE'".
func (o option) heading() string {
	head := "      --" + o.name
	if o.short != "" {
		head = "  -" + o.short + ", --" + o.name
	}
	if o.arg != "" {
		head += " " + o.arg
	}
	return head
}

// wrap cuts text into lines of at most width bytes, between words.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(text) {
		if line != "" && len(line)+1+len(w) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	return append(lines, line)
}
