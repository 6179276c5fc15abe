package target

import (
	"os"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/registry"
)

// echo is a decoder of servers that repeat what they are told.
func echo(rec *record.Exchange) {
	rec.Text = append(rec.Text, rec.Body...)
	rec.Failure = &record.Failure{Class: record.HTTPStatus, Message: "refused: " + string(rec.Body)}
}

func TestSecretsThatAServerRepeatsAreHidden(t *testing.T) {
	target := plan.Target{Headers: map[string]string{"Authorization": "Bearer header-secret", "X-Trace": "plain-value"}}
	d := Secrets{Key: "sk-key-secret"}.Guard(endpoint.Decoder{Decode: echo}, target)
	rec := &record.Exchange{Record: record.Record{Body: []byte("sk-key-secret and header-secret and plain-value and sk-key-secret")}}
	size := len(rec.Body)
	d.Decode(rec)
	for _, text := range []string{string(rec.Body), string(rec.Text), rec.Failure.Message} {
		if strings.Contains(text, "sk-key-secret") || strings.Contains(text, "header-secret") {
			t.Errorf("a secret is in %q", text)
		}
		if !strings.Contains(text, "plain-value") {
			t.Errorf("%q lost what is no secret", text)
		}
	}
	if len(rec.Body) != size || len(rec.Text) != size {
		t.Error("the answer changed its length")
	}
}

func TestSecretOfStars(t *testing.T) {
	d := Secrets{Key: "********"}.Guard(endpoint.Decoder{Decode: echo}, plan.Target{})
	rec := &record.Exchange{Record: record.Record{Body: []byte("the key ******** is wrong")}}
	d.Decode(rec) // looks at each of them once
	if string(rec.Body) != "the key ******** is wrong" {
		t.Errorf("the answer became %q", rec.Body)
	}
}

// Hiding takes nothing away from what a decoder can do besides.
func TestHidingHidesNothingElse(t *testing.T) {
	for name, p := range registry.Default(os.Getenv).Protocols {
		plain := p.Decoder(plan.Default().Target, nil, false)
		d := Secrets{Key: "sk-key-secret"}.Guard(plain, plan.Target{})
		if (d.Advance == nil) != (plain.Advance == nil) || (d.Longest == nil) != (plain.Longest == nil) ||
			(d.Reply == nil) != (plain.Reply == nil) {
			t.Errorf("%s: %+v is left of %+v", name, d, plain)
		}
	}
}

// What is kept of requests holds no secret, and the request itself stays as it is.
func TestSecretsOfKeptRequests(t *testing.T) {
	target := plan.Target{Path: "/x?key=path-secret", Body: map[string]any{"api_key": `quo"ted-secret`}}
	d := Secrets{}.Guard(endpoint.Decoder{Decode: echo}, target)
	sent := []byte(`{"api_key":"quo\"ted-secret","prompt":"x"}`)
	rec := &record.Exchange{Record: record.Record{RequestBody: sent, Body: []byte("no such page: /x?key=path-secret")}}
	d.Decode(rec)
	for _, text := range []string{string(rec.RequestBody), string(rec.Body), rec.Failure.Message} {
		if strings.Contains(text, "ted-secret") || strings.Contains(text, "path-secret") {
			t.Errorf("a secret is in %q", text)
		}
	}
	if len(rec.RequestBody) != len(sent) || !strings.Contains(string(sent), "ted-secret") {
		t.Errorf("the request became %q, kept as %q", sent, rec.RequestBody)
	}
}
