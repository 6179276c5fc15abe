package timer

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// timerfd is an alarm of the kernel that the runtime's poller waits for like
// for any other file, so it goes off within microseconds and costs nothing meanwhile.
type timerfd struct {
	fd   int
	file *os.File
}

// NewAlarm returns the most precise alarm there is.
func NewAlarm() Alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return NewTimerAlarm()
	}
	return &timerfd{fd: fd, file: os.NewFile(uintptr(fd), "timerfd")}
}

func (a *timerfd) set(d time.Duration) {
	// A value of zero would disarm it.
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(d, 1)))}
	// It fails only for a bad descriptor or value.
	_ = unix.TimerfdSettime(a.fd, 0, &spec, nil)
}

func (a *timerfd) wait() bool {
	var b [8]byte
	_, err := a.file.Read(b[:])
	return err == nil
}

func (a *timerfd) close() { _ = a.file.Close() }
