package target

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/run/registry"
)

// A server that sends elsewhere is told of where the model's name is given, too.
func TestTargetThatSendsElsewhere(t *testing.T) {
	moved := httptest.NewServer(http.RedirectHandler("https://elsewhere.test/", http.StatusPermanentRedirect))
	defer moved.Close()
	p := &plan.Plan{Target: plan.Target{URLs: []string{moved.URL}, Model: "m", Protocol: plan.ProtocolOpenAI}}
	var log bytes.Buffer
	c := &Checker{Plan: p, Protocol: registry.Default(os.Getenv).Protocols[plan.ProtocolOpenAI], Log: message.Log{To: &log}}
	if err := c.Check(t.Context(), Secrets{TLS: new(tls.Config)}); err != nil {
		t.Fatal(err)
	}
	if want := "308 Permanent Redirect, sending on to https://elsewhere.test: give that address"; !strings.Contains(log.String(), want) {
		t.Errorf("it says %q, want %q", &log, want)
	}
}

// A Triton server is recognized by its root, whatever path of another protocol the URL has.
func TestAnotherProtocolIsLookedForAtTheRoot(t *testing.T) {
	for _, path := range []string{"", "/", "/v1", "/v1/", "/v1/chat/completions"} {
		var asked []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.Path)
			if r.URL.Path != "/v2" {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write([]byte(`{"name": "triton"}`))
		}))
		p := &plan.Plan{Target: plan.Target{URLs: []string{server.URL + path}, Model: "m", Protocol: plan.ProtocolOpenAI}}
		registered := registry.Default(os.Getenv).Protocols
		c := &Checker{Plan: p, Protocol: registered[plan.ProtocolOpenAI], Protocols: registered, Log: message.Log{To: new(bytes.Buffer)}}
		err := c.Check(t.Context(), Secrets{TLS: new(tls.Config)})
		if err == nil || !strings.Contains(err.Error(), "is a Triton server") {
			t.Errorf("%q: error %v, want one that names Triton", path, err)
		}
		if !slices.Equal(asked, []string{"/v1/models", "/v2"}) {
			t.Errorf("%q: asked for %v", path, asked)
		}
		server.Close()
	}
}
