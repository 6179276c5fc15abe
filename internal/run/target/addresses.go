package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/inferometer/inferometer/internal/lib/localaddr"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/remote/proxy"
)

// sourcesTried bounds how many local addresses are tried before the run. Ranges that hold more
// are as a rule routed to this machine as a whole.
const sourcesTried = 4096

// sourcesTold bounds how many ranges with missing addresses are told of one by one.
const sourcesTold = 4

// CheckSources makes sure that this machine has the addresses that connections are to come from
// and that the targets can be reached from them. pairs is how many pairs of a local address and
// a target there are; 0: the system chooses the address, or it is not known.
func CheckSources(ctx context.Context, t *plan.Target, getenv func(string) string) (pairs int, err error) {
	if len(t.SourceAddresses) == 0 {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	four, six := localaddr.Split(t.SourceAddresses)
	families := []*family{{name: "IPv4", from: four}, {name: "IPv6", from: six}}
	var errs []error
	seen := map[string]bool{}
	for i, raw := range t.URLs {
		there, err := destination(t, raw, getenv)
		if err != nil {
			return 0, nil // what is wrong with the target is told by those who ask it
		}
		if seen[there] {
			continue
		}
		seen[there] = true
		found, err := lookup(ctx, there)
		if err != nil {
			return 0, nil
		}
		n := 0
		for _, f := range families {
			n += f.add(found)
		}
		if n == 0 {
			have, need := families[0].name, families[1].name
			if four.Len() == 0 {
				have, need = need, have
			}
			errs = append(errs, message.Errorf("target %d, %s, is at %s, but %v has only %s addresses: give an %s address", i+1, plan.SafeURL(raw), found[0].Addr(), message.SourceAddress, have, need))
		}
		pairs += n
	}
	if errs == nil {
		for _, f := range families {
			errs = append(errs, f.check(t.SourceAddresses)...)
		}
	}
	return pairs, errors.Join(errs...)
}

// OwnSources are those of a plan's source addresses that this machine has. Where it has none they are all of
// them, so that a check says so, but not where workers send.
func OwnSources(all []netip.Prefix, workers bool) []netip.Prefix {
	own := slices.DeleteFunc(slices.Clone(all), func(r netip.Prefix) bool { return !here(r) })
	if len(own) == 0 && !workers {
		return all
	}
	return own
}

// rangeTried is how many addresses of a range are tried for one that this machine has: the first ones of a network
// are often not given to anybody.
const rangeTried = 8

// here reports whether this machine has addresses of a range.
func here(r netip.Prefix) bool {
	for a, n := r.Addr(), 0; r.Contains(a) && n < rangeTried; a, n = a.Next(), n+1 {
		if c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 0))); err == nil {
			c.Close()
			return true
		}
	}
	return false
}

// destination is the host:port that connections for a URL go to: the proxy's where there is one.
func destination(t *plan.Target, raw string, getenv func(string) string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", err
	}
	through, err := proxy.For(*t, u, getenv)
	if err != nil {
		return "", err
	}
	if through != nil {
		u = through
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "grpc": "8001", "grpcs": "8001"}[u.Scheme]
	}
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

func lookup(ctx context.Context, hostPort string) ([]netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	hosts, err := net.DefaultResolver.LookupHost(ctx, host)
	var found []netip.AddrPort
	for _, h := range hosts {
		if at, err := netip.ParseAddrPort(net.JoinHostPort(h, port)); err == nil {
			found = append(found, netip.AddrPortFrom(at.Addr().Unmap(), at.Port()))
		}
	}
	if len(found) == 0 && err == nil {
		err = fmt.Errorf("%s has no address", host)
	}
	return found, err
}

// family is one version of IP: the local addresses of it and what is to be reached from them.
type family struct {
	name string
	from localaddr.List
	to   []netip.AddrPort
}

// add takes what a target's name leads to, and gives how many addresses can reach it.
func (f *family) add(found []netip.AddrPort) int {
	i := slices.IndexFunc(found, func(a netip.AddrPort) bool { return a.Addr().Is4() == (f.name == "IPv4") })
	if i < 0 || f.from.Len() == 0 {
		return 0
	}
	f.to = append(f.to, found[i])
	return f.from.Len()
}

