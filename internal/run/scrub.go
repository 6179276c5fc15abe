package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"inferometer/internal/endpoint"
	"inferometer/internal/plan"
	"inferometer/internal/record"
)

// scrubber takes secrets out of answers, since some servers quote the key that they
// refuse, and out of requests that are kept. It stands around a decoder, ahead of everything
// that is kept or shown.
type scrubber struct {
	plain   endpoint.Decoder
	secrets []string
}

// Unwrap gives the decoder that it stands around, for what else that can do: it works on
// records from which the secrets have been taken.
func (s scrubber) Unwrap() endpoint.Decoder { return s.plain }

// hidden stands where a secret was.
const hidden = "(secret)"

// Decode decodes the answer and hides the secrets that its server repeated.
func (s scrubber) Decode(x *record.Exchange) {
	s.plain.Decode(x)
	rec := &x.Record
	for _, secret := range s.secrets {
		if rec.Failure != nil {
			rec.Failure.Message = strings.ReplaceAll(rec.Failure.Message, secret, hidden)
		}
		if rec.Folded > 0 || bytes.Contains(rec.Body, []byte(secret)) {
			s.blank(rec, secret)
		}
		if bytes.Contains(rec.Question, []byte(secret)) {
			rec.Question = bytes.Clone(rec.Question) // the request itself may go again
			cover(rec.Question, secret)
		}
	}
}

// blank overwrites a secret in place, so that no offset into the answer moves.
func (s scrubber) blank(rec *record.Record, secret string) {
	cover(rec.Body, secret)
	cover(rec.Text, secret)
}

// cover puts stars over a secret.
func cover(text []byte, secret string) {
	stars := []byte(strings.Repeat("*", len(secret)))
	for {
		i := bytes.Index(text, []byte(secret))
		if i < 0 {
			return
		}
		copy(text[i:], stars)
		text = text[i+len(stars):] // a secret of nothing but stars is found once too
	}
}

// guard puts a scrubber around a decoder where there is anything to hide.
func (s secrets) guard(d endpoint.Decoder, t plan.Target) endpoint.Decoder {
	hide := s.hide(t)
	if len(hide) == 0 {
		return d
	}
	return scrubber{plain: d, secrets: hide}
}

// scrub is a text without the secrets that a server may have repeated in it.
func (s secrets) scrub(text string, t plan.Target) string {
	for _, secret := range s.hide(t) {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	return text
}

// hide are the secrets that a server may repeat or that requests hold. The longest come first:
// one may be a part of another.
func (s secrets) hide(t plan.Target) []string {
	hide := t.Secrets()
	if s.key != "" {
		hide = append(hide, s.key)
	}
	for _, secret := range hide { // as requests and addresses have it
		if quoted, err := json.Marshal(secret); err == nil {
			hide = append(hide, strings.Trim(string(quoted), `"`))
		}
		hide = append(hide, url.QueryEscape(secret))
	}
	slices.SortFunc(hide, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.DeleteFunc(slices.Compact(hide), func(s string) bool { return len(s) < shortestSecret })
}

// shortestSecret: a shorter one would be found in innocent text.
const shortestSecret = 6
