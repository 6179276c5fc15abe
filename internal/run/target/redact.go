package target

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// hidden stands where a secret was.
const hidden = "(secret)"

// scrubRecord takes secrets out of a decoded response, since some servers quote the key that
// they refuse, and out of a request that is kept.
func scrubRecord(rec *record.Record, secrets []string) {
	for _, secret := range secrets {
		if rec.Failure != nil {
			rec.Failure.Message = strings.ReplaceAll(rec.Failure.Message, secret, hidden)
		}
		// In place, so that no offset into the response moves. The text is free of the escapes that
		// the body has, and is looked at by itself.
		cover(rec.Body, secret)
		cover(rec.Text, secret)
		if bytes.Contains(rec.RequestBody, []byte(secret)) {
			rec.RequestBody = bytes.Clone(rec.RequestBody) // the request itself may go again
			cover(rec.RequestBody, secret)
		}
	}
}

// cover puts stars over a secret.
func cover(text []byte, secret string) {
	for {
		i := bytes.Index(text, []byte(secret))
		if i < 0 {
			return
		}
		for k := range len(secret) {
			text[i+k] = '*'
		}
		text = text[i+len(secret):] // a secret of nothing but stars is found once too
	}
}

// Guard makes a decoder hide secrets, if any, ahead of everything that is kept or shown.
func (s Secrets) Guard(d endpoint.Decoder, t plan.Target) endpoint.Decoder {
	decode := d.Decode
	if hide := s.Texts(t); s.Live != nil {
		var known atomic.Pointer[hiding]
		d.Decode = func(x *record.Exchange) {
			decode(x)
			now := known.Load()
			if n := len(s.Live.secrets()); now == nil || now.keys != n {
				now = &hiding{n, s.Texts(t)}
				known.Store(now)
			}
			scrubRecord(&x.Record, now.texts)
		}
	} else if len(hide) > 0 {
		d.Decode = func(x *record.Exchange) {
			decode(x)
			scrubRecord(&x.Record, hide)
		}
	}
	return d
}

// hiding are the secrets to hide while there have been so many keys.
type hiding struct {
	keys  int
	texts []string
}

// Redact is a text without the secrets that a server may have repeated in it.
func (s Secrets) Redact(text string, t plan.Target) string { return Redact(text, s.Texts(t)) }

// Redact is a text without secrets.
func Redact(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	return text
}

// Texts are the secrets that a server may repeat or requests hold. The longest, with others in
// them, come first.
func (s Secrets) Texts(t plan.Target) []string {
	hide := t.Secrets()
	if s.Key != "" {
		hide = append(hide, s.Key)
	}
	if s.Live != nil {
		hide = append(hide, s.Live.secrets()...)
	}
	for _, secret := range slices.Clone(hide) {
		hide = append(hide, forms(secret)...)
	}
	slices.SortFunc(hide, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.DeleteFunc(slices.Compact(hide), func(s string) bool { return len(s) < shortestSecret })
}

// shortestSecret: a shorter one would be found in innocent text.
const shortestSecret = 6
