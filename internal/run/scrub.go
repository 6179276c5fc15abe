package run

import (
	"bytes"
	"slices"
	"strings"

	"inferometer/internal/endpoint"
	"inferometer/internal/plan"
	"inferometer/internal/record"
)

// scrubber takes secrets out of answers: some servers quote the key that they
// refuse. It stands around a decoder, ahead of everything that is kept or shown.
type scrubber struct {
	endpoint.Decoder
	secrets []string
}

// hidden stands where a secret was.
const hidden = "(secret)"

// Decode decodes rec and hides the secrets that its server repeated.
func (s scrubber) Decode(rec *record.Record) {
	s.Decoder.Decode(rec)
	for _, secret := range s.secrets {
		if rec.Failure != nil {
			rec.Failure.Message = strings.ReplaceAll(rec.Failure.Message, secret, hidden)
		}
		if rec.Folded > 0 || bytes.Contains(rec.Body, []byte(secret)) {
			s.blank(rec, secret)
		}
	}
}

// blank overwrites a secret in place, so that no offset into the answer moves.
func (s scrubber) blank(rec *record.Record, secret string) {
	cover := []byte(strings.Repeat("*", len(secret)))
	for _, text := range [][]byte{rec.Body, rec.Raw, rec.Text} {
		for {
			i := bytes.Index(text, []byte(secret))
			if i < 0 {
				break
			}
			copy(text[i:], cover)
			text = text[i+len(cover):] // a secret of nothing but stars is found once too
		}
	}
}

// guard puts a scrubber around a decoder where there is anything to hide.
func (s secrets) guard(d endpoint.Decoder, t plan.Target) endpoint.Decoder {
	hide := s.hide(t)
	if len(hide) == 0 {
		return d
	}
	return scrubber{Decoder: d, secrets: hide}
}

// scrub is a text without the secrets that a server may have repeated in it.
func (s secrets) scrub(text string, t plan.Target) string {
	for _, secret := range s.hide(t) {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	return text
}

// hide are the secrets that a server may repeat.
func (s secrets) hide(t plan.Target) []string {
	var hide []string
	if s.key != "" {
		hide = append(hide, s.key)
	}
	clean := plan.Redacted(&plan.Plan{Target: t}).Target.Headers
	for name, value := range t.Headers {
		if value != clean[name] {
			hide = append(hide, strings.TrimSpace(strings.TrimPrefix(value, "Bearer ")))
		}
	}
	return slices.DeleteFunc(hide, func(s string) bool { return len(s) < shortestSecret })
}

// shortestSecret: a shorter one would be found in innocent text.
const shortestSecret = 6
