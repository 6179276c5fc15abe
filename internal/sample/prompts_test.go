package sample

import (
	"math/rand/v2"
	"testing"

	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// placed is a stage of requests with these places and prompts, sent in that order, that all
// succeeded.
func placed(seq []int64, prompt []uint64) *StageSamples {
	s := &StageSamples{seq: seq, prompt: prompt, columns: map[string]*column{}}
	for i := range seq {
		s.order, s.ok, s.good = append(s.order, uint32(i)), append(s.ok, true), append(s.good, false)
		if s.first = min(s.first, seq[i]); i == 0 {
			s.first = seq[0]
		}
	}
	return s
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		name    string
		seqA    []int64
		promptA []uint64
		seqB    []int64
		promptB []uint64
		want    int // pairs; 0: too few
	}{
		{"the same", []int64{0, 1, 2}, []uint64{7, 8, 9}, []int64{0, 1, 2}, []uint64{7, 8, 9}, 3},
		{"recorded in another order", []int64{0, 1, 2}, []uint64{7, 8, 9}, []int64{2, 0, 1}, []uint64{9, 7, 8}, 3},
		{"other prompts", []int64{0, 1, 2}, []uint64{7, 8, 9}, []int64{0, 1, 2}, []uint64{6, 5, 4}, 0},
		{"no hashes", []int64{0, 1, 2}, []uint64{0, 0, 0}, []int64{0, 1, 2}, []uint64{0, 0, 0}, 0},
		{"counted from another place", []int64{0, 1, 2}, []uint64{7, 8, 9}, []int64{10, 11, 12}, []uint64{7, 8, 9}, 3},
		{"all at one place", []int64{0, 0, 0}, []uint64{7, 7, 7}, []int64{0, 0, 0}, []uint64{7, 7, 7}, 3},
		{"one place more often on one side", []int64{0, 0, 0, 0}, []uint64{7, 7, 7, 7}, []int64{0}, []uint64{7}, 0},
		{"one too many", []int64{0, 1, 2, 3, 4}, []uint64{5, 6, 7, 8, 9}, []int64{0, 1, 2, 3}, []uint64{5, 6, 7, 8}, 4},
		{"two too many", []int64{0, 1, 2, 3, 4}, []uint64{5, 6, 7, 8, 9}, []int64{0, 1, 2}, []uint64{5, 6, 7}, 0},
		{"nothing", nil, nil, nil, nil, 0},
		{"nothing on one side", []int64{0}, []uint64{7}, nil, nil, 0},
	} {
		got := 0
		if p := Match(placed(c.seqA, c.promptA), placed(c.seqB, c.promptB)); p != nil {
			got = p.Count()
		}
		if got != c.want {
			t.Errorf("%s: %d pairs, want %d", c.name, got, c.want)
		}
	}
}

// No request is in two pairs, whatever the places are, and the differences are of pairs.
func TestMatchIsOneToOne(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		draw := func() *StageSamples {
			n := r.IntN(40)
			seq, prompt := make([]int64, n), make([]uint64, n)
			for i := range seq {
				seq[i], prompt[i] = int64(r.IntN(20)), 1+uint64(r.IntN(2))
			}
			return placed(seq, prompt)
		}
		a, b := draw(), draw()
		p := Match(a, b)
		if p == nil {
			continue
		}
		var usedA, usedB [40]bool
		for _, pair := range p.pairs {
			if usedA[pair[0]] || usedB[pair[1]] || a.prompt[pair[0]] != b.prompt[pair[1]] {
				t.Fatalf("seed %d: %v", seed, p.pairs)
			}
			usedA[pair[0]], usedB[pair[1]] = true, true
		}
		if d := p.Between("error_rate", []string{"avg"}, estimate.Confidence); len(d) != 1 || d[0].Delta != 0 {
			t.Fatalf("seed %d: %+v", seed, d)
		}
	}
}
