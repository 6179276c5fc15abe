// Package importer is what readers of other tools' files share: how requests become records, loads
// a plan, and failures a class; and how a file is told by its content.
package importer

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/pattern"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// Request is what a file says of a request. Moments are offsets from the start of the run.
type Request struct {
	Seq     int64
	Stage   int
	Warmup  bool
	Session string
	Turn    int

	Due, Sent, End time.Duration
	Held           time.Duration // how long it waited for a place behind Due
	// Events are when something with tokens came; an unstreamed response has none.
	Events []time.Duration
	Each   bool // there was one token in each
	Sparse bool // Events are the first and the last alone
	// Visible is how many of Events, from the first, came before visible text.
	Visible  int
	Streamed bool

	In, Out int // tokens; below 0: not known
	Cached  int // prompt tokens from the cache; below 0: not said
	Counted record.Source
	Failure *record.Failure
}

// Record is the request as a record. In place of its text stands a blank for each token, so
// that those who measure texts find as many.
func (r *Request) Record() *record.Record {
	rec := &record.Record{
		Seq: r.Seq, Stage: r.Stage, Session: r.Session, Turn: r.Turn,
		Due: min(r.Due, r.Sent), Ready: r.Sent, Sent: r.Sent, Written: r.Sent, End: max(r.End, r.Sent), Held: max(min(r.Held, r.Sent-r.Due), 0),
		Streamed: r.Streamed, Sparse: r.Sparse && len(r.Events) > 1, Cached: max(r.Cached, -1), Status: http.StatusOK,
		Conn: record.Conn{Reused: true},
		In:   tokens(r.In, r.Counted), Out: tokens(r.Out, r.Counted), Failure: r.Failure,
	}
	if r.Warmup {
		rec.Phase = record.Warmup
	}
	if r.Failure != nil {
		rec.Status, rec.Out = r.Failure.Status, record.Tokens{Local: -1}
		return rec
	}
	if !r.Streamed {
		rec.Marks = []record.Read{{Kernel: rec.End, User: rec.End}}
		rec.Events = []record.Event{{Label: record.Whole, Text: max(r.Out, 0), Tokens: r.Out}}
		rec.Text = blanks(max(r.Out, 0))
		return rec
	}
	last := rec.Sent
	for i, at := range r.Events {
		last = min(max(at, last), rec.End)
		e := record.Event{Mark: i, Tokens: -1, Text: 1, Label: record.Content}
		if r.Each {
			e.Tokens = 1
		}
		if i < r.Visible {
			e.Label = record.Reasoning
		}
		rec.Marks = append(rec.Marks, record.Read{Kernel: last, User: last})
		rec.Events = append(rec.Events, e)
	}
	rec.Text = blanks(len(rec.Events))
	return rec
}

func blanks(n int) []byte { return slices.Repeat([]byte{' '}, min(n, 1<<20)) }

func tokens(n int, by record.Source) record.Tokens {
	if n < 0 {
		return record.Tokens{Local: -1}
	}
	t := record.Tokens{N: n, Source: by, Local: -1}
	if by == record.FromTokenizer {
		t.Local = n
	}
	return t
}

// Other is the class of a failure of which nothing is known but its text.
const Other record.Class = "other"

// Failure makes one of what a file says of it. Python programs keep a whole traceback, whose
// last line says what happened; servers may quote a key that they refuse.
func Failure(status int, kind, message string, at time.Duration) *record.Failure {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	if strings.HasPrefix(message, "Traceback") {
		lines = lines[len(lines)-1:]
	}
	text := truncate.Text(Scrubbed(strings.TrimSpace(strings.Join(lines, " "))), mostMessage)
	f := &record.Failure{Class: Other, Message: text, At: at, Status: status}
	if status == 0 {
		f.Status = statusIn(text)
	}
	all := kind + " " + text
	switch {
	case f.Status >= 300:
		f.Class = record.HTTPStatus
	case contains(all, "cancel"):
		f.Class = record.Cancelled
	case contains(all, "timeout", "timed out"):
		f.Class = record.TimedOut
	case contains(all, "ClientConnectorDNSError", "Name or service not known"):
		f.Class = record.ResolveFailed
	case contains(all, "SSL", "certificate"):
		f.Class = record.TLSFailed
	case contains(all, "ClientConnectorError", "ConnectError", "Cannot connect", "Connection refused"):
		f.Class = record.ConnectFailed
	case contains(all, "ServerDisconnected", "RemoteProtocolError"):
		f.Class = record.Dropped
	case contains(all, "ClientPayloadError", "IncompleteRead"):
		f.Class = record.Truncated
	case contains(all, "reset by peer", "ReadError", "ClientOSError"):
		f.Class = record.Reset
	}
	if f.Message == "" {
		f.Message = kind
	}
	return f
}

