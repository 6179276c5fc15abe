package openai

import "github.com/inferometer/inferometer/internal/endpoint/decode"

// countStream says how many tokens a stream has, and how many each of its events.
func (d *Decoder) countStream(st *streamed) {
	d.count.Stream(st.rec, decode.Stream{
		Total:   st.usage.completion,
		Hidden:  st.usage.hidden,
		Tokens:  st.events.Tokens,
		After:   st.events.Tokens - st.said,
		Sums:    st.counted == st.events.Tokens && !st.several,
		OneEach: oneEach(st.usage.completion, st),
		Events:  st.events.Known > 0,
	})
}

// oneEach reports whether the server counts as many tokens as it sent events. Some
// servers send an event for a token without text too, such as half a character or
// the stop token; those are counted with the others.
func oneEach(total int, st *streamed) bool {
	if total == st.events.Tokens || total == st.events.Tokens+st.empty {
		return true
	}
	return st.rec.Finish == "stop" && st.finishes == 1 && total == st.events.Tokens+st.empty+1
}
