package load

import (
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// Growth says how a load grows: Step requests are added each time that every request of
// the last step has had so many responses, up to the requests of the stage.
type Growth struct {
	Step      int // 0: the load does not grow
	Responses int
}

func (stage *Profile) grows(s plan.Stage) {
	stage.InFlight = func(time.Duration) int { return s.Concurrency }
	stage.MaxSlots, stage.Requests = s.Growth.To, int64(s.Growth.To)
	stage.Growth = Growth{Step: s.Growth.Step, Responses: s.Growth.Responses}
}
