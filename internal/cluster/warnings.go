package cluster

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// warnings hands on what is logged, and keeps the warnings in it, a line each.
type warnings struct {
	io.Writer
	mu   sync.Mutex
	list []string
}

const warning = "warning: "

// Write implements io.Writer.
func (w *warnings) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range strings.Lines(string(p)) {
		if text, is := strings.CutPrefix(strings.TrimSpace(line), warning); is {
			w.list = append(w.list, text)
		}
	}
	return w.Writer.Write(p)
}

func (w *warnings) found() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.list)
}

// warn tells what the workers warn of, each thing once.
func (c *Coordinator) warn() {
	var told []string
	for _, m := range c.all() {
		for _, text := range m.warnings {
			if !slices.Contains(told, text) {
				told = append(told, text)
				fmt.Fprintf(c.opt.Log, "%sworker %s: %s\n", warning, m.name, text)
			}
		}
	}
}
