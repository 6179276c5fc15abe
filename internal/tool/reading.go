package tool

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/progress"
	"github.com/inferometer/inferometer/internal/report/screen"
)

// patience is after how long it is shown how far reading is.
const patience = 2 * time.Second

// Read has a command read the records of saved runs, by the Reading that it is given: on a terminal it is shown
// how far that is where it takes long, and Ctrl-C ends it, as it ends the program afterwards. name is what is read.
func (e Env) Read(name string, read func(*record.Reading) error) error {
	by := new(record.Reading)
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		e.watchReading(name, by, done)
	}()
	err := read(by)
	close(done)
	<-watched
	e.ResetInterrupts()
	if err == nil && by.Stopped() {
		err = record.ErrStopped
	}
	return err
}

func (e Env) watchReading(name string, by *record.Reading, done <-chan struct{}) {
	to := e.Terminal(e.Stderr)
	display := progress.New(UnwrapWriter(e.Stderr), progress.Options{
		Mode: progress.Terminal, Color: to.Color, ASCII: to.ASCII, Cuts: to.Cuts, Size: func() (int, int) { return to.Width(), to.Lines() },
	})
	messages, ok := e.Stderr.(*screen.Writer)
	begin := time.Now()
	late := time.After(patience)
	for {
		select {
		case <-done:
			display.Stop()
			if ok {
				messages.Redirect(messages.Unwrap())
			}
			return
		case <-late:
			if !to.Drawn {
				continue
			}
			if ok {
				messages.Redirect(display.Writer(messages.Unwrap()))
			}
			display.Start(func() progress.Snapshot {
				s := progress.Snapshot{Run: name, Phase: progress.Reading, Elapsed: time.Since(begin)}
				s.Read, s.Size = by.Bytes()
				return s
			})
		case <-e.Interrupts:
			e.ResetInterrupts()
			display.Print("Stopping: the records are kept as they are. Press Ctrl-C again to stop at once.")
			by.Stop()
		}
	}
}
