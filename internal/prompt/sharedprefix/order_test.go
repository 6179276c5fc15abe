package sharedprefix

import (
	"compress/gzip"
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/token"
)

// small is a tokenizer with few tokens, many of which grow together when they are read again.
func small(t *testing.T) *token.Pipeline {
	t.Helper()
	f, err := os.Open("../../token/testdata/gpt2.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	e, err := token.FromJSON("small", data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestOriginalOrder holds the order of prompts, by the lengths of their responses, against that of
// inference-perf 0.7.0 with the same seed and tokenizer.
func TestOriginalOrder(t *testing.T) {
	d := plan.Data{
		Output: plan.Length{Dist: plan.DistUniform, Min: 5, Max: 300},
		SharedPrefix: plan.SharedPrefix{
			Groups: 3, Prompts: 4, Seed: 7, Prefix: plan.Length{Dist: plan.DistNormal, Mean: 20, Min: 20, Max: 20},
			Question: plan.Length{Dist: plan.DistUniform, Min: 5, Max: 30},
		},
	}
	pictured := d
	pictured.SharedPrefix.Media.Image = plan.Images{
		Count: plan.Length{Dist: plan.DistUniform, Min: 1, Max: 3},
		Sizes: []plan.Size{{Width: 640, Height: 360, Weight: 1}, {Width: 1280, Height: 720, Weight: 1}},
	}
	seed := func(n uint64) plan.Data {
		other := d
		other.SharedPrefix.Seed = n
		return other
	}
	tok := small(t)
	for name, c := range map[string]struct {
		data plan.Data
		want []int
	}{
		"text":     {d, []int{95, 241, 189, 16, 144, 248, 240, 18, 143, 169, 157, 300}},
		"pictures": {pictured, []int{95, 18, 248, 157, 300, 16, 144, 189, 241, 169, 240, 143}},
		// The numbers depend on what Python takes for white space.
		"seed 8":  {seed(8), []int{37, 180, 122, 184, 76, 81, 89, 130, 10, 59, 147, 115}},
		"seed 11": {seed(11), []int{110, 157, 203, 189, 180, 114, 75, 43, 238, 247, 286, 148}},
	} {
		var got []int
		for _, p := range prompttest.FirstPrompts(t, source(t, c.data, tok, 1, true), 12) {
			got = append(got, p.Output)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
