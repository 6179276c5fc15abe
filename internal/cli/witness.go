package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/tool"
)

// witness is a process that waits beside a run. Where this one comes to no orderly end, by a panic of
// any goroutine, a fatal error of the runtime or a signal, it says where the records are: no process in this
// process can (docs/decisions/073). It reads a pipe, whose end is the end of this process: a line for
// each run, and one where all is well. It costs a run nothing: it sleeps.
type witness struct {
	program string    // empty: there is none
	stderr  io.Writer // where it says so, if that is a file

	mu      sync.Mutex
	started bool
	cmd     *exec.Cmd
	pipe    io.WriteCloser // nil means it does not run
}

// dismissed is the line that says that all is well. Others are quoted.
const dismissed = "end"

// setRecordsDir says where the records of a run are; empty: a run may begin soon. Where no process can be
// started there is no witness, and nothing else is amiss.
func (w *witness) setRecordsDir(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.started {
		w.started = true
		w.start()
	}
	if w.pipe != nil && dir != "" {
		_, _ = fmt.Fprintf(w.pipe, "%q\n", dir)
	}
}

func (w *witness) start() {
	to, ok := tool.UnwrapWriter(w.stderr).(*os.File)
	if w.program == "" || !ok {
		return
	}
	cmd := exec.Command(w.program, afterwardsName)
	cmd.Stderr = to
	pipe, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return
	}
	w.cmd, w.pipe = cmd, pipe
}

// dismiss ends it: all is well, or was said.
func (w *witness) dismiss() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pipe == nil {
		return
	}
	_, _ = fmt.Fprintln(w.pipe, dismissed)
	_ = w.pipe.Close()
	kill := time.AfterFunc(time.Second, func() { _ = w.cmd.Process.Kill() })
	_ = w.cmd.Wait()
	kill.Stop()
	w.pipe = nil
}

// afterwardsName is the internal command of the witness.
const afterwardsName = "__afterwards"

// afterwards is the witness's part. Ctrl-C at the terminal is meant for the run, and reaches both.
func afterwards(env tool.Env) int {
	signal.Ignore(stopSignals()...)
	dir, well := "", false
	for lines := bufio.NewScanner(env.Stdin); lines.Scan(); {
		if well = lines.Text() == dismissed; well {
			break
		}
		if text, err := strconv.Unquote(lines.Text()); err == nil {
			dir = text
		}
	}
	if dir != "" && !well {
		fmt.Fprintf(env.Stderr, "The program has ended before its report. The records of the run are in %s, and this makes the report of them: inferometer report %s\n", dir, quoted(dir))
	}
	return tool.ExitOK
}

func quoted(word string) string {
	if strings.ContainsAny(word, " \t\n'\"\\$`*?[]{}&;()|<>#~!") {
		return strconv.Quote(word)
	}
	return word
}
