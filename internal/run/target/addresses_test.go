package target

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

// sources parses what a plan has under source_addresses.
func sources(text string) []netip.Prefix {
	var all []netip.Prefix
	for one := range strings.FieldsSeq(text) {
		if !strings.Contains(one, "/") {
			one += map[bool]string{true: "/128", false: "/32"}[strings.Contains(one, ":")]
		}
		all = append(all, netip.MustParsePrefix(one))
	}
	return all
}

func TestSourceAddressesAreChecked(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("127.0.0.2 is an address of Linux machines")
	}
	v6 := true
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		v6 = false
	} else {
		l.Close()
	}
	for _, tt := range []struct {
		name, urls, from string
		pairs            int
		want             string // part of the error; empty: none
	}{
		{"none", "http://127.0.0.1:8000", "", 0, ""},
		{"one", "http://127.0.0.1:8000", "127.0.0.2", 1, ""},
		{"a range of a million", "http://127.0.0.1:8000", "127.16.0.0/12", 1<<20 - 2, ""},
		{"two targets", "http://127.0.0.1:8000 http://127.0.0.1:8001", "127.0.0.2 127.0.0.3", 4, ""},
		{"the same target twice", "http://127.0.0.1:8000/a http://127.0.0.1:8000/b", "127.0.0.2 127.0.0.3", 2, ""},
		{"both kinds", "http://127.0.0.1:8000 http://[::1]:8000", "127.0.0.2 127.0.0.3 ::1", 3, ""},
		{"IPv6", "grpc://[::1]", "::1", 1, ""},
		{"not here", "http://127.0.0.1:8000", "198.51.100.9", 1, "198.51.100.9 of --source-address is not an address of this machine: add it with ip addr add 198.51.100.9/32 dev lo"},
		{"one of them is not here", "http://127.0.0.1:8000", "127.0.0.2 198.51.100.9", 2, "198.51.100.9 of"},
		{"many are not here", "http://127.0.0.1:8000", "198.51.100.1 198.51.100.2 198.51.100.3 198.51.100.4 198.51.100.5 198.51.100.6", 6, "198.51.100.4/32 dev lo, or leave it out\n2 more of --source-address are not"},
		{"not here, IPv6", "http://[::1]:8000", "2001:db8::9", 1, "ip addr add 2001:db8::9/128 dev lo"},
		{"a range that is not here", "http://127.0.0.1:8000", "198.18.0.0/15", 1<<17 - 2, "198.18.0.1 and others in 198.18.0.0/15 of --source-address are not addresses of this machine: add each as in ip addr add 198.18.0.1/32 dev lo, or the whole range with ip route add local 198.18.0.0/15 dev lo"},
		{"an IPv6 range that is not here", "http://[::1]:8000", "2001:db8::/64", 1 << 30, "ip -6 route add local 2001:db8::/64 dev lo and sysctl net.ipv6.ip_nonlocal_bind=1"},
		{"the other kind", "http://127.0.0.1:8000", "::1", 0, "target 1, http://127.0.0.1:8000, is at 127.0.0.1, but --source-address has only IPv6 addresses: give an IPv4 address"},
		{"the other kind, IPv6", "http://[::1]:8000", "127.0.0.2", 0, "has only IPv4 addresses: give an IPv6 address"},
		{"of no use", "http://127.0.0.1:8000", "127.0.0.2 ::1", 1, "has the IPv6 address ::1, but no target has an IPv6 address"},
		{"no such target", "http://host.invalid:8000", "127.0.0.2", 0, ""}, // told by those who ask it
		{"no URL at all", "http://%zz", "127.0.0.2", 0, ""},
	} {
		if strings.Contains(tt.urls+tt.from, ":1") && strings.Contains(tt.urls+tt.from, "::") && !v6 {
			continue
		}
		target := plan.Target{URLs: strings.Fields(tt.urls), SourceAddresses: sources(tt.from)}
		pairs, err := CheckSources(t.Context(), &target, nil)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if pairs != tt.pairs || (text == "") != (tt.want == "") || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %d pairs, %q, want %d, %q", tt.name, pairs, text, tt.pairs, tt.want)
		}
	}
}

// A look at names that takes too long does not hold up the run.
func TestSourcesOfARunThatWasStopped(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	target := plan.Target{URLs: []string{"http://host.invalid"}, SourceAddresses: sources("127.0.0.2")}
	if pairs, err := CheckSources(ctx, &target, os.Getenv); pairs != 0 || err != nil {
		t.Error(pairs, err)
	}
}

// A worker uses those of the plan's addresses that its machine has. One that has none says so later, a coordinator
// does without.
func TestOwnSources(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("127.0.0.2 is an address of Linux machines")
	}
	for list, want := range map[string][2]string{
		"":                            {"", ""},
		"127.0.3.1 203.0.113.1":       {"127.0.3.1/32", "127.0.3.1/32"},
		"203.0.113.0/24 127.0.4.0/30": {"127.0.4.0/30", "127.0.4.0/30"},
		"203.0.113.1":                 {"203.0.113.1/32", ""},
	} {
		for i, workers := range []bool{false, true} {
			got := ""
			for _, r := range OwnSources(sources(list), workers) {
				got += r.String()
			}
			if got != want[i] {
				t.Errorf("%s: %q, want %q", list, got, want[i])
			}
		}
	}
}
