package inferometer

import (
	"context"
	"fmt"

	"github.com/inferometer/inferometer/internal/compare"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/repeat"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

// Plan checks or prints a plan, or its schema.
func Plan() tool.Tool {
	return tool.Tool{Name: "plan", Summary: "check or print a plan file, or print its schema", Manual: args.PlanManual, Run: planCommand}
}

func planCommand(env tool.Env, line []string) int {
	env.ResetInterrupts()
	action, err := args.Plan(line, registry.Known(), tool.ReadFile)
	if err != nil {
		return env.Fail("plan", err, tool.ExitUsage)
	}
	if action.Help != args.NoHelp {
		return env.PrintHelp(args.PlanManual(), action.Help == args.FullHelp)
	}
	env.Warn("warning", action.Warnings)
	switch action.Verb {
	case "schema":
		_, err = env.Stdout.Write(schemaOf(action.Document))
	case "print":
		return env.PrintPlan("plan", action.Plan)
	default:
		return checkPlan(env, action.Plan)
	}
	if err != nil {
		return env.Fail("plan", err, tool.ExitRun)
	}
	return tool.ExitOK
}

func schemaOf(document string) []byte {
	switch document {
	case args.ResultDocument:
		return result.JSONSchema()
	case args.ComparisonDocument:
		return compare.JSONSchema()
	case args.RepeatsDocument:
		return repeat.JSONSchema()
	}
	return planfile.JSONSchema(registry.Known())
}

// checkPlan looks at the files that a plan names.
func checkPlan(env tool.Env, p *plan.Plan) int {
	notes, err := run.Check(context.Background(), p, registry.Offline(env.Getenv))
	for _, n := range notes {
		fmt.Fprintln(env.Stderr, "note: "+n)
	}
	if err != nil {
		return env.Fail("plan", err, tool.ExitUsage)
	}
	if _, err := fmt.Fprintln(env.Stdout, "plan OK"); err != nil {
		return env.Fail("plan", err, tool.ExitRun)
	}
	return tool.ExitOK
}
