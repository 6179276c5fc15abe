package openai

import "github.com/inferometer/inferometer/internal/endpoint/decode"

// countStream says how many tokens a stream has, and how many each of its events.
func (d *Decoder) countStream(st *streamed) {
	d.count.Stream(st.rec, decode.Stream{
		Total:   st.usage.completion,
		Hidden:  st.usage.hidden,
		Tokens:  st.Tokens,
		After:   st.Tokens - st.said,
		Sums:    st.counted == st.Tokens && !st.several,
		OneEach: oneEach(st.usage.completion, st),
		Events:  st.Known > 0,
	})
}

// oneEach reports whether the server counts as many tokens as it sent events. Some servers send one
// for a token without text, such as half a character or the stop token; those count too.
func oneEach(total int, st *streamed) bool {
	if total == st.Tokens || total == st.Tokens+st.empty {
		return true
	}
	return st.rec.Finish == "stop" && st.finishes == 1 && total == st.Tokens+st.empty+1
}
