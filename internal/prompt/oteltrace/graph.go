package oteltrace

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/prompt"
)

// links are what calls take from one another.
type links struct {
	after  [][]int        // the calls that each waits for
	causal []map[int]bool // of those, the ones whose responses it has in its input
	exact  map[[2]int]int // by response and call: the message that it is
}

// link finds the calls that each call waits for: those whose responses its input quotes, the last
// ones alone, and the last that had ended when it began. Calls are in the order they began.
func link(calls []call) *links {
	l := &links{after: make([][]int, len(calls)), causal: make([]map[int]bool, len(calls)), exact: map[[2]int]int{}}
	for i := range calls {
		l.causal[i] = map[int]bool{}
		implied := map[int]bool{} // by one that was found
		for j := i - 1; j >= 0; j-- {
			if !implied[j] && l.quotes(calls, j, i) {
				l.causal[i][j] = true
				l.after[i] = append(l.after[i], j)
				l.ancestors(j, implied)
			}
		}
		for j := i - 1; j >= 0; j-- {
			if calls[j].end <= calls[i].begin {
				if !l.causal[i][j] {
					l.after[i] = append(l.after[i], j)
				}
				break
			}
		}
		slices.Sort(l.after[i])
	}
	return l
}

// ancestors adds the calls that a call quotes, and those that they quote.
func (l *links) ancestors(i int, all map[int]bool) {
	for j := range l.causal[i] {
		if !all[j] {
			all[j] = true
			l.ancestors(j, all)
		}
	}
}

// quotes reports whether the input of call i has the response to call j in it: as a whole,
// by the ids of its tool calls, or in pieces.
func (l *links) quotes(calls []call, j, i int) bool {
	out, in := calls[j].out, calls[i].messages
	if out == nil || out.text == "" {
		return false
	}
	for k := range in {
		if in[k].quotes(out.text) {
			if in[k].text == out.text {
				l.exact[[2]int{j, i}] = k
			}
			return true
		}
	}
	if len(out.ids) > 0 {
		known := map[string]bool{}
		for k := range in {
			for _, id := range in[k].ids {
				known[id] = true
			}
		}
		if !slices.ContainsFunc(out.ids, func(id string) bool { return !known[id] }) {
			return true
		}
	}
	return inPieces(out.parts, in)
}

// inPieces reports whether messages have a response's parts in turn, each tool call with its result
// behind it: all, the text with each call, or the calls alone.
func inPieces(parts []outputPart, in []message) bool {
	if len(parts) < 2 {
		return false
	}
	if follow(parts, in) {
		return true
	}
	if parts[0].call {
		return false
	}
	var calls, joined []outputPart
	pure := true
	for _, p := range parts[1:] {
		pure = pure && p.call
		if p.call {
			calls = append(calls, p)
			joined = append(joined, outputPart{true, parts[0].text + "\n" + p.text})
		}
	}
	return pure && follow(joined, in) || follow(calls, in)
}

// follow looks for parts that stand one after the other.
func follow(parts []outputPart, in []message) bool {
	if len(parts) == 0 {
		return false
	}
	for at := range in {
		k, ok := at, true
		for _, p := range parts {
			if k >= len(in) || !in[k].quotes(p.text) {
				ok = false
				break
			}
			k++
			if p.call {
				k++
			}
		}
		if ok {
			return true
		}
	}
	return false
}

// wait is the time between the last response that a call waits for and the call.
func (l *links) wait(calls []call, i int) time.Duration {
	if len(l.after[i]) == 0 {
		return 0
	}
	last := calls[l.after[i][0]].end
	for _, j := range l.after[i] {
		last = max(last, calls[j].end)
	}
	return max(time.Duration(calls[i].begin-last)*time.Millisecond, 0)
}

// before are all calls that end before a call begins when the session is played.
func (l *links) before(i int) []int {
	seen := map[int]bool{}
	var visit func(i int)
	visit = func(i int) {
		for _, j := range l.after[i] {
			if !seen[j] {
				seen[j] = true
				visit(j)
			}
		}
	}
	visit(i)
	out := make([]int, 0, len(seen))
	for j := range seen {
		out = append(out, j)
	}
	slices.Sort(out)
	return out
}