// check tries the local addresses: each for the first target, the first for each target.
// ranges are those that the addresses are from.
func (f *family) check(ranges []netip.Prefix) []error {
	if f.from.Len() == 0 {
		return nil
	}
	if len(f.to) == 0 {
		return []error{message.Errorf("%v has the %s address %s, but no target has an %s address: leave it out", message.SourceAddress, f.name, f.from.Addr(0), f.name)}
	}
	missing := map[netip.Prefix][]netip.Addr{}
	for i := range min(f.from.Len(), sourcesTried) {
		switch from, err := f.from.Addr(i), reach(f.from.Addr(i), f.to[0]); {
		case errors.Is(err, syscall.EADDRNOTAVAIL):
			r := ranges[slices.IndexFunc(ranges, func(r netip.Prefix) bool { return r.Contains(from) })]
			missing[r] = append(missing[r], from)
		case err != nil:
			return []error{unreachable(from, f.to[0], err)}
		}
	}
	var errs []error
	for _, r := range ranges {
		if len(missing[r]) > 0 && len(errs) < sourcesTold {
			errs = append(errs, absent(r, missing[r], f.to[0]))
		}
	}
	if more := len(missing) - len(errs); more > 0 {
		errs = append(errs, message.Errorf("%d more of %v are not addresses of this machine", more, message.SourceAddress))
	}
	if errs != nil {
		return errs
	}
	for _, to := range f.to[1:] {
		if err := reach(f.from.Addr(0), to); err != nil {
			errs = append(errs, unreachable(f.from.Addr(0), to, err))
		}
	}
	return errs
}

// reach looks for a way from a local address to a target, and sends nothing: to connect a UDP
// socket is to ask the system for the route.
func reach(from netip.Addr, to netip.AddrPort) error {
	var d net.Dialer
	if from.IsValid() {
		d.LocalAddr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(from, 0))
	}
	c, err := d.Dial("udp", to.String())
	if err != nil {
		return err
	}
	return c.Close()
}

// absent says that this machine lacks addresses of a range, and how it gets them. To bind IPv6
// addresses that are routed here as a range takes a setting of the system.
func absent(r netip.Prefix, missing []netip.Addr, to netip.AddrPort) error {
	first := missing[0]
	add := fmt.Sprintf("ip addr add %s/%d dev %s", first, first.BitLen(), device(to))
	if len(missing) == 1 {
		return message.Errorf("%s of %v is not an address of this machine: add it with %s, or leave it out", first, message.SourceAddress, add)
	}
	whole := fmt.Sprintf("ip route add local %s dev lo", r)
	if first.Is6() {
		whole = fmt.Sprintf("ip -6 route add local %s dev lo and sysctl net.ipv6.ip_nonlocal_bind=1", r)
	}
	return message.Errorf("%s and others in %s of %v are not addresses of this machine: add each as in %s, or the whole range with %s, or leave them out", first, r, message.SourceAddress, add, whole)
}

func unreachable(from netip.Addr, to netip.AddrPort, err error) error {
	reason := err.Error()
	var call syscall.Errno
	if errors.As(err, &call) {
		reason = call.Error()
	}
	if from.IsLoopback() && !to.Addr().IsLoopback() {
		reason = "a loopback address reaches only this machine"
	}
	return message.Errorf("%s cannot be reached from %s of %v: %s", to, from, message.SourceAddress, reason)
}

// device is the network interface that leads to an address: lo if unknown.
func device(to netip.AddrPort) string {
	c, err := net.Dial("udp", to.String())
	if err != nil {
		return "lo"
	}
	defer c.Close()
	own, _, _ := strings.Cut(c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().String(), "%")
	all, _ := net.Interfaces()
	for _, i := range all {
		addrs, _ := i.Addrs()
		if slices.ContainsFunc(addrs, func(a net.Addr) bool { return strings.HasPrefix(a.String(), own+"/") }) {
			return i.Name
		}
	}
	return "lo"
}
