package record

// An echo is values of a line, one after the other, that are mostly written as in the line before: what
// kind of response came, and what its tokens are. They are compared, and not read again.
type echo struct {
	text   []byte // from the first value to the last
	apply  []func(to *lineDecoder, from *echo)
	rec    Record // what they came to
	began  int    // where the first value begins in the line that is being read
	missed int    // lines in succession
}

// echoKeys are the names of the values, and what takes each of them over.
type echoKeys map[string]func(to *lineDecoder, from *echo)

// mostMissed is in how many lines in succession values are others until only one line in as many is
// remembered: where they always are, remembering would be in vain.
const mostMissed = 16

// again takes the values over where they are those of the line before.
func (e *echo) again(s *scanner, d *lineDecoder) bool {
	e.began = s.Pos()
	if !s.Same(e.text) {
		return false
	}
	for _, take := range e.apply {
		take(d, e)
	}
	e.missed = 0
	return true
}

// remember keeps the values that were read since again, the first of them under a name, for the next line.
func (e *echo) remember(s *scanner, d *lineDecoder, first string, all echoKeys) {
	n := len(d.rec.Events)
	if e.missed++; e.missed > mostMissed && e.missed%mostMissed != 0 || e.began == 0 || s.Err() != nil ||
		d.columns.labels != n || d.columns.reads != n {
		return
	}
	e.text, e.apply = append(e.text[:0], s.From(e.began)...), e.apply[:0]
	e.began = 0
	var keys scanner
	keys.Reset([]byte(`{"` + first + `":` + string(e.text) + `}`))
	keys.Object()
	for key, ok := keys.Key(); ok; key, ok = keys.Key() {
		take := all[string(key)]
		if take == nil { // a line of another order
			e.text = e.text[:0]
			return
		}
		e.apply = append(e.apply, take)
		keys.Skip()
	}
	events := append(e.rec.Events[:0], d.rec.Events...)
	e.rec = *d.rec
	e.rec.Marks, e.rec.Events, e.rec.Text, e.rec.Body, e.rec.RequestBody = nil, events, nil, nil, nil
}

// replyKeys are what came back, but for its text.
var replyKeys = echoKeys{
	"status":          func(d *lineDecoder, e *echo) { d.rec.Status = e.rec.Status },
	"content_type":    func(d *lineDecoder, e *echo) { d.rec.ContentType = e.rec.ContentType },
	"retry_after":     func(d *lineDecoder, e *echo) { d.rec.RetryAfter = e.rec.RetryAfter },
	"unterminated":    func(d *lineDecoder, e *echo) { d.rec.Unterminated = e.rec.Unterminated },
	"first_last_only": func(d *lineDecoder, e *echo) { d.rec.Sparse = e.rec.Sparse },
	"streamed":        func(d *lineDecoder, e *echo) { d.rec.Streamed = e.rec.Streamed },
	"event_label": func(d *lineDecoder, e *echo) {
		d.columns.labels = len(e.rec.Events)
		for i, to := 0, d.events(0, len(e.rec.Events)); i < len(to); i++ {
			to[i].Label = e.rec.Events[i].Label
		}
	},
	"event_read": func(d *lineDecoder, e *echo) {
		d.columns.reads = len(e.rec.Events)
		for i, to := 0, d.events(0, len(e.rec.Events)); i < len(to); i++ {
			to[i].Mark = e.rec.Events[i].Mark
		}
	},
}

// countKeys are the tokens.
var countKeys = echoKeys{
	"in":               func(d *lineDecoder, e *echo) { d.rec.In = e.rec.In },
	"out":              func(d *lineDecoder, e *echo) { d.rec.Out = e.rec.Out },
	"requested_tokens": func(d *lineDecoder, e *echo) { d.rec.RequestedTokens = e.rec.RequestedTokens },
	"cached":           func(d *lineDecoder, e *echo) { d.rec.Cached = e.rec.Cached },
	"finish":           func(d *lineDecoder, e *echo) { d.rec.Finish = e.rec.Finish },
}
