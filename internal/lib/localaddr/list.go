// Package localaddr binds the local end of TCP connections to a list of addresses in turn. Each
// address has only so many ports for connections to one ip:port.
package localaddr

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"sort"
	"strconv"
	"strings"
)

// Parse reads an IP address, which is a range of one, or a range in CIDR notation.
func Parse(text string) (netip.Prefix, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return netip.Prefix{}, fmt.Errorf("is empty: give an IP address or a range such as 10.0.0.0/24")
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		var a netip.Addr
		if a, err = netip.ParseAddr(text); err == nil {
			a = a.Unmap()
			p = netip.PrefixFrom(a, a.BitLen()) // without a zone, which a range cannot have
		}
	}
	switch a := p.Addr(); {
	case err != nil || strings.Contains(text, "%"):
		return netip.Prefix{}, fmt.Errorf("%s is not an IP address or a range such as 10.0.0.0/24", strconv.Quote(clip(text)))
	case a.Is4In6():
		return netip.Prefix{}, fmt.Errorf("%s is an IPv4 range in IPv6 notation: write it as an IPv4 range", text)
	case p != p.Masked():
		return netip.Prefix{}, fmt.Errorf("%s is neither one address nor a range: write %s for the address, %s for the range", text, a, p.Masked())
	case a.IsMulticast() || a.IsUnspecified() && p.IsSingleIP():
		return netip.Prefix{}, fmt.Errorf("%s cannot be the address of a connection", text)
	}
	return p, nil
}

func clip(text string) string { return text[:min(len(text), 60)] }

// Text is how Parse reads a range.
func Text(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

// most bounds how many addresses of a list are used.
const most = 1 << 30

// List is the addresses of several ranges, each found when it is asked for.
type List struct {
	ranges []netip.Prefix
	ends   []int // how many addresses there are up to the end of each range
}

// Split makes a list of the IPv4 addresses of ranges and one of their IPv6 addresses.
func Split(ranges []netip.Prefix) (four, six List) {
	for _, r := range ranges {
		switch {
		case !r.IsValid():
		case r.Addr().Is4():
			four.add(r)
		default:
			six.add(r)
		}
	}
	return four, six
}

func (l *List) add(r netip.Prefix) {
	l.ranges = append(l.ranges, r)
	l.ends = append(l.ends, min(l.Len()+count(r), most))
}

// count is how many addresses a range has, without the first, the network's, and for IPv4 the last,
// the broadcast's. Ranges too small for those are whole.
func count(r netip.Prefix) int {
	host := r.Addr().BitLen() - r.Bits()
	switch {
	case host > 30:
		return most
	case host < 2:
		return 1 << host
	case r.Addr().Is4():
		return 1<<host - 2
	}
	return 1<<host - 1
}

// Len is how many addresses there are.
func (l List) Len() int {
	if len(l.ends) == 0 {
		return 0
	}
	return l.ends[len(l.ends)-1]
}

// Addr is the i-th address, from 0.
func (l List) Addr(i int) netip.Addr {
	k := sort.SearchInts(l.ends, i+1)
	r := l.ranges[k]
	if k > 0 {
		i -= l.ends[k-1]
	}
	if r.Addr().BitLen()-r.Bits() > 1 {
		i++
	}
	if r.Addr().Is4() {
		b := r.Addr().As4()
		binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])+uint32(i))
		return netip.AddrFrom4(b)
	}
	// A range is a power of two, so that nothing is carried beyond its host bits.
	b := r.Addr().As16()
	binary.BigEndian.PutUint64(b[8:], binary.BigEndian.Uint64(b[8:])+uint64(i))
	return netip.AddrFrom16(b)
}
