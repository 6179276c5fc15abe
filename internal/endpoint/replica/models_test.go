package replica

import "testing"

func TestModelsURL(t *testing.T) {
	for base, want := range map[string]string{
		"http://h:1":                          "http://h:1/v1/models",
		"http://h:1/":                         "http://h:1/v1/models",
		"http://h:1/v1":                       "http://h:1/v1/models",
		"http://h:1/v1/":                      "http://h:1/v1/models",
		"http://h:1/v1/chat/completions":      "http://h:1/v1/models",
		"http://h:1/v1/completions":           "http://h:1/v1/models",
		"http://h:1/v1/embeddings/":           "http://h:1/v1/models",
		"http://h:1/v1/messages":              "http://h:1/v1/models",
		"https://h/proxy/v1/completions":      "https://h/proxy/v1/models",
		"https://h/proxy/v1?api-version=2026": "https://h/proxy/v1/models",
		"https://h/completions":               "https://h/completions/v1/models",
	} {
		u, err := ModelsURL(base)
		if err != nil || u.String() != want {
			t.Errorf("%s: %v, %v; want %s", base, u, err, want)
		}
	}
	if u, err := ModelsURL("h:1"); err == nil {
		t.Errorf("a URL without a scheme: %v", u)
	}
}
