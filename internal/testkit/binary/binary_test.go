package binary

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

func TestProgram(t *testing.T) {
	out, err := exec.Command(Program(t), "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "inferometer ") {
		t.Fatalf("version: %v: %s", err, out)
	}
}

// Where the kernel stamps nothing the error bars are wider, and they decide: there is a verdict, whatever it
// is on a busy machine.
func TestWithoutStamps(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program once more")
	}
	var res struct {
		Stages []struct {
			Metrics map[string]struct {
				Error map[string]struct{ Lo, Hi float64 }
			}
		}
		Verdict struct {
			Status    string
			Undecided []string
			Checks    []struct{ Name string }
		}
	}
	out, err := exec.Command(WithoutStamps(t), "run", "--requests", "60", "--concurrency", "4", "--output-tokens", "8", "--json").Output()
	if failed := json.Unmarshal(out, &res); failed != nil {
		t.Fatalf("%v, %v: %s", err, failed, out)
	}
	if res.Verdict.Status == "inconclusive" || len(res.Verdict.Undecided) > 0 {
		t.Errorf("%s: %q", res.Verdict.Status, res.Verdict.Undecided)
	}
	bar, ok := res.Stages[0].Metrics["time_to_first_token"].Error["avg"]
	if !ok || bar.Hi-bar.Lo < 0.05 {
		t.Errorf("an average of unstamped reads is said to be known within %v", bar)
	}
}
