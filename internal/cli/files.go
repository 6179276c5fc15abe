package cli

import (
	"inferometer/internal/lib/bounded"
	"inferometer/internal/plan"
)

// inputs is the limit of files that a command line names, ahead of any plan.
func inputs() bounded.Limit {
	return bounded.Limit{Name: plan.LimitFile, Bytes: int64(plan.DefaultLimits().File)}
}

// readFile reads such a file.
func readFile(name string) ([]byte, error) { return inputs().ReadFile(name) }
