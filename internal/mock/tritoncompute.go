package mock

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/mock/repository"
)

// compute answers the requests of models that have no text to make.
func (c *call) compute(m *repository.Model, r *repository.Request) error {
	t := &c.t
	shape := func(n ...int64) []int64 {
		if t.batched && len(r.Inputs) > 0 {
			c.choices = int(max(1, r.Inputs[0].Shape[0]))
			return append([]int64{r.Inputs[0].Shape[0]}, n...)
		}
		return n
	}
	switch m.Spec.Convention {
	case repository.ConventionAdd:
		t.results = append(t.results, resultTensor{"OUTPUT0", "FP32", shape(16), added(r.Find("INPUT0"), r.Find("INPUT1"))})
	case repository.ConventionSum:
		sum, err := m.AddToSequence(r)
		if err != nil {
			return err
		}
		t.results = append(t.results, resultTensor{"OUTPUT", "INT32", shape(1), binary.LittleEndian.AppendUint32(nil, uint32(sum))})
	case repository.ConventionBefore:
		words := strings.Fields(string(r.Find("QUERY").Text()))
		var ids []byte
		for _, w := range words {
			ids = binary.LittleEndian.AppendUint32(ids, crc32.ChecksumIEEE([]byte(w))%32000)
		}
		n := uint32(len(words))
		t.results = append(t.results,
			resultTensor{"INPUT_ID", "INT32", []int64{1, int64(n)}, ids},
			resultTensor{"REQUEST_INPUT_LEN", "INT32", []int64{1, 1}, binary.LittleEndian.AppendUint32(nil, n)},
			resultTensor{"OUT_LEN", "INT32", []int64{1, 1}, binary.LittleEndian.AppendUint32(nil, uint32(r.Find("REQUEST_OUTPUT_LEN").Integer(c.s.cfg.Output.Tokens)))})
	case repository.ConventionAfter:
		var text strings.Builder
		if ids := r.Find("TOKENS"); ids != nil {
			for at := 0; at+4 <= len(ids.Data); at += 4 {
				text.WriteString(token(int(binary.LittleEndian.Uint32(ids.Data[at:])) - 1000))
			}
		}
		t.results = append(t.results, resultTensor{"OUTPUT", "BYTES", []int64{1, 1}, repository.AppendBytes(nil, text.String())})
	}
	if len(t.wishes) > 0 {
		t.results = slices.DeleteFunc(t.results, func(o resultTensor) bool {
			return !slices.ContainsFunc(t.wishes, func(w repository.RequestedOutput) bool { return w.Name == o.name })
		})
	}
	return nil
}

func added(a, b *repository.Input) []byte {
	if a == nil || b == nil {
		return nil
	}
	var sum []byte
	for at := 0; at+4 <= min(len(a.Data), len(b.Data)); at += 4 {
		x := math.Float32frombits(binary.LittleEndian.Uint32(a.Data[at:]))
		y := math.Float32frombits(binary.LittleEndian.Uint32(b.Data[at:]))
		sum = binary.LittleEndian.AppendUint32(sum, math.Float32bits(x+y))
	}
	return sum
}