const mostMessage = 300

func contains(text string, any ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(any, func(s string) bool { return strings.Contains(text, strings.ToLower(s)) })
}

var inStatus = pattern.New(`^(?:HTTP )?([345]\d\d)\b|status(?: code)?:? ([345]\d\d)\b|Client error '([45]\d\d)|Server error '([45]\d\d)`)

// statusIn is the HTTP status that a message begins with or names; 0: none.
func statusIn(text string) int {
	for _, s := range inStatus().FindStringSubmatch(text) {
		if n, err := strconv.Atoi(s); err == nil {
			return n
		}
	}
	head, _, _ := strings.Cut(text, ":")
	for code := http.StatusBadRequest; code < 600; code++ {
		if s := http.StatusText(code); s != "" && s == head {
			return code
		}
	}
	return 0
}

var secret = pattern.New(`(?i)(bearer\s+|api[_-]?key["']?\s*[=: ]\s*["']?|authorization["']?\s*[=:]\s*["']?|token=)[^\s"',;]+|\b(sk|hf|nvapi|gsk|xai)[-_][A-Za-z0-9_\-]{6,}`)

// Scrubbed is a text without what may be a credential.
func Scrubbed(text string) string { return secret().ReplaceAllString(text, "(secret)") }

// Plan is what a load comes to, for an output directory.
func Plan(dir, model, url string, streaming bool, stages []plan.Stage) *plan.Plan {
	p := plan.Default()
	p.DrawSeed, p.Output = false, plan.Output{Dir: dir}
	p.Target.Model, p.Target.Streaming = truncate.Text(Scrubbed(model), mostName), streaming
	if url != "" {
		p.Target.URLs = []string{plan.SafeURL(url)}
	}
	p.Tokenizer.Name = unknown // what has been counted is not counted again
	p.Stages = stages
	return &p
}

const (
	mostName = 200
	unknown  = "unknown"
)

// Endpoint sets what was asked for by a path or a name that has one of ours in it.
func Endpoint(p *plan.Plan, name string) {
	switch {
	case contains(name, "embedding"):
		p.Target.Endpoint, p.Target.Streaming = plan.EndpointEmbeddings, false
	case contains(name, "chat"):
		p.Target.Endpoint = plan.EndpointChat
	case contains(name, "completions"):
		p.Target.Endpoint = plan.EndpointCompletions
	}
}

// Stage is a load: a rate, at most so many in flight, or that many all the time. Where
// neither is given, all requests go at once.
func Stage(rate float64, inFlight int, requests int64) plan.Stage {
	requests = max(requests, 1)
	switch {
	case rate > 0 && rate <= mostRate:
		return plan.Stage{Rate: rate, MaxInFlight: max(inFlight, 0), Requests: requests}
	case inFlight > 0:
		return plan.Stage{Concurrency: inFlight, Requests: requests}
	}
	return plan.Stage{Concurrency: int(min(requests, mostAtOnce)), Requests: requests}
}

const (
	mostRate   = 1e9
	mostAtOnce = 1 << 20
)

// Rate is requests per second, for a load that is not stated: to four digits, so that it reads as
// one.
func Rate(requests int64, seconds float64) float64 {
	rate := float64(requests) / seconds
	digits := math.Pow(10, 3-math.Floor(math.Log10(rate)))
	return math.Round(rate*digits) / digits
}

// CV is the coefficient of variation of gamma arrivals of a shape.
func CV(shape float64) float64 { return math.Round(1e4/math.Sqrt(shape)) / 1e4 }

// Seconds is a time in seconds as a duration; what is no sensible time is 0.
func Seconds(s float64) time.Duration {
	if s > -mostSeconds && s < mostSeconds {
		return time.Duration(s*float64(time.Second) + 0.5)
	}
	return 0
}

const mostSeconds = 4e9

// Ranks says each value's place among the sorted; equal ones keep their order.
func Ranks[T int64 | float64 | time.Duration](values []T) []int64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return 0
	})
	ranks := make([]int64, len(values))
	for rank, i := range order {
		ranks[i] = int64(rank)
	}
	return ranks
}

// Window says by what a tool divides its rates, where that is not what ours are divided by.
func Window(by string, theirs, ours float64) string {
	if theirs <= 0 || ours <= 0 || theirs/ours > 0.9999 && theirs/ours < 1.0001 {
		return ""
	}
	return fmt.Sprintf("%s divides its rates by %.4g s; ours are over the %.4g s from the first request sent to the last response.", by, theirs, ours)
}

// Noted adds a note on one of several runs, if there is something to say.
func Noted(notes []string, run, runs int, text string) []string {
	switch {
	case text == "":
		return notes
	case runs > 1:
		text = fmt.Sprintf("Run %d: %s", run+1, text)
	}
	return append(notes, text)
}
