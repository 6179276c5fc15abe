package plan_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
)

// TestObjectivesAgree: what a plan can set as an objective is what metrics can be
// judged by. Neither package imports the other.
func TestObjectivesAgree(t *testing.T) {
	if diff := cmp.Diff(slices.Sorted(slices.Values(metric.Objectives())), slices.Sorted(slices.Values(plan.SLOMetrics()))); diff != "" {
		t.Error(diff)
	}
}