// segments says where the messages of call i come from: the longest beginning that it has
// in common with a call before, then responses and what is its own.
func (l *links) segments(calls []call, i int) []prompt.Segment {
	in, before := calls[i].messages, l.before(i)
	var out []prompt.Segment
	at := 0
	var from int
	for _, j := range before {
		n := 0
		for n < len(in) && n < len(calls[j].messages) && in[n].same(&calls[j].messages[n]) {
			n++
		}
		if n > at {
			at, from = n, j
		}
	}
	if at > 0 {
		out = append(out, prompt.Segment{Kind: prompt.Shared, Messages: at, From: from})
	}
	for at < len(in) {
		k, from := l.nextAnswer(calls, i, at, before)
		if k > at {
			out = append(out, prompt.Segment{Kind: prompt.Own, Messages: k - at})
		}
		if k < len(in) {
			out = append(out, prompt.Segment{Kind: prompt.Output, Messages: 1, From: from})
		}
		at = k + 1
	}
	return out
}

// nextAnswer is the first message of call i, from one on, that is the response to a call
// before, and that call; the number of messages: there is none.
func (l *links) nextAnswer(calls []call, i, at int, before []int) (k, from int) {
	in := calls[i].messages
	k = len(in)
	for _, j := range before {
		if calls[j].out == nil {
			continue
		}
		if n, ok := l.exact[[2]int{j, i}]; ok {
			if n >= at && n < k {
				k, from = n, j
			}
			continue
		}
		for n := at; n < k; n++ {
			if in[n].is(calls[j].out) {
				k, from = n, j
				break
			}
		}
	}
	return k, from
}

func (m *message) is(out *output) bool {
	if m.role == "assistant" && m.text == out.text && out.text != "" {
		return true
	}
	return len(out.ids) > 0 && !slices.ContainsFunc(out.ids, func(id string) bool { return !slices.Contains(m.ids, id) })
}

// audience notes for whom answers are: for the user are those that call no tool, that no
// program reads, and that were not given within a tool.
func (l *links) audience(t *trace, calls []call, g *prompt.Graph) {
	inner, known := withinTools(t)
	followed := map[int]bool{} // by a call that quotes it
	for i := range calls {
		for j := range l.causal[i] {
			followed[j] = true
		}
	}
	for i := range calls {
		c := &calls[i]
		_, schema := c.span.Attributes["gen_ai.request.output_schema"]
		program := schema || strings.EqualFold(c.span.text("gen_ai.output.type"), "json")
		within := inner[c.span.ID] || !known && c.uses() && followed[i]
		g.Calls[i].Program = program
		g.Calls[i].User = !c.uses() && !c.span.endedInTools() && !program && !within
	}
}

// endedInTools reports whether the response ended with calls of tools.
func (s *span) endedInTools() bool {
	raw := s.Attributes["gen_ai.response.finish_reasons"]
	var reasons []string
	if given(raw) && json.Unmarshal(raw, &reasons) != nil {
		reasons = []string{s.text("gen_ai.response.finish_reasons")}
	}
	return slices.ContainsFunc(reasons, func(r string) bool {
		return strings.EqualFold(r, "tool_use") || strings.EqualFold(r, "tool_calls")
	})
}

// withinTools are the spans within the work of a tool, and whether the trace has such work.
func withinTools(t *trace) (inner map[string]bool, known bool) {
	parents, tools := map[string]string{}, map[string]bool{}
	for i := range t.Spans {
		s := &t.Spans[i]
		parents[s.ID] = s.Parent
		tools[s.ID] = strings.Contains(s.Name, "tool.execution") || strings.Contains(s.Name, "tool_execution")
		known = known || tools[s.ID]
	}
	inner = map[string]bool{}
	for id := range parents {
		seen := map[string]bool{}
		for up := parents[id]; up != "" && !seen[up]; up = parents[up] {
			seen[up] = true
			if tools[up] {
				inner[id] = true
				break
			}
		}
	}
	return inner, known
}
