package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestNew(t *testing.T) {
	for _, tt := range []struct{ schema, want string }{
		{`{}`, `{"text":"…"}`},
		{`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":18},"tags":{"type":"array","items":{"type":"string"},"minItems":2},"ok":{"type":"boolean"}}}`,
			`{"age":18,"name":"…","ok":true,"tags":["x","x"]}`},
		{`{"type":"object","properties":{"kind":{"enum":["a b","c"]},"n":{"type":"number","maximum":-3},"z":{"const":null}},"required":["kind","more"]}`,
			`{"kind":"a\u0020b","more":null,"n":-3,"z":null}`},
		{`{"type":"array","minItems":1,"items":{"$ref":"#/$defs/d"},"$defs":{"d":{"type":"string","format":"date"}}}`, `["2026-01-01"]`},
		{`{"anyOf":[{"type":["string","null"]}]}`, `"…"`},
		{`{"type":"string","maxLength":3,"minLength":2}`, `"xx"`},
		{`{"$ref":"#"}`, `null`},
		{`true`, `null`},
	} {
		d, err := New([]byte(tt.schema))
		got := d.Before + d.After
		if d.Open {
			got = d.Before + "…" + d.After
		}
		if err != nil || got != tt.want || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s, %v; want %s", tt.schema, got, err, tt.want)
		}
	}
	if _, err := New([]byte(`{`)); err == nil {
		t.Error("no JSON became a document")
	}
}

// Whatever the schema, what is made is JSON without white space.
func FuzzNew(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"#/properties/a"}},"required":["a","c"]}`))
	f.Add([]byte(`{"type":"array","minItems":2,"items":{"enum":["x y"]}}`))
	mutate.Fuzz(f, func(t *testing.T, b []byte) {
		d, err := New(b)
		if err != nil {
			return
		}
		text := d.Before + "a b" + d.After
		if !d.Open {
			text = d.Before + d.After
		}
		if !json.Valid([]byte(text)) || strings.ContainsAny(d.Before+d.After, " \t\n") {
			t.Errorf("%s: %s", b, text)
		}
	})
}
