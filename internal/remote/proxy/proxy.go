// Package proxy says through which proxy a target is reached.
package proxy

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/inferometer/inferometer/internal/plan"
)

// For is the proxy for requests to u; nil means they go there directly. Unless the plan says
// otherwise it is the one that the environment names, but for targets on this machine or in a
// private network: the way through a proxy is part of every latency.
func For(t plan.Target, u *url.URL, getenv func(string) string) (*url.URL, error) {
	switch t.Proxy {
	case plan.ProxyNone:
		return nil, nil
	case "", plan.ProxyEnvironment:
	default:
		p, err := url.Parse(t.Proxy)
		if err != nil {
			return nil, fmt.Errorf("target.proxy is not a URL") // which may hold a password
		}
		return usable(p, "target.proxy")
	}
	as := url.URL{Scheme: "http", Host: u.Host}
	if u.Scheme == "https" || u.Scheme == "grpcs" {
		as.Scheme = "https"
	}
	p, err := environment(getenv).ProxyFunc()(&as)
	if err != nil {
		return nil, fmt.Errorf("the proxy variables for %s: %w", u.Scheme+"://"+u.Host, err)
	}
	if p == nil || t.Proxy == "" && nearby(u.Hostname()) {
		return nil, nil
	}
	return usable(p, "the proxy variables for "+u.Scheme+"://"+u.Host)
}

// environment is what variables say of proxies, by their usual names.
func environment(getenv func(string) string) *httpproxy.Config {
	if getenv == nil {
		return new(httpproxy.Config)
	}
	either := func(name string) string { return cmp.Or(getenv(name), getenv(strings.ToLower(name))) }
	return &httpproxy.Config{
		HTTPProxy: either("HTTP_PROXY"), HTTPSProxy: either("HTTPS_PROXY"), NoProxy: either("NO_PROXY"),
		CGI: getenv("REQUEST_METHOD") != "", // where HTTP_PROXY is a header of a request
	}
}

// usable refuses proxies of kinds that requests cannot go through.
func usable(p *url.URL, from string) (*url.URL, error) {
	if p.Scheme != "http" {
		return nil, fmt.Errorf("%s: a proxy of scheme %q cannot be used, only http:// proxies can", from, p.Scheme)
	}
	return p, nil
}

// Func is For as net/http asks for it.
func Func(t plan.Target, getenv func(string) string) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) { return For(t, r.URL, getenv) }
}

// ProxiesFor are the proxies that requests to a target go through, without their passwords.
func ProxiesFor(t plan.Target, getenv func(string) string) []string {
	var names []string
	for _, raw := range t.URLs {
		u, err := url.Parse(raw)
		if err != nil {
			continue
		}
		if p, err := For(t, u, getenv); err == nil && p != nil {
			names = append(names, p.Scheme+"://"+p.Host)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// lookupTime bounds the look at where a name leads.
const lookupTime = 2 * time.Second

// nearby reports whether a host is this machine or in a private network. A name is where
// all of its addresses are; one that cannot be resolved here is not.
func nearby(host string) bool {
	if strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost") {
		return true
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return private(a)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	return err == nil && len(found) > 0 && !slices.ContainsFunc(found, func(a netip.Addr) bool { return !private(a) })
}

func private(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified()
}
