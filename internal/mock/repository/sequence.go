package repository

import (
	"fmt"
	"sync"
)

// sequenceSums are the running sums of a model's sequences.
type sequenceSums struct {
	mu  sync.Mutex
	sum map[string]int32
}

// AddToSequence takes one step of a sequence and returns its sum so far.
func (m *Model) AddToSequence(r *Request) (int32, error) {
	s := &m.sums
	key := r.sequenceName
	if key == "" {
		if r.sequence == 0 {
			return 0, fmt.Errorf("inference request to model '%s' must specify a non-zero or non-empty correlation ID", m.Name)
		}
		key = fmt.Sprint(r.sequence)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sum == nil {
		s.sum = make(map[string]int32)
	}
	if _, known := s.sum[key]; !known && !r.start {
		return 0, fmt.Errorf("inference request for sequence %s to model '%s' must specify the START flag on the first request of the sequence", key, m.Name)
	}
	if r.start {
		s.sum[key] = 0
	}
	s.sum[key] += int32(r.Find("INPUT").Integer(0))
	v := s.sum[key]
	if r.end {
		delete(s.sum, key)
	}
	return v, nil
}
