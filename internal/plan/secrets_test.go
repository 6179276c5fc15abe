package plan_test

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
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
		if got := plan.SafeURL(raw); got != want {
			t.Errorf("%s is shown as %s, want %s", raw, got, want)
		}
	}
}

// A secret is hidden wherever the writes are cut.
func TestHide(t *testing.T) {
	const text = `{"a":"SEKRET-1","b":"{\"key\":\"q\\\"SEKRET\"}","c":"short"} SEKRET-1SEKRET-1`
	want := strings.ReplaceAll(strings.ReplaceAll(text, "SEKRET-1", plan.Hidden), `q\\\"SEKRET`, plan.Hidden)
	for size := 1; size < len(text); size++ {
		var b strings.Builder
		h := plan.Hide(&b, []string{"SEKRET-1", `q"SEKRET`, "short"})
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
