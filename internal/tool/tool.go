// Package tool is the contract of a tool: a program that people know, or a command of our
// own, on this engine. It is what all of them run in: what they see of the world, how they
// are watched and stopped, and how they say what came of it.
package tool

import (
	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// Exit codes. A tool that others made has its own.
const (
	ExitOK    = 0
	ExitRun   = 1 // the run failed, or its figures are invalid
	ExitUsage = 2 // bad usage or input: nothing was sent
	// ExitMissed is that of a run that can be trusted and did not meet what was asked of it.
	ExitMissed = 3
	// ExitInconclusive is that of a run that ended well and is too little to judge.
	ExitInconclusive = 4
)

// Tool is one of the program's commands.
type Tool struct {
	Name    string // the first word of the command line, or the name that the program goes by
	Summary string
	// Manual describes the command: for help, man pages and completion.
	Manual func() clidoc.Command
	// Foreign: it stands for a program that others made, and has that one's help.
	Foreign bool
	// Run carries out a command line and gives the exit code.
	Run func(env Env, args []string) int
	// Rebuild makes the reports again of what the tool wrote; mine is false where something
	// else did. Nil: it writes nothing that can be read again.
	Rebuild func(env Env, from From) (code int, mine bool)
	// Report reports a run in the tool's own tables and files, whichever tool made it, and gives
	// the files that it wrote. Nil: it has no reports of its own.
	Report func(env Env, s *ReportRequest) ([]string, error)
	// Names are what its users call what a plan has; nil means as ours do.
	Names func(p *plan.Plan) message.Names
	// Reads says what Import and Figures take, such as "AIPerf's profile_export.jsonl".
	Reads string
	// Import makes an output directory of what the tool, or the original that it stands for,
	// wrote; nil where something else did. Without it: it writes nothing that holds single
	// requests.
	Import func(env Env, from From, dir string) (*Imported, error)
	// Figures reads what it wrote without single requests; nil where something else did.
	Figures func(env Env, from From) (*Figures, error)
}

// ReportRequest is a run that is reported as a tool does it.
type ReportRequest struct {
	*saved.Run
	Out       string // the directory for the tool's files
	Tokenizer string // to count with; empty: the counts that were kept
}

// From is what reports are made of again.
type From struct {
	Path      string // a directory or a file
	Formats   []string
	Tokenizer string // to count with; empty: the counts that were kept
}
