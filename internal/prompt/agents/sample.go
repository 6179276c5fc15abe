package agents

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/blake2b"

	"github.com/inferometer/inferometer/internal/lib/numpy"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// sessionSeed is what all of a session is drawn from.
func sessionSeed(seed uint64, session int) (uint64, error) {
	h, err := blake2b.New(8, nil)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(h, "%d:%d", seed, session)
	return binary.BigEndian.Uint64(h.Sum(nil)), nil
}

// sample draws an integer of a distribution; the zero one gives 0.
func sample(l plan.Length, r *numpy.Generator) int {
	if l.Dist == "" {
		return int(l.Mean)
	}
	if l.Dist == plan.DistPoisson && l.Mean <= 0 {
		l.Mean = 1
	}
	return prompt.DrawLengths(l, 1, 1, r).At(0)
}
