package dialect

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Values are what one request comes to. Times that it does not have are None.
type Values struct {
	Start, End time.Duration
	Delay      time.Duration // behind its due time
	First      time.Duration // when a stream's first token came
	TTFT       time.Duration // of a stream with a token
	Span       time.Duration // from the first token to the last
	In         int           // tokens of the prompt
	Out        int           // tokens of the response that times are divided by
	Client     int           // the same in the count of this program
	Server     int           // the same in the server's count, else in this program's
	ServerIn   bool          // the server counted the prompt
	ServerOut  bool          // the server counted the response
	Mismatch   bool          // the two counts of the response differ
	TokenTimes []time.Duration
	Tail       *record.Tail  // tokens behind those, of which the times are not kept, or nil
	Retries    int           // attempts after the first
	Recovered  bool          // the last of them was answered
	Wasted     time.Duration // on attempts that were not
}

// None is a time that a request does not have.
const None = record.Never

// Latency is how long the request took.
func (v *Values) Latency() time.Duration { return v.End - v.Start }

// NTPOT is the time of the whole request per token of its response, in seconds; false:
// there are none. The original takes 0 then.
func (v *Values) NTPOT(faithful bool) (float64, bool) {
	if v.Out < 1 {
		return 0, faithful
	}
	return v.Latency().Seconds() / float64(v.Out), true
}

// TPOT is the time per token after the first, in seconds; false: there is none.
func (v *Values) TPOT() (float64, bool) {
	if v.TTFT == None || v.Out < 2 || v.tokens() < 2 {
		return 0, false
	}
	return v.Span.Seconds() / float64(v.Out-1), true
}

// ITL is the mean time between two tokens, in seconds; false: there are no two.
func (v *Values) ITL() (float64, bool) {
	if v.tokens() < 2 {
		return 0, false
	}
	return v.Span.Seconds() / float64(v.tokens()-1), true
}

// tokens is how many tokens have a time, kept or not.
func (v *Values) tokens() int64 {
	n := int64(len(v.TokenTimes))
	if v.Tail != nil {
		n += v.Tail.Events
	}
	return n
}

// Measure works out what a decoded record comes to.
func (o *Options) Measure(rec *record.Record, v *Values) {
	*v = Values{Start: rec.Sent, End: rec.End, First: None, TTFT: None, TokenTimes: v.TokenTimes[:0]}
	if v.Start == record.Never {
		v.Start = rec.Ready // it never came to sending
	} else if o.Faithful && rec.Retries == 0 {
		v.Start -= rec.Conn.Resolve + rec.Conn.Connect + rec.Conn.TLS
	}
	v.End = max(v.End, v.Start)
	if v.Retries = rec.Retries; v.Retries > 0 {
		v.Recovered = rec.Failure == nil
		if v.Wasted = v.Latency(); v.Recovered {
			v.Wasted = rec.LastTry - v.Start
		}
	}
	v.Delay = v.Start - rec.Scheduled()
	v.In, v.ServerIn = rec.In.N, rec.In.Source == record.FromServer
	if o.Faithful && rec.Failure != nil {
		v.In, v.ServerIn = 0, false // of a failure the original counts nothing
	}
	v.Server, v.ServerOut = rec.Out.N, rec.Out.Source == record.FromServer
	if v.Client = rec.Out.Local; v.Client < 0 {
		v.Client = v.Server
	}
	v.Mismatch = !o.Faithful && rec.Out.Local >= 0 && v.ServerOut && rec.Out.Local != rec.Out.N
	if v.Out = v.Client; o.ServerTokens {
		v.Out = v.Server
	}
	if rec.Failure == nil && rec.Streamed && !(o.Faithful && o.Anthropic) {
		o.tokenTimes(rec, v)
	}
}

func (o *Options) tokenTimes(rec *record.Record, v *Values) {
	single := o.Faithful && o.Tokenizer && rec.Out.Local > 0 && o.tokenEvents(rec) == 1
	for i := range rec.Events {
		e := &rec.Events[i]
		if !o.tokens(e) {
			continue
		}
		n := max(e.Tokens, 1) // an event counts as a token where tokens are unknown
		switch {
		case single:
			n = rec.Out.Local // all the text is in it, and the original asks its tokenizer alone
		case o.Faithful && !o.Tokenizer:
			n = 1
		}
		at := rec.Marks[e.Mark].Time()
		for range n {
			v.TokenTimes = append(v.TokenTimes, at)
		}
	}
	n := len(v.TokenTimes)
	if o.Faithful { // the original adds up the tokens of events, and looks at streams alone
		v.Mismatch = o.Tokenizer && v.ServerOut && n > 0 && n != rec.Out.N
	}
	if n > 0 {
		v.First = v.TokenTimes[0]
	}
	if n == 0 || o.Faithful && n == 1 { // it takes no time of a response with one token, but for a session's
		v.TokenTimes = v.TokenTimes[:0]
		return
	}
	v.TTFT = v.TokenTimes[0] - v.Start
	v.Span = v.TokenTimes[n-1] - v.TokenTimes[0]
	if t := rec.Tail; t != nil && t.Events > 0 {
		v.Tail, v.Span = t, t.Last-v.TokenTimes[0]
	}
}

func (o *Options) tokenEvents(rec *record.Record) (n int) {
	for i := range rec.Events {
		if o.tokens(&rec.Events[i]) {
			n++
		}
	}
	return n
}

func (o *Options) tokens(e *record.Event) bool {
	return o.token(e.Label) && (e.Text > 0 || e.Tokens > 0)
}

// token reports whether events of a label are tokens. The original knows visible text
// only.
func (o *Options) token(l record.EventKind) bool {
	if o.Faithful {
		return l == record.Content || l == record.Whole
	}
	return l.IsToken()
}
