package args

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// seedConfigs are good configs, and some that were fatal once.
func seedConfigs(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/plans/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	seeds := []string{small, "a: &a [*a]\n", "load: {stages: [{<<: {rate: 1}}]}", "load: 5\n", "load: []\n"}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, string(text))
	}
	return seeds
}

// tryConfig reads a config, which may be refused but not misread.
func tryConfig(t testing.TB, config string) {
	a, err := parse(config + "\n")
	if err != nil {
		return
	}
	if err := planfile.Validate(a.Plan); err != nil {
		t.Errorf("a config was accepted whose plan is not: %v", err)
	}
	if _, err := parse(string(a.Config)); err != nil && !strings.Contains(string(a.Config), hidden) {
		t.Errorf("the config in force does not read back: %v\n%s", err, a.Config)
	}
}

func FuzzConfig(f *testing.F) {
	for _, s := range seedConfigs(f) {
		f.Add(s)
	}
	mutate.Fuzz(f, func(t *testing.T, config string) { tryConfig(t, config) })
}

func TestBrokenConfigs(t *testing.T) {
	mutate.Try(t, mutate.Usual, seedConfigs(t), func(text string) { tryConfig(t, text) })
}

// Every value of a config may be of another kind, or null.
func TestConfigsOfOtherKinds(t *testing.T) {
	names, err := filepath.Glob("../../../../examples/*/config*.yml")
	if err != nil || len(names) == 0 {
		t.Fatal("no example configs", err)
	}
	seeds := []string{small}
	for _, name := range append(names, "testdata/plans/every-key.yml") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, string(text))
	}
	mutate.Nodes(t, seeds, func(text string) { _, _ = parse(text) })
}

// So may every value of a flag, beside all that a key needs to have an effect.
func TestFlagsOfOtherKinds(t *testing.T) {
	for _, e := range slices.Concat(apiEffects(), dataEffects(), agentEffects(), replayEffects(), loadEffects(), reportEffects(),
		otherEffects(), nested()) {
		base, with := e.flags()
		for i := range with {
			if i == 0 || i < len(base) || !strings.HasPrefix(with[i-1], "--") || strings.HasPrefix(with[i], "--") {
				continue
			}
			mutate.Nodes(t, []string{with[i]}, func(text string) {
				var v any
				if yaml.Unmarshal([]byte(text), &v) != nil {
					return
				}
				value, err := json.Marshal(v)
				if err != nil {
					return
				}
				_, _ = parse(small, append(with[:i:i], append([]string{string(value)}, with[i+1:]...)...)...)
			})
		}
	}
}

// TestEveryKeyOfEveryKind gives each key of the schema what it does not take, in the file
// and, if it is a section, as a flag.
func TestEveryKeyOfEveryKind(t *testing.T) {
	for _, f := range flagsOf(root(), nil) {
		for _, odd := range []string{"5", "[null]", "{a: 1}", "null"} {
			mutate.Try(t, 0, []string{f.name + " " + odd}, func(string) {
				config := small + "---"
				if f.path[0] != "load" && f.path[0] != "server" {
					config = small
				} else {
					config = strings.ReplaceAll(small, f.path[0]+":", "metrics: {}\n#")
				}
				nested := odd
				for i := len(f.path) - 1; i >= 0; i-- {
					nested = "{" + f.path[i] + ": " + nested + "}"
				}
				_, _ = parse(config + strings.TrimSuffix(strings.TrimPrefix(nested, "{"), "}"))
				if f.form.kind == object {
					_, _ = parse(small, f.name+"="+odd)
				}
			})
		}
	}
}

func FuzzArgs(f *testing.F) {
	for _, s := range seedLines() {
		f.Add(strings.Join(s, "\n"))
	}
	mutate.Fuzz(f, func(t *testing.T, line string) { tryLine(t, strings.Split(line, "\n")) })
}

func seedLines() [][]string {
	return [][]string{
		{"--config_file", "c.yml", "--load.stages", `[{"rate": 1, "duration": 5}]`, "--server.base_url=http://h:1"},
		{"--analyze", "reports-1", "reports-2", "-u", "both", "--percentiles", "50,99"},
		{"-cc.yml", "--load.sweep", "{}", "--data.type", "random", "--log-level", "DEBUG", "--dry-run", "--faithful"},
		{"--storage", "null", "--report.prometheus", "null", "--load", "[]", "--circuit_breakers", "[]"},
	}
}

func tryLine(t testing.TB, args []string) {
	a, err := parse(small, args...)
	if err == nil && a.Command == Run {
		if err := planfile.Validate(a.Plan); err != nil {
			t.Errorf("a command line was accepted whose plan is not: %v", err)
		}
	}
}

func TestBrokenLines(t *testing.T) {
	mutate.Lines(t, mutate.Usual, seedLines(), func(args []string) { tryLine(t, args) })
}
