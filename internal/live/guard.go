package live

import (
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// guard decides who may look.
type guard struct {
	token string // that a request must present; empty: none
	host  string // that was listened on by name or address, besides those of this machine
}

// admits reports whether a request may be answered, with the status and the reason where not.
// On loopback, where there may be no token, a page of another site must not get here under a
// name of its own that it lets point to this machine: the Host header would be that name.
func (g *guard) admits(r *http.Request) (status int, reason string) {
	if g.token == "" {
		if !g.knows(r.Host) {
			return http.StatusMisdirectedRequest, "the Host header names another machine; use localhost or 127.0.0.1"
		}
		return http.StatusOK, ""
	}
	given := r.URL.Query().Get("token")
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		given = bearer
	}
	if subtle.ConstantTimeCompare([]byte(given), []byte(g.token)) != 1 {
		return http.StatusForbidden, "the token is missing or wrong: the program that runs the benchmark has printed the URL with it"
	}
	return http.StatusOK, ""
}

// knows reports whether a Host header is of this machine.
func (g *guard) knows(header string) bool {
	host := header
	if h, _, err := net.SplitHostPort(header); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if host == "localhost" || host == g.host {
		return host != ""
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

func refuse(w http.ResponseWriter, status int, reason string) {
	http.Error(w, fmt.Sprintf("%d: %s", status, reason), status)
}
