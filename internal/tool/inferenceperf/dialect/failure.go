package dialect

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

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

// failures are failures by their label.
type failures map[string]*Failure

func (f failures) add(rec *record.Record, most int) {
	f.put(Label(rec.Failure), Said(rec.Failure), sessionsOf(rec), most)
}

func (f failures) put(label, message string, sessions []string, most int) {
	known := f[label]
	if known == nil {
		known = &Failure{Label: label}
		f[label] = known
	}
	known.Count++
	known.say(message, sessions, most)
}

func sessionsOf(rec *record.Record) []string {
	if rec.Session == "" {
		return nil
	}
	return []string{rec.Session}
}

// say adds a message. Of messages that are alike, and of sessions, no more than most
// are kept.
func (f *Failure) say(text string, sessions []string, most int) {
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
			known := all[label]
			if known == nil {
				known = &Failure{Label: label}
				all[label] = known
			}
			known.Count += failure.Count
			for _, m := range failure.Messages {
				known.say(m.Text, m.Sessions, most)
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

// pattern is words that give a failure its label.
type pattern struct {
	words *regexp.Regexp
	label string
}

// bodyPatterns tell refusals apart whose status says too little.
var bodyPatterns = []pattern{
	{regexp.MustCompile(`(?i)context.window|context length|maximum context|max.?tokens|token.?limit`), "Context Window"},
	{regexp.MustCompile(`(?i)invalid.?json|json.?parse|malformed.?json|unexpected.?token|expecting value|unterminated string|expecting ',' delimiter`), "Invalid JSON"},
	{regexp.MustCompile(`(?i)timeout|timed.?out`), "Timeout"},
	{regexp.MustCompile(`(?i)model.?not.?found|no such model`), "Model Not Found"},
}

// statusLabel is what a status says by itself; empty: too little.
func statusLabel(status int) string {
	switch status {
	case 429:
		return "Rate Limit"
	case 500:
		return "Internal Server Error"
	case 502:
		return "Bad Gateway"
	case 503:
		return "Service Unavailable"
	case 504:
		return "Gateway Timeout"
	}
	return ""
}

// Said is what was said of a failure. That a request timed out stands in the message of
// one that no answer had begun for, where the original looks for it.
func Said(f *record.Failure) string {
	if timedOut(f) && f.Status == 0 {
		return "Request timed out: " + f.Message
	}
	return f.Message
}

func timedOut(f *record.Failure) bool {
	return f.Class == record.NoFirstByte || f.Class == record.Stalled || f.Class == record.TimedOut
}

// Label is what a failure is counted under. Of one that the original has no words for, it
// is the name of the error; a time-out is one of those once an answer has begun.
func Label(f *record.Failure) string {
	switch f.Class {
	case record.HTTPStatus:
		label := statusLabel(f.Status)
		for i := 0; label == "" && i < len(bodyPatterns); i++ {
			if bodyPatterns[i].words.MatchString(f.Message) {
				label = bodyPatterns[i].label
			}
		}
		return strconv.Itoa(f.Status) + " - " + cmp.Or(label, "other")
	case record.NoFirstByte, record.Stalled, record.TimedOut:
		if f.Status != 200 {
			return "Timeout"
		}
		return strings.ToLower(f.Exception())
	case record.Truncated:
		return strings.ToLower(f.Exception())
	case record.ResolveFailed, record.ConnectFailed, record.TLSFailed, record.Dropped, record.Reset, record.OwnFault:
		return "Connection Error"
	}
	return string(f.Class)
}
