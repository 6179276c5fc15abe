//go:build !linux || 386 || s390x || nostamps

package timedconn

func looksByTicks([]*poller) bool { return true }

func tick(*Clock, []*poller) bool { return true }
