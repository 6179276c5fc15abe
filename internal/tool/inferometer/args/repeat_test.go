package args

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

func TestRepeat(t *testing.T) {
	for line, want := range map[string]Repeat{
		"http://h":                                                 {Time: 30 * time.Minute, Pause: time.Second},
		"http://h --repeat 3":                                      {Most: 3, Time: 30 * time.Minute, Pause: time.Second},
		"http://h --repeat 1 --pause 0s":                           {Most: 1, Time: 30 * time.Minute},
		"http://h --until ci(ttft.p99)<5":                          {Most: 20, Until: "ci(ttft.p99)<5", Time: 30 * time.Minute, Pause: time.Second},
		"--ab http://a http://b --fail-if x":                       {Most: 5, AB: true, Salted: true, Conditions: plan.Conditions{FailIf: []string{"x"}}, Time: 30 * time.Minute, Pause: time.Second},
		"http://h --until x --repeat 4 --until-max 90s --pause 2s": {Most: 4, Until: "x", Time: 90 * time.Second, Pause: 2 * time.Second},
	} {
		a, err := Run(strings.Fields(line), planfile.Known{}, nil)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if diff := cmp.Diff(want, a.Repeat); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestRepeatFaults(t *testing.T) {
	for line, want := range map[string]string{
		"http://h --repeat 0":                                    `--repeat: "0" is not a number of runs`,
		"http://h --repeat many":                                 `--repeat: "many" is not a number of runs`,
		"http://h --pause 1s":                                    "--pause: has no effect on one run",
		"http://h --until-max 1m":                                "--until-max: has no effect without --until",
		"http://h --repeat 2 --pause -1s":                        `--pause: "-1s" is not a time`,
		"http://h --until x --repeat 2":                          "--until: needs at least 3 runs, and --repeat allows 2",
		"http://h --ab":                                          "--ab: needs two URLs, not 1",
		"http://a http://b http://c --ab":                        "--ab: needs two URLs, not 3",
		"http://a http://b --ab --until x":                       "--until: cannot be combined with --ab",
		"http://h --until= ":                                     "--until: is empty",
		"http://h --repeat 2 --export x.csv":                     "--export: cannot be combined with --repeat",
		"http://h --repeat 2 --workers 2 --join-at :1":           "--join-at: cannot be combined with --repeat",
		"http://h --until x --workers 2 --nats nats://localhost": "--nats: cannot be combined with --until",
	} {
		_, err := Run(strings.Fields(line), planfile.Known{}, nil)
		var faults plan.Faults
		if !errors.As(err, &faults) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// What a server's prefix cache may remember of the run before begins with another word.
func TestSaltOfRepeats(t *testing.T) {
	for _, tt := range []struct{ line, salt, warning string }{
		{"http://h --input-file prompts.txt", "", ""},
		{"http://h --input-file prompts.txt --repeat 3", plan.SaltRun, ""},
		{"http://h --input-file prompts.txt --repeat 3 --salt request", plan.SaltRequest, ""},
		{"--ab http://a http://b", plan.SaltRun, ""},
		{"--ab http://a http://b --salt run", plan.SaltRun, ""},
		{"--ab http://a http://b --input-tokens 8", "", ""},
		{"--ab http://a http://b --salt request", plan.SaltRequest, "both sides have the same"},
		{"http://h --repeat 3", "", ""}, // each seed has other prompts
	} {
		a, err := Run(strings.Fields(tt.line), planfile.Known{}, nil)
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		if got := strings.Join(a.Warnings, "; "); a.Plan.Data.Salt != tt.salt || !strings.Contains(got, tt.warning) || tt.warning == "" && got != "" {
			t.Errorf("%s: salt %q, warnings %q", tt.line, a.Plan.Data.Salt, got)
		}
	}
}
