package export

import (
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

type eventView struct {
	*record.Event
	index int
	mark  record.Read
	gap   time.Duration // since the token event before; Never: it has no such sample
}

// eachEvent looks at one event of the request after the other.
func (v *view) eachEvent(put func() error) error {
	next := 0
	show := func(i int, gap time.Duration) error {
		e := &v.Record.Events[i]
		v.event = eventView{Event: e, index: i, gap: gap, mark: record.Read{Kernel: record.Never, User: record.Never}}
		if uint(e.Mark) < uint(len(v.Marks)) {
			v.event.mark = v.Marks[e.Mark]
		}
		return put()
	}
	upTo := func(end int) error {
		for ; next < end; next++ {
			if err := show(next, record.Never); err != nil {
				return err
			}
		}
		return nil
	}
	for i, gap := range v.TokenEvents() {
		if err := upTo(i); err != nil {
			return err
		}
		if err := show(i, gap); err != nil {
			return err
		}
		next = i + 1
	}
	return upTo(len(v.Record.Events))
}

func eventColumns() []Column {
	return append(common(), []Column{
		{Name: "event", Kind: Whole, Help: "place of the event in the response, from 0", of: func(v *view) Cell { return integer(int64(v.event.index)) }},
		{Name: "label", Kind: Text, repeats: true, Help: "what it carried: `content`, `reasoning`, `tool_call`, `refusal`, or without tokens `role`, `empty`, `usage`, `finish`, `done`, `comment`, `error`, `unknown`, `echo`; `whole`: a response in one piece",
			of: func(v *view) Cell { return words(v.event.Label.String()) }},
		{Name: "at_s", Kind: Number, Help: "its stamp, in seconds from the start of the run", of: func(v *view) Cell { return seconds(v.event.mark.Time()) }},
		{Name: "since_sent_ms", Kind: Number, Help: "the same, since the request was sent", of: func(v *view) Cell {
			t := v.event.mark.Time()
			return where(t != record.Never && v.Sent != record.Never, millis(t-v.Sent))
		}},
		{Name: "tokens", Kind: Whole, Help: "output tokens in it", of: func(v *view) Cell { return where(v.event.Tokens >= 0, integer(int64(v.event.Tokens))) }},
		{Name: "text_bytes", Kind: Whole, Help: "bytes of text in it", of: func(v *view) Cell { return integer(int64(v.event.Text)) }},
		{Name: "inter_event_latency_ms", Kind: Number, Help: "time since the token event before it: a sample of `inter_event_latency`", of: func(v *view) Cell {
			return where(v.event.gap != record.Never, millis(v.event.gap))
		}},
		{Name: "inter_token_latency_ms", Kind: Number, Help: "the same for each of its tokens: as many samples of `inter_token_latency` as it has tokens", of: func(v *view) Cell {
			if v.event.gap == record.Never || !v.TokensKnown() {
				return Cell{}
			}
			return fraction(float64(v.event.gap) / float64(time.Millisecond) / float64(v.event.Tokens))
		}},
		{Name: "read", Kind: Whole, Help: "network read that completed it, from 0", of: func(v *view) Cell { return integer(int64(v.event.Mark)) }},
		{Name: "read_delay_ms", Kind: Number, Help: "how late that was read, after the kernel had received it", of: func(v *view) Cell {
			m := v.event.mark
			return where(m.Kernel != record.Never && m.User != record.Never, millis(m.User-m.Kernel))
		}},
		{Name: "merged", Kind: Flag, Help: "a later event came out of the same read", of: func(v *view) Cell { return yesNo(v.event.Merged) }},
	}...)
}
