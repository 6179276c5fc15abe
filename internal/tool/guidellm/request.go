package guidellm

import (
	"time"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/importer"
)

// stats is a request as the file has it, since 0.5, or in 0.3 and 0.4 by other names.
type stats struct {
	Info         info     `json:"info"`
	Old          info     `json:"scheduler_info"` // up to 0.4
	RequestStart moment   `json:"request_start_time"`
	RequestEnd   moment   `json:"request_end_time"`
	OldStart     moment   `json:"start_time"` // up to 0.3
	OldEnd       moment   `json:"end_time"`
	OldFirst     moment   `json:"first_token_time"`
	OldLast      moment   `json:"last_token_time"`
	Prompt       *float64 `json:"prompt_tokens"`
	Output       *float64 `json:"output_tokens"`
	Cached       *float64 `json:"cached_tokens"`
	Latency      *float64 `json:"request_latency"`
	TTFT         *float64 `json:"time_to_first_token_ms"`
	ITL          *float64 `json:"inter_token_latency_ms"`
	Error        string   `json:"error"`
}

// moment is seconds since 1970; nil means it was not reached.
type moment = *float64

type info struct {
	Timings struct {
		Targeted     moment   `json:"targeted_start"`
		Start        moment   `json:"request_start"`
		First        moment   `json:"first_token_iteration"`
		FirstVisible moment   `json:"first_output_token_iteration"`
		Last         moment   `json:"last_token_iteration"`
		End          moment   `json:"request_end"`
		Resolved     moment   `json:"resolve_end"`
		Chunks       *float64 `json:"token_iterations"`
	} `json:"timings"`
	Targeted     moment `json:"targeted_start_time"` // up to 0.3
	Error        string `json:"error"`
	Conversation string `json:"conversation_id"`
	Turn         int    `json:"turn_index"`
}

type request struct {
	due, start, first, visible, last, end float64 // 0: not reached
	in, out, cached, chunks               int
	session                               string
	turn                                  int
	state, message                        string
}

// one is the first of the times that there is.
func one(list ...moment) float64 {
	for _, m := range list {
		if m != nil && *m > 0 && *m < mostMoment {
			return *m
		}
	}
	return 0
}

const mostMoment = 4e9

func count(v *float64) int {
	if v == nil {
		return -1
	}
	return int(min(max(*v, 0), 1e9))
}

// request takes what matters; false: it never went.
func (s *stats) request(state string) (request, bool) {
	t := &s.Info.Timings
	r := request{
		due: one(t.Targeted, s.Old.Timings.Targeted, s.Old.Targeted), start: one(t.Start, s.RequestStart, s.OldStart),
		first: one(t.First, s.OldFirst), visible: one(t.FirstVisible),
		last: one(t.Last, s.OldLast), end: one(t.End, s.RequestEnd, s.OldEnd, t.Resolved), in: count(s.Prompt), out: count(s.Output),
		cached: count(s.Cached), chunks: count(t.Chunks),
		session: truncate.Text(s.Info.Conversation, 100), turn: max(s.Info.Turn, 0), state: state, message: s.Info.Error,
	}
	if r.message == "" {
		r.message = s.Error
	}
	if r.start == 0 {
		return r, false
	}
	if r.first == 0 && s.TTFT != nil && *s.TTFT > 0 { // 0.4 gives it as a figure alone
		r.first = r.start + *s.TTFT/1e3
	}
	if r.last == 0 && r.first > 0 && s.ITL != nil && r.out > 1 {
		r.last = r.first + *s.ITL/1e3*float64(r.out-1)
	}
	if r.end == 0 && s.Latency != nil {
		r.end = r.start + *s.Latency
	}
	r.end = max(r.end, r.start)
	return r, true
}

// foreign is the request with offsets from base. Due says that it had a time to go.
func (r *request) foreign(base float64, due bool) *importer.Request {
	at := func(t float64) time.Duration { return importer.Seconds(t - base) }
	out := &importer.Request{
		Session: r.session, Turn: r.turn, Due: at(r.start), Sent: at(r.start), End: at(r.end), In: r.in, Out: r.out, Cached: r.cached,
		Counted: record.FromServer,
	}
	if due && r.due > 0 && r.due < r.start {
		out.Due = at(r.due)
	}
	switch r.state {
	case "errored":
		out.Failure = importer.Failure(0, "failed", r.message, out.End)
		return out
	case "incomplete":
		out.Failure = importer.Failure(0, "cut off", r.message, out.End)
		out.Failure.Class = record.CutOff
		return out
	}
	if r.first == 0 {
		return out
	}
	out.Streamed, out.Events = true, []time.Duration{at(r.first)}
	if r.visible > r.first { // it thought before it spoke
		out.Events, out.Visible = append(out.Events, at(r.visible)), 1
	}
	if r.last > max(r.first, r.visible) {
		out.Events = append(out.Events, at(r.last))
	}
	out.Sparse = r.chunks != len(out.Events)
	out.Each = len(out.Events) == r.out
	return out
}
