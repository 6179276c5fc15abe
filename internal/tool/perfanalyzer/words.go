package perfanalyzer

import (
	"fmt"
	"strings"
)

// wordy is how often -v is given to hear the server's own words.
const wordy = 2

// words prints what the server says of the model and of itself.
func (t *job) words() {
	if t.action.Verbose < wordy || t.setup.Words == nil {
		return
	}
	if t.action.GRPC {
		_, address, _ := strings.Cut(t.plan.Target.URLs[0], "://")
		_, err := fmt.Fprintf(t.env.Out, "Creating new channel with url:%s\n", address)
		t.addError(err)
	}
	all, err := t.setup.Words(t.ctx)
	for _, text := range all {
		t.print(text)
	}
	if err != nil {
		t.printf("WARNING: cannot read the server's metadata: %v", err)
	}
}

// statistics prints what the server has counted so far.
func (t *job) statistics() {
	if t.action.Verbose < wordy || t.setup.Statistics == nil {
		return
	}
	text, err := t.setup.Statistics(t.ctx)
	if err != nil {
		t.printf("WARNING: cannot read the server's statistics: %v", err)
		return
	}
	t.print(text)
}

// print writes an answer of the server. The text of a message ends with its line.
func (t *job) print(text string) {
	_, err := fmt.Fprintln(t.env.Out, text)
	t.addError(err)
}
