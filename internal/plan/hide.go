package plan

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// shortestHidden: a shorter secret would be found in innocent text.
const shortestHidden = 6

// Hider is a writer that puts a placeholder where a secret would be written.
type Hider struct {
	to      io.Writer
	secrets [][]byte
	held    []byte // may be the begin of one
	longest int
}

// Hide is a Hider of secrets ahead of w, as they stand and as JSON has them, once or twice
// over. Close writes what is held back.
func Hide(w io.Writer, secrets []string) *Hider {
	h := &Hider{to: w}
	for _, secret := range secrets {
		for range 3 {
			if len(secret) < shortestHidden {
				break
			}
			h.secrets, h.longest = append(h.secrets, []byte(secret)), max(h.longest, len(secret))
			quoted, err := json.Marshal(secret)
			if err != nil {
				break
			}
			secret = strings.TrimSuffix(strings.TrimPrefix(string(quoted), `"`), `"`)
		}
	}
	return h
}

// Write implements io.Writer.
func (h *Hider) Write(text []byte) (int, error) {
	if h.longest == 0 {
		return h.to.Write(text)
	}
	h.held = append(h.held, text...)
	for _, secret := range h.secrets {
		if bytes.Contains(h.held, secret) {
			h.held = bytes.ReplaceAll(h.held, secret, []byte(Hidden))
		}
	}
	if n := len(h.held) - h.longest + 1; n > 0 {
		if _, err := h.to.Write(h.held[:n]); err != nil {
			return 0, err
		}
		h.held = append(h.held[:0], h.held[n:]...)
	}
	return len(text), nil
}

// Close writes what was held back. It does not close what is written to.
func (h *Hider) Close() error {
	_, err := h.to.Write(h.held)
	h.held = nil
	return err
}
