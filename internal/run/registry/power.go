package registry

import (
	"context"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/probe/power"
	"github.com/inferometer/inferometer/internal/record"
)

// MeterFactory starts what reads the power of this machine's GPUs, and hands on what it reads.
type MeterFactory func(ctx context.Context, p *plan.Plan, every time.Duration, now func() time.Duration,
	take func(record.Power)) (probe.PowerReader, error)

func newMeter(ctx context.Context, p *plan.Plan, every time.Duration, now func() time.Duration,
	take func(record.Power)) (probe.PowerReader, error) {
	m, err := power.Start(ctx, power.Options{Devices: p.Cost.Devices, Every: every, Now: now, Take: take})
	if err != nil {
		return nil, err
	}
	return m, nil
}
