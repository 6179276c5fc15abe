package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestDefaultIsValid(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidateListsAllFaults(t *testing.T) {
	c := Default()
	c.Models = nil
	c.RetryAfter = -1
	c.Latency.ITL = -time.Second
	c.Latency.TTFTStddev = time.Second
	c.Latency.Dist = "poisson"
	c.Output.Tokens = 0
	c.Output.Coalesce = 0
	c.Output.ReasoningField = "thoughts"
	c.TLS.Cert = "x.pem"
	c.TruthBody = true
	c.Faults = []Fault{{Kind: "explode"}, {Kind: FaultStatus, Code: 200, Share: 0.6}, {Kind: FaultReset, Share: 0.6}, {Kind: FaultStall, Share: 2}}
	err := c.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"--model", "--retry-after", "--itl ", "--ttft-stddev", "--latency-dist", "--output-tokens 0", "--coalesce",
		"--reasoning-field", "--tls-cert", "--truth-body", `"explode"`, "status:200", "add up to 3.2", "share 2"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not tell of %s:\n%v", want, err)
		}
	}
}

func TestFlags(t *testing.T) {
	got := Default()
	fs := pflag.NewFlagSet("mock", pflag.ContinueOnError)
	Flags(fs, &got)
	err := fs.Parse(strings.Fields("--listen :9 --ttft 50ms --itl 10ms --output-tokens 7 --truth t.jsonl --strict --coalesce 64 " +
		"--fault status:503=0.1,reset=0.05 --fault html=0.5 --max-seqs 8 --done=false --model a --model b --http2"))
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Listen, want.Truth, want.Strict, want.HTTP2 = ":9", "t.jsonl", true, true
	want.Latency.TTFT, want.Latency.ITL, want.Latency.MaxSeqs = 50*time.Millisecond, 10*time.Millisecond, 8
	want.Output.Tokens, want.Output.Coalesce, want.Output.Done = 7, 64, false
	want.Models = []string{"a", "b"}
	want.Faults = []Fault{{FaultStatus, 503, 0.1}, {FaultReset, 0, 0.05}, {FaultHTML, 0, 0.5}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestParseFault(t *testing.T) {
	for _, text := range []string{"status:503=0.1", "refuse=1", "slow-accept=0", "error-event=0.25"} {
		f, err := ParseFault(text)
		if err != nil || f.String() != text {
			t.Errorf("ParseFault(%q) = %v, %v", text, f, err)
		}
	}
	for text, want := range map[string]string{
		"": "KIND=SHARE", "reset": "KIND=SHARE", "reset=x": "not a number", "reset=1.5": "between 0 and 1", "reset=NaN": "between 0 and 1",
		"reset:3=0.1": "only status", "status=0.1": "between 400 and 599", "status:x=1": "not a status code", "boom=0.1": "the kinds are",
	} {
		if _, err := ParseFault(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseFault(%q): %v, want %q in it", text, err, want)
		}
	}
}

func FuzzParseFault(f *testing.F) {
	f.Add("status:503=0.1")
	f.Add("=")
	mutate.Fuzz(f, func(t *testing.T, text string) {
		x, err := ParseFault(text)
		if err != nil {
			return
		}
		if y, err := ParseFault(x.String()); err != nil || y != x {
			t.Errorf("%q gives %v, which reads back as %v, %v", text, x, y, err)
		}
	})
}

func TestPickKeepsShares(t *testing.T) {
	fs := []Fault{{FaultReset, 0, 0.25}, {FaultRefuse, 0, 0.5}, {FaultStatus, 500, 0.25}}
	const n = 1000
	count := map[FaultKind]int{}
	for i := range n {
		if f, ok := PickFault(fs, false, float64(i)/n); ok {
			count[f.Kind]++
		}
	}
	if d := cmp.Diff(map[FaultKind]int{FaultReset: n / 4, FaultStatus: n / 4}, count); d != "" {
		t.Error(d)
	}
	if f, ok := PickFault(fs, true, 0.49); !ok || f.Kind != FaultRefuse {
		t.Errorf("connection fault: %v, %v", f, ok)
	}
}
