package dialect

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/pattern"
	"github.com/inferometer/inferometer/internal/record"
)

// Failure is all failures with one label.
type Failure struct {
	Label    string
	Count    int64
	Messages []Message // the first ones that differ
}

// Message is what the server or the system said, and to which sessions.
type Message struct {
	Text     string
	Sessions []string
}

type failures map[string]*Failure

// failure is the failure of a label, made where there was none.
func (f failures) failure(label string) *Failure {
	if f[label] == nil {
		f[label] = &Failure{Label: label}
	}
	return f[label]
}

func (f failures) put(label, message string, sessions []string, most int) {
	known := f.failure(label)
	known.Count++
	known.addMessage(message, sessions, most)
}

// addMessage adds a message. Of alike ones, and of sessions, no more than most are kept.
func (f *Failure) addMessage(text string, sessions []string, most int) {
	for i := range f.Messages {
		m := &f.Messages[i]
		if m.Text == text {
			room := max(most-len(m.Sessions), 0)
			m.Sessions = append(m.Sessions, sessions[:min(room, len(sessions))]...)
			return
		}
	}
	if len(f.Messages) < most {
		f.Messages = append(f.Messages, Message{Text: text, Sessions: slices.Clone(sessions)})
	}
}

// merged are the failures of several buckets, the most frequent first.
func merged(buckets []*bucket, most int) []Failure {
	all := failures{}
	for _, b := range buckets {
		for label, failure := range b.failures {
			known := all.failure(label)
			known.Count += failure.Count
			for _, m := range failure.Messages {
				known.addMessage(m.Text, m.Sessions, most)
			}
		}
	}
	return all.sorted()
}

func (f failures) sorted() []Failure {
	out := make([]Failure, 0, len(f))
	for _, failure := range f {
		out = append(out, *failure)
	}
	slices.SortFunc(out, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Label, b.Label))
	})
	return out
}

// bodyPatterns label refusals whose status says too little.
var bodyPatterns = []struct {
	words func() *regexp.Regexp
	label string
}{
	{pattern.New(`(?i)context.window|context length|maximum context|max.?tokens|token.?limit`), "Context Window"},
	{pattern.New(`(?i)invalid.?json|json.?parse|malformed.?json|unexpected.?token|expecting value|unterminated string|expecting ',' delimiter`), "Invalid JSON"},
	{pattern.New(`(?i)timeout|timed.?out`), "Timeout"},
	{pattern.New(`(?i)model.?not.?found|no such model`), "Model Not Found"},
}

// statusLabels are the statuses that say enough by themselves.
var statusLabels = map[int]string{
	429: "Rate Limit", 500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
}

// Said is what was said of a failure. That a request timed out stands in the message of
// one that no response had begun for, where the original looks for it.
func Said(f *record.Failure) string {
	if timedOut(f) && f.Status == 0 && !strings.HasPrefix(f.Message, "Request timed out") {
		return "Request timed out: " + f.Message
	}
	return f.Message
}

func timedOut(f *record.Failure) bool {
	return f.Class == record.NoFirstByte || f.Class == record.Stalled || f.Class == record.TimedOut
}

// Label is what a failure is counted under. Of one that the original has no words for, it
// is the name of the error; a time-out is one of those once a response has begun.
func Label(f *record.Failure) string {
	switch f.Class {
	case record.HTTPStatus:
		label := statusLabels[f.Status]
		for _, p := range bodyPatterns {
			if label == "" && p.words().MatchString(f.Message) {
				label = p.label
			}
		}
		return fmt.Sprintf("%d - %s", f.Status, cmp.Or(label, "other"))
	case record.NoFirstByte, record.Stalled, record.TimedOut, record.Truncated:
		if timedOut(f) && f.Status != 200 {
			return "Timeout"
		}
		return strings.ToLower(f.Exception())
	case record.ResolveFailed, record.ConnectFailed, record.TLSFailed, record.Dropped, record.Reset, record.ClientResource:
		return "Connection Error"
	}
	return strings.ToLower(string(f.Class))
}
