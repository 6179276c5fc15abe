package args

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

// absent reads no file.
func absent(string) ([]byte, error) { return nil, errors.New("no such file") }

func TestTargets(t *testing.T) {
	for _, c := range []struct{ line, url, protocol, endpoint string }{
		{"localhost:8000", "http://localhost:8000", "", ""},
		{"localhost", "http://localhost", "", ""},
		{"10.0.0.7:30000/v1", "http://10.0.0.7:30000/v1", "", ""},
		{"[::1]:8000", "http://[::1]:8000", "", ""},
		{"gpu-1.example.com:443", "https://gpu-1.example.com:443", "", ""},
		{"--url gpu-1:8000", "http://gpu-1:8000", "", ""},
		{"http://h/v1/embeddings", "http://h/v1/embeddings", "", plan.EndpointEmbeddings},
		{"h:8000/v1/completions/", "http://h:8000/v1/completions/", "", plan.EndpointCompletions},
		{"https://h/proxy/v1/chat/completions", "https://h/proxy/v1/chat/completions", "", plan.EndpointChat},
		{"https://h/v1/messages", "https://h/v1/messages", plan.ProtocolAnthropic, plan.EndpointMessages},
		{"http://h:8000/v1/models", "http://h:8000", "", ""},
		{"h:8000/metrics/", "http://h:8000", "", ""},
		{"http://h/v1/embeddings --endpoint chat", "http://h/v1/embeddings", "", plan.EndpointChat}, // what is said counts
	} {
		a, err := Run(strings.Fields(c.line), planfile.Known{}, absent)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		p := &a.Plan.Target
		want := plan.Default().Target
		if c.protocol == "" {
			c.protocol = want.Protocol
		}
		if c.endpoint == "" {
			c.endpoint = want.Endpoint
		}
		if len(p.URLs) != 1 || p.URLs[0] != c.url || p.Protocol != c.protocol || p.Endpoint != c.endpoint {
			t.Errorf("%s: %v, %s, %s", c.line, p.URLs, p.Protocol, p.Endpoint)
		}
	}
	for line, want := range map[string]string{
		"no-such-plan.yaml": "cannot read the plan file",
		"./results/plan":    "cannot read the plan file",
		"myhost":            "did you mean http://myhost?",
		"script.js":         "a script of another tool",
		"30":                "neither a URL nor a plan file",
	} {
		if _, err := Run([]string{line}, planfile.Known{}, absent); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

// A flag that is not given its value does not swallow the next one.
func TestFlagIsNoValue(t *testing.T) {
	for line, want := range map[string]string{
		"http://h --html -n 2":    "--html: needs a value",
		"http://h --out --all":    "--out: needs a value",
		"http://h --requests -2":  "must not be negative",
		"http://h --stream false": "\"false\" is neither a URL nor a plan file",
	} {
		if _, err := Run(strings.Fields(line), planfile.Known{}, absent); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "http://2") {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestListedLoads(t *testing.T) {
	for line, want := range map[string][]float64{
		"-c 1,2,4":                    {1, 2, 4},
		"-c 1..64":                    {1, 2, 4, 8, 16, 32, 64},
		"-c 1..100x4":                 {1, 4, 16, 64, 100},
		"-c 8..32+8":                  {8, 16, 24, 32},
		"-c 1..4x1.3":                 {1, 2, 3, 4},
		"--levels 3..3":               {3},
		"--max-concurrency 1,2":       {1, 2},
		"--rate 5,10,20":              {5, 10, 20},
		"--request-rate 0.5..4":       {0.5, 1, 2, 4},
		"--rate 1 --levels 10..20+5 ": {10, 15, 20},
	} {
		a, err := Run(append([]string{"http://h:1"}, strings.Fields(line)...), planfile.Known{}, absent)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if diff := cmp.Diff(want, a.Plan.Levels.List); diff != "" || len(a.Plan.Stages) != 1 || a.Plan.Stages[0].Duration == 0 {
			t.Errorf("%s: %s, %+v", line, diff, a.Plan.Stages)
		}
	}
	for line, want := range map[string]string{
		"-c 1,2 --levels 3":   "--concurrency: has several levels, and so has --levels (keep one of them)",
		"-c 64..1":            `--concurrency: "64..1" is not a range of levels (write it as 1..64`,
		"-c 1..x":             "is not a range of levels",
		"-c 1..9x1":           "is not a range of levels",
		"-c 1..1000000000+1":  "makes more than 1000 levels",
		"-c ,":                "--concurrency",
		"-c 1,two":            "--concurrency",
		"--rate 1,2 --rate 3": "--rate: is given twice",
	} {
		if _, err := Run(append([]string{"http://h:1"}, strings.Fields(line)...), planfile.Known{}, absent); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}
