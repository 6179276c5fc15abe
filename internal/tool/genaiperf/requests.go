package genaiperf

import (
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/profileexport"
)

// which tells the requests of a run apart: by what they say and, where several sessions
// say the same, by theirs.
type which struct {
	hash    uint64
	session string
}

// requests finds the request that a record is of; nil means it is not known.
type requests func(rec *record.Record) *entry

// known are the requests that were made ahead, and during the run; of a run that is over,
// what the records say of them.
func (t *job) known() requests {
	if t.saved {
		return t.recalled
	}
	lists := [][]entry{t.entries}
	if t.later != nil {
		lists = append(lists, t.later.list)
	}
	all := map[which]*entry{}
	for _, list := range lists {
		for i := range list {
			p := &list[i].prompt
			all[which{p.Hash, p.Session}] = &list[i]
		}
	}
	return func(rec *record.Record) *entry { return all[which{rec.Prompt, rec.Session}] }
}

// recalled is a request as its record has it. Its length is counted again where its body was
// kept and there is something to count with.
func (t *job) recalled(rec *record.Record) *entry {
	e := &entry{prompt: prompt.Prompt{Body: rec.RequestBody, Session: rec.Session}, tokens: rec.In.Local}
	if e.tokens <= 0 {
		e.tokens = rec.In.N
	}
	if text, err := profileexport.PayloadText(rec.RequestBody); err == nil && t.tok != nil {
		e.prompt.Text, e.tokens = text, 0
	}
	return e
}
