package args

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

func TestStudy(t *testing.T) {
	a, err := Study(strings.Fields("prefill grpc://h:8001 --model m --prompt-lengths 64,16,64 --out d"), planfile.Known{})
	if err != nil {
		t.Fatal(err)
	}
	if a.Kind != StudyPrefill || len(a.Runs) != 2 || a.Runs[0].Length != 16 || a.Runs[1].Length != 64 {
		t.Fatalf("%+v", a)
	}
	p := a.Runs[1].Plan
	if p.Data.Input.Mean != 64 || p.Data.Output.Mean != 1 || p.Data.IgnoreEOS || p.Target.Protocol != plan.ProtocolTriton || p.Target.Model != "m" {
		t.Errorf("plan %+v", p)
	}
	if s := p.Stages[0]; s.Concurrency != 1 || s.Requests != 10 || s.Warmup.Requests != 1 || !strings.HasSuffix(p.Output.Dir, "prompts-of-64") {
		t.Errorf("stage %+v, output %+v", s, p.Output)
	}
	a, err = Study(strings.Fields("generation http://h:8000 --requests 3 --tokenizer words"), planfile.Known{})
	if err != nil || len(a.Runs) != 5 {
		t.Fatalf("%+v, %v", a, err)
	}
	if p := a.Runs[4].Plan; p.Data.Output.Mean != 256 || !p.Data.IgnoreEOS || p.Data.Input.Mean != 4096 || p.Stages[0].Requests != 3 || p.Output.Dir != "" {
		t.Errorf("plan %+v", p)
	}
}

func TestStudyFaults(t *testing.T) {
	for line, want := range map[string]string{
		"":                                      "choose prefill or generation",
		"prefil":                                "did you mean",
		"prefill --prompt-lengths 16,x":         `"x" is not a number of tokens`,
		"prefill --prompt-lengths 0":            `"0" is not a number of tokens`,
		"prefill http://a:1 http://b:1":         "2 URLs given",
		"prefill --input-file x":                "input-file",
		"generation --output-tokens 1 --nosuch": "nosuch",
	} {
		if _, err := Study(strings.Fields(line), planfile.Known{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
	if a, err := Study([]string{"--help"}, planfile.Known{}); err != nil || a.Help != ShortHelp || !strings.Contains(strings.Join(StudyManual().Common, " "), "prompt-lengths") {
		t.Errorf("%+v, %v", a, err)
	}
}

// The table of flags says what the code does where a flag is left out, and which words it takes.
func TestTableOfFlags(t *testing.T) {
	for _, c := range []struct {
		group, flag, says string
		words             []string
	}{
		{"Study", "prompt-lengths", "default " + studyLengths + ")", nil},
		{"Study", "requests", "default " + studyRequests + ")", nil},
		{"Study", "warmup", "default " + studyWarmup + ")", nil},
		{"Study", "output-tokens", "prefill " + prefillTokens + ", generation " + generatedTokens + ")", nil},
		{"Report", "format", strings.Join(Formats(), ", ") + " (default console); or the tables and files of another tool: " + strings.Join(Originals(), ", "), append(Formats(), Originals()...)},
		{"Compare", "format", strings.Join(CompareFormats(), ", "), CompareFormats()},
		{"Export", "format", strings.Join(ExportFormats(), ", "), ExportFormats()},
		{"Output", "keep", "", kept()},
		{"Search", "by", "", []string{byRate, byConcurrency}},
		{"Load", "arrival", "", []string{plan.ArrivalConstant, plan.ArrivalPoisson, plan.ArrivalGamma, plan.ArrivalTrace}},
	} {
		all := flagsOf(c.group)
		i := slices.IndexFunc(all, func(o option) bool { return o.name == c.flag })
		if i < 0 || !strings.Contains(all[i].help, c.says) || !slices.Equal(all[i].values, c.words) {
			t.Errorf("%s, --%s: %+v", c.group, c.flag, all)
		}
	}
}
