package target

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
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
