package run

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// gpuMeter stands in for the tool that reads power: whenever somebody waits for it, it has read 500 W every
// 10 ms since the beginning.
type gpuMeter struct {
	now  func() time.Duration
	take func(record.Power)
	once sync.Once
}

func (m *gpuMeter) Wait(context.Context, time.Duration) {
	m.once.Do(func() {
		gpu := record.GPUPower{Index: "0", UUID: "GPU-a"}
		for at, end := time.Duration(0), m.now()+time.Second; at < end; at += 10 * time.Millisecond {
			gpu.At, gpu.Watts = append(gpu.At, at), append(gpu.Watts, 500)
		}
		m.take(record.Power{Source: plan.PowerSMI, GPUs: []record.GPUPower{gpu}})
	})
}

func (m *gpuMeter) Close() error { return nil }

// Power that is read during a run is in its result, and in its records beside the pages of servers.
func TestMeter(t *testing.T) {
	t.Parallel()
	s := serve(t, slow)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "DCGM_FI_DEV_POWER_USAGE{gpu=\"7\",UUID=\"GPU-z\"} 300\n")
	}))
	defer page.Close()
	p := closedPlan(t, s.url, 2, 20)
	p.Cost = plan.Cost{GPUs: 1, Price: 3.6, Power: plan.PowerAuto}
	p.Probes.Scrape, p.Probes.Interval = []string{page.URL}, plan.Duration(10*time.Millisecond)
	o := options(io.Discard)
	o.Kit.Meters = func(_ context.Context, _ *plan.Plan, _ time.Duration, now func() time.Duration,
		take func(record.Power)) (probe.PowerReader, error) {
		return &gpuMeter{now: now, take: take}, nil
	}
	res, err := Run(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	st := &res.Stages[0]
	if m := st.Metrics["gpu_power_avg"]; math.Abs(m.Avg-500) > 1e-6 || st.Cost.Power.Source != plan.PowerSMI {
		t.Errorf("%+v, %+v", m, st.Cost.Power)
	}
	if got, want := st.Metrics["cost_per_million_output_tokens"].Avg, 1e3/st.Metrics["output_token_throughput"].Avg; math.Abs(got/want-1) > 1e-9 {
		t.Errorf("$%v per million tokens, want %v", got, want)
	}
	again, err := saved.Report(p.Output.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(st.Cost, again.Stages[0].Cost); diff != "" {
		t.Errorf("made again from the records:\n%s", diff)
	}
}

func TestNoMeter(t *testing.T) {
	t.Parallel()
	s := serve(t, slow)
	p := closedPlan(t, s.url, 1, 2)
	p.Cost = plan.Cost{Power: plan.PowerSMI}
	var log strings.Builder
	o := options(&log)
	o.Kit.Meters = func(context.Context, *plan.Plan, time.Duration, func() time.Duration, func(record.Power)) (probe.PowerReader, error) {
		return nil, errors.New("no driver")
	}
	res, err := Run(t.Context(), p, o)
	if err != nil || res.Stages[0].Cost.Power.Valid || !strings.Contains(log.String(), "warning: the power of the GPUs is not read: no driver") {
		t.Errorf("%v, %s", err, log.String())
	}
}
