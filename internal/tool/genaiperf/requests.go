package genaiperf

import "inferometer/internal/record"

// which tells the requests of a run apart: by what they say and, where several sessions
// say the same, by theirs.
type which struct {
	hash    uint64
	session string
}

// requests are those of a run.
type requests map[which]*entry

// of is the request that a record is of; nil: it is not known.
func (r requests) of(rec *record.Record) *entry { return r[which{rec.Prompt, rec.Session}] }

// known are the requests that were made ahead, and during the run.
func (t *job) known() requests {
	lists := [][]entry{t.entries}
	if t.later != nil {
		lists = append(lists, t.later.list)
	}
	all := requests{}
	for _, list := range lists {
		for i := range list {
			p := &list[i].prompt
			all[which{p.Hash, p.Session}] = &list[i]
		}
	}
	return all
}
