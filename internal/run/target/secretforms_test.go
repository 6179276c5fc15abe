package target

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// A secret is hidden in every form in which a server can give it back.
func TestFormsOfSecrets(t *testing.T) {
	const password = "p@ss/wörd\"<&+=9?>~"
	userinfo := url.UserPassword("joe", password).String()
	target := plan.Target{URLs: []string{"http://" + userinfo + "@127.0.0.1:1"}}
	pair := "joe:" + password
	quoted, err := json.Marshal(password)
	if err != nil {
		t.Fatal(err)
	}
	basic := base64.StdEncoding.EncodeToString([]byte(pair))
	d := Secrets{}.Guard(endpoint.Decoder{Decode: echo}, target)
	for name, said := range map[string]string{
		"raw":                  password,
		"base64 of the pair":   basic,
		"without padding":      base64.RawStdEncoding.EncodeToString([]byte(pair)),
		"base64 for addresses": base64.URLEncoding.EncodeToString([]byte(pair)),
		"base64 alone":         base64.StdEncoding.EncodeToString([]byte(password)),
		"base64 in JSON":       strings.ReplaceAll(strings.ReplaceAll(basic, "/", `\/`), "=", `\u003d`),
		"base64 in an address": url.QueryEscape(basic),
		"in an address":        userinfo,
		"as a query":           url.QueryEscape(password),
		"as a path":            url.PathEscape(password),
		"in lower case":        strings.ReplaceAll(strings.ToLower(url.QueryEscape(password)), "P", "p"),
		"JSON of Go":           strings.Trim(string(quoted), `"`),
		"plain JSON":           strings.ReplaceAll(password, `"`, `\"`),
		"JSON with slashes":    strings.ReplaceAll(strings.ReplaceAll(password, `"`, `\"`), "/", `\/`),
		"JSON in ASCII":        strings.ReplaceAll(strings.ReplaceAll(password, `"`, `\"`), "ö", `\u00f6`),
		"JSON in numbers":      `p\u0040ss\u002Fw\u00F6rd\u0022\u003C\u0026\u002B\u003D9\u003F\u003E\u007E`,
	} {
		rec := &record.Exchange{Record: record.Record{Body: []byte("refused: " + said + " is wrong")}}
		size := len(rec.Body)
		d.Decode(rec)
		secret := strings.TrimRight(said, "=")
		for _, text := range []string{string(rec.Body), string(rec.Text), rec.Failure.Message} {
			if strings.Contains(text, secret) || !strings.Contains(text, " is wrong") {
				t.Errorf("%s: %q became %q", name, said, text)
			}
		}
		if len(rec.Body) != size {
			t.Errorf("%s: the answer changed its length", name)
		}
	}
}

// A response that holds a secret in its escapes has it in its text without them.
func TestSecretInTheText(t *testing.T) {
	d := Secrets{Key: `sk-"quoted"`}.Guard(endpoint.Decoder{Decode: func(x *record.Exchange) { x.Text = []byte(`sk-"quoted"`) }}, plan.Target{})
	rec := &record.Exchange{Record: record.Record{Body: []byte(`{"text":"sk-\"quoted\""}`)}}
	d.Decode(rec)
	if strings.Contains(string(rec.Body)+string(rec.Text), "quoted") {
		t.Errorf("%s: %s", rec.Body, rec.Text)
	}
}

// Every form is looked for in every response: a usual key has few.
func TestFormsOfAUsualKey(t *testing.T) {
	if n := len(Secrets{Key: "sk-abcdefghijklmnopqrstuvwxyz0123456789"}.Texts(plan.Target{})); n > 6 {
		t.Errorf("%d forms", n)
	}
}
