package planfile

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

// What Redacted takes out is what Secrets lists.
func TestSecretsOfATarget(t *testing.T) {
	target := plan.Target{
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
	p := plan.Default()
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
