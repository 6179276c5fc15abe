package mock

import (
	"time"

	"github.com/inferometer/inferometer/internal/mock/repository"
)

// acceptTriton checks a request and reads it into the call.
func (c *call) acceptTriton(m *repository.Model, r *repository.Request) *repository.StatusError {
	if failure := c.s.triton.Check(m, r); failure != nil {
		return failure
	}
	if err := c.takeTriton(m, r); err != nil {
		return repository.Refuse(repository.CodeInvalid, "%s", err.Error())
	}
	return nil
}

// deliver puts results where the request wants them, and takes them out of the answer.
func (c *call) deliver() *repository.StatusError {
	for i := range c.t.results {
		o := &c.t.results[i]
		if w := c.t.wish(o.name); w.Region != "" {
			if failure := c.s.triton.Regions.Write(w, o.data); failure != nil {
				return failure
			}
			o.data = nil
		}
	}
	return nil
}

// countOnce puts the call into its model's statistics, if it is not there yet.
func (c *call) countOnce(now int64, whole bool) {
	t := &c.t
	if t.counted {
		return
	}
	t.counted = true
	v := repository.Service{
		Arrived: c.arrived(), Parsed: t.parsed, Admitted: c.admitted, Made: t.made, Done: t.done, Now: now,
		Wall: c.s.clock.Base.Add(time.Duration(now)).UnixMilli(), Batch: c.choices,
	}
	switch {
	case !whole:
		v.End = repository.EndedCancelled
	case c.finish == "error":
		v.End = repository.EndedFailed
	case t.convention == repository.ConventionVLLM || t.convention == repository.ConventionOld:
		v.End = repository.EndedEmpty
	}
	t.model.Count(v)
}
