package mock

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"sync"
)

// sequenceSums are the running sums of a model's sequences.
type sequenceSums struct {
	mu  sync.Mutex
	sum map[string]int32
}

// compute answers the requests of models that have no text to make.
func (c *call) compute(m *tritonModel, r *inferRequest) error {
	t := &c.t
	shape := func(n ...int64) []int64 {
		if t.batched && len(r.inputs) > 0 {
			c.choices = int(max(1, r.inputs[0].shape[0]))
			return append([]int64{r.inputs[0].shape[0]}, n...)
		}
		return n
	}
	switch m.spec.convention {
	case ConventionAdd:
		t.results = append(t.results, resultTensor{"OUTPUT0", "FP32", shape(16), added(r.find("INPUT0"), r.find("INPUT1"))})
	case ConventionSum:
		sum, err := m.sums.add(m.name, r)
		if err != nil {
			return err
		}
		t.results = append(t.results, resultTensor{"OUTPUT", "INT32", shape(1), binary.LittleEndian.AppendUint32(nil, uint32(sum))})
	case conventionBefore:
		words := strings.Fields(string(r.find("QUERY").text()))
		var ids []byte
		for _, w := range words {
			ids = binary.LittleEndian.AppendUint32(ids, crc32.ChecksumIEEE([]byte(w))%32000)
		}
		n := uint32(len(words))
		t.results = append(t.results,
			resultTensor{"INPUT_ID", "INT32", []int64{1, int64(n)}, ids},
			resultTensor{"REQUEST_INPUT_LEN", "INT32", []int64{1, 1}, binary.LittleEndian.AppendUint32(nil, n)},
			resultTensor{"OUT_LEN", "INT32", []int64{1, 1}, binary.LittleEndian.AppendUint32(nil, uint32(r.find("REQUEST_OUTPUT_LEN").integer(c.s.cfg.Output.Tokens)))})
	case conventionAfter:
		var text strings.Builder
		if ids := r.find("TOKENS"); ids != nil {
			for at := 0; at+4 <= len(ids.data); at += 4 {
				text.WriteString(token(int(binary.LittleEndian.Uint32(ids.data[at:])) - 1000))
			}
		}
		t.results = append(t.results, resultTensor{"OUTPUT", "BYTES", []int64{1, 1}, appendBytes(nil, text.String())})
	}
	if len(t.wishes) > 0 {
		t.results = slices.DeleteFunc(t.results, func(o resultTensor) bool {
			return !slices.ContainsFunc(t.wishes, func(w outputWish) bool { return w.name == o.name })
		})
	}
	return nil
}

func added(a, b *inputTensor) []byte {
	if a == nil || b == nil {
		return nil
	}
	var sum []byte
	for at := 0; at+4 <= min(len(a.data), len(b.data)); at += 4 {
		x := math.Float32frombits(binary.LittleEndian.Uint32(a.data[at:]))
		y := math.Float32frombits(binary.LittleEndian.Uint32(b.data[at:]))
		sum = binary.LittleEndian.AppendUint32(sum, math.Float32bits(x+y))
	}
	return sum
}

// add takes one step of a sequence.
func (s *sequenceSums) add(model string, r *inferRequest) (int32, error) {
	key := r.sequenceName
	if key == "" {
		if r.sequence == 0 {
			return 0, fmt.Errorf("inference request to model '%s' must specify a non-zero or non-empty correlation ID", model)
		}
		key = fmt.Sprint(r.sequence)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sum == nil {
		s.sum = make(map[string]int32)
	}
	if _, known := s.sum[key]; !known && !r.start {
		return 0, fmt.Errorf("inference request for sequence %s to model '%s' must specify the START flag on the first request of the sequence", key, model)
	}
	if r.start {
		s.sum[key] = 0
	}
	s.sum[key] += int32(r.find("INPUT").integer(0))
	v := s.sum[key]
	if r.end {
		delete(s.sum, key)
	}
	return v, nil
}
