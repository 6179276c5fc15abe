package plan

import (
	"slices"
	"strings"
	"testing"
)

func TestSafeURL(t *testing.T) {
	for raw, want := range map[string]string{
		"http://h:8000/v1":                     "http://h:8000/v1",
		"http://user:K@h:8000/v1":              "http://h:8000/v1",
		"user:K@h:8000/v1":                     "h:8000/v1",
		"user:K@10.0.0.1:8000":                 "10.0.0.1:8000",
		"user:K/@K@h":                          "h",
		"K@h?x=1":                              "h?x=1",
		"localhost:8000":                       "localhost:8000",
		"10.0.0.1:8000":                        "10.0.0.1:8000",
		"/v1/chat?key=K&api-version=2":         "/v1/chat?api-version=2&key=%28secret%29",
		"/models/llama@main/chat":              "/models/llama@main/chat",
		"?key=K":                               "?key=%28secret%29",
		"http://h/?sig=K":                      "http://h/?sig=%28secret%29",
		"http://h/?api_key=K&token=K&X-Auth=K": "http://h/?X-Auth=%28secret%29&api_key=%28secret%29&token=%28secret%29",
		"http://h/?max_tokens=5":               "http://h/?max_tokens=5",
		"http://h:K/x":                         "(not a URL)",
		"":                                     "",
	} {
		if got := SafeURL(raw); got != want {
			t.Errorf("%s is shown as %s, want %s", raw, got, want)
		}
	}
}

// What Redacted takes out is what Secrets lists.
func TestSecretsOfATarget(t *testing.T) {
	target := Target{
		URLs: []string{"https://user:url-password@h/?token=url-token"}, Path: "/x?key=path-key&v=1",
		Headers: map[string]string{"Authorization": "Bearer header-secret", "X-Team": "blue"},
		Body: map[string]any{
			"api_key": "body-secret", "max_tokens": 5, "password": 123456789, "use_token": true, "bos_token": 1,
			"nested": map[string]any{"secrets": []any{"deep-secret", 1.5}}, "note": "sk-value",
		},
	}
	got := target.Secrets()
	for _, want := range []string{"url-password", "url-token", "path-key", "header-secret", "body-secret", "123456789", "deep-secret", "sk-value"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among %q", want, got)
		}
	}
	for _, no := range []string{"blue", "5", "true", "1", "v"} {
		if slices.Contains(got, no) {
			t.Errorf("%s is among %q", no, got)
		}
	}
	p := Default()
	p.Target = target
	text, err := Encode(&p)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range got {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is in the plan:\n%s", secret, text)
		}
	}
	if !strings.Contains(string(text), "bos_token: 1") || !strings.Contains(string(text), "use_token: true") {
		t.Errorf("what is no secret is not in the plan:\n%s", text)
	}
}

// No fault repeats a secret.
func TestFaultsHoldNoSecret(t *testing.T) {
	for _, text := range []string{
		"target: {urls: 'user:SEKRET@h:1'}", "target: {path: '?key=SEKRET'}", "target: {path: 'x?api_key=SEKRET'}",
		"probes: {scrape: ['user:SEKRET@h']}", "cost: {power: 'user:SEKRET@h'}", "target: {urls: 'http://user:SEKRET@h:99999'}", "target: {urls: 'ftp://user:SEKRET@h'}",
	} {
		_, err := load("p.yaml", []byte(text))
		if err == nil || strings.Contains(err.Error(), "SEKRET") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A secret is hidden wherever the writes are cut.
func TestHide(t *testing.T) {
	const text = `{"a":"SEKRET-1","b":"{\"key\":\"q\\\"SEKRET\"}","c":"short"} SEKRET-1SEKRET-1`
	want := strings.ReplaceAll(strings.ReplaceAll(text, "SEKRET-1", hidden), `q\\\"SEKRET`, hidden)
	for size := 1; size < len(text); size++ {
		var b strings.Builder
		h := Hide(&b, []string{"SEKRET-1", `q"SEKRET`, "short"})
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if got, err := h.Write([]byte(rest[:n])); got != n || err != nil {
				t.Fatal(got, err)
			}
			rest = rest[n:]
		}
		if err := h.Close(); err != nil || b.String() != want {
			t.Fatalf("in pieces of %d: %s (%v), want\n%s", size, b.String(), err, want)
		}
	}
}
