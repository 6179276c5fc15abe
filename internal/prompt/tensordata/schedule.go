package tensordata

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/prompt/tensor/inputdata"
)

// bySchedule takes the timestamps off steps of tensors and puts the steps in their order,
// where the plan says that they have any.
func (s *Source) bySchedule(items []tensor.Item) ([]tensor.Item, error) {
	if !s.timed {
		return items, nil
	}
	if len(s.moments) > 0 {
		return nil, plan.Faults{{Path: "data.tensors.files", Text: "has several streams, and a schedule is one", Hint: `write "data" as one list of steps, each with a timestamp`}}
	}
	type due struct {
		at   int64
		item tensor.Item
	}
	steps := make([]due, len(items))
	for i := range items {
		ms, ok, err := inputdata.Milliseconds(&items[i], inputdata.TimestampMember)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, plan.Faults{{Path: "data.tensors.files", Text: fmt.Sprintf("step %d has no timestamp", i), Hint: `write "timestamp": [MILLISECONDS] in every step`}}
		}
		steps[i] = due{ms, items[i]}
		steps[i].item.Values = slices.DeleteFunc(slices.Clone(items[i].Values),
			func(v tensor.Value) bool { return v.Name == inputdata.TimestampMember })
	}
	slices.SortStableFunc(steps, func(a, b due) int { return cmp.Compare(a.at, b.at) })
	sorted := make([]tensor.Item, len(steps))
	for i := range steps {
		sorted[i] = steps[i].item
		s.moments = append(s.moments, time.Duration(steps[i].at)*time.Millisecond)
	}
	return sorted, nil
}
