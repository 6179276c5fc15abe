package proxy

import (
	"net/url"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestFor(t *testing.T) {
	getenv := func(name string) string {
		return map[string]string{"HTTP_PROXY": "http://user:secret@proxy.test:3128", "https_proxy": "http://user:secret@proxy.test:3128", "NO_PROXY": "spared.test"}[name]
	}
	const env, own = "proxy.test:3128", "own.test:8080"
	for _, tt := range []struct {
		choice, target, want string // host of the proxy; empty: none
	}{
		{"", "http://far.invalid:8000", env}, // which no resolver knows
		{"", "https://far.invalid", env},
		{"", "grpc://far.invalid:8001", env},
		{"", "http://203.0.113.7:8000", env},
		{"", "http://[2001:db8::1]:8000", env},
		{"", "http://spared.test", ""},
		{"", "http://localhost:8000", ""},
		{"", "http://a.localhost:8000", ""},
		{"", "http://127.0.0.1:8000", ""},
		{"", "http://10.1.2.3:8000", ""},
		{"", "http://172.31.0.1", ""},
		{"", "http://172.32.0.1", env},
		{"", "grpcs://192.168.0.9:8001", ""},
		{"", "http://169.254.1.1", ""},
		{"", "http://[fd00::7]:8000", ""},
		{"", "http://[::ffff:10.0.0.1]:8000", ""},
		{plan.ProxyEnvironment, "http://10.1.2.3:8000", env},
		{plan.ProxyEnvironment, "http://spared.test", ""},
		{plan.ProxyNone, "http://far.invalid", ""},
		{"http://own.test:8080", "http://10.1.2.3:8000", own},
		{"http://own.test:8080", "http://127.0.0.1:8000", own},
	} {
		u, err := url.Parse(tt.target)
		if err != nil {
			t.Fatal(err)
		}
		p, err := For(plan.Target{Proxy: tt.choice}, u, getenv)
		if err != nil {
			t.Errorf("%q, %s: %v", tt.choice, tt.target, err)
			continue
		}
		got := ""
		if p != nil {
			got = p.Host
		}
		if got != tt.want {
			t.Errorf("%q: %s is reached through %q, want %q", tt.choice, tt.target, got, tt.want)
		}
	}
	names := strings.Join(ProxiesFor(plan.Target{URLs: []string{"http://203.0.113.7", "http://10.0.0.1", "http://203.0.113.8"}}, getenv), ", ")
	if names != "http://proxy.test:3128" {
		t.Errorf("proxies %q", names)
	}
	if _, err := For(plan.Target{Proxy: "socks5://own.test:1080"}, &url.URL{Scheme: "http", Host: "h"}, nil); err == nil || !strings.Contains(err.Error(), `scheme "socks5"`) {
		t.Errorf("error %v", err)
	}
}
