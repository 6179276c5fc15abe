package localaddr

import (
	"net/netip"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ text, want, fault string }{
		{"127.0.0.1", "127.0.0.1", ""},
		{" 10.0.0.5 ", "10.0.0.5", ""},
		{"10.0.0.5/32", "10.0.0.5", ""},
		{"10.0.0.0/24", "10.0.0.0/24", ""},
		{"::1", "::1", ""},
		{"2001:db8::/64", "2001:db8::/64", ""},
		{"::ffff:10.0.0.5", "10.0.0.5", ""},
		{"::ffff:10.0.0.0/120", "", "write it as an IPv4 range"},
		{"10.0.0.5/24", "", "write 10.0.0.5 for the address, 10.0.0.0/24 for the range"},
		{"", "", "is empty"},
		{"localhost", "", `"localhost" is not an IP address`},
		{"10.0.0.1:80", "", "is not an IP address"},
		{"10.0.0.0/33", "", "is not an IP address"},
		{"fe80::1%eth0", "", "is not an IP address"},
		{"0.0.0.0", "", "cannot be the address"},
		{"::", "", "cannot be the address"},
		{"224.0.0.1", "", "cannot be the address"},
		{"ff02::/16", "", "cannot be the address"},
		{strings.Repeat("x", 1<<20), "", "is not an IP address"},
	} {
		got, err := Parse(tt.text)
		switch {
		case tt.fault != "":
			if err == nil || !strings.Contains(err.Error(), tt.fault) || len(err.Error()) > 200 {
				t.Errorf("%.40q: %v, want %q", tt.text, err, tt.fault)
			}
		case err != nil || Text(got) != tt.want:
			t.Errorf("%q: %v, %v, want %s", tt.text, got, err, tt.want)
		}
	}
}

func TestList(t *testing.T) {
	for _, tt := range []struct {
		ranges      string
		n           int
		first, last string
	}{
		{"10.0.0.5", 1, "10.0.0.5", "10.0.0.5"},
		{"10.0.0.4/31", 2, "10.0.0.4", "10.0.0.5"},
		{"10.0.0.4/30", 2, "10.0.0.5", "10.0.0.6"},
		{"10.0.0.0/24", 254, "10.0.0.1", "10.0.0.254"},
		{"10.16.0.0/12", 1<<20 - 2, "10.16.0.1", "10.31.255.254"},
		{"10.0.0.9 10.1.0.0/24 10.0.0.7", 256, "10.0.0.9", "10.0.0.7"},
		{"::1", 1, "::1", "::1"},
		{"2001:db8::/127", 2, "2001:db8::", "2001:db8::1"},
		{"2001:db8::/120", 255, "2001:db8::1", "2001:db8::ff"},
		{"2001:db8::/64", 1 << 30, "2001:db8::1", "2001:db8::4000:0"},
		{"2001:db8::/64 2001:db9::/64", 1 << 30, "2001:db8::1", "2001:db8::4000:0"},
		{"0.0.0.0/0", 1 << 30, "0.0.0.1", "64.0.0.0"},
	} {
		four, six := Split(prefixes(t, tt.ranges))
		l := four
		if four.Len() == 0 {
			l = six
		}
		if got := l.Len(); got != tt.n || l.Addr(0).String() != tt.first || l.Addr(got-1).String() != tt.last {
			t.Errorf("%s: %d addresses from %s to %s, want %d from %s to %s", tt.ranges, got, l.Addr(0), l.Addr(got-1), tt.n, tt.first, tt.last)
		}
	}
	four, six := Split(prefixes(t, "10.0.0.1 ::1 10.0.0.2"))
	if four.Len() != 2 || six.Len() != 1 {
		t.Errorf("%d IPv4 and %d IPv6 addresses", four.Len(), six.Len())
	}
}

// prefixes parses ranges with spaces between them.
func prefixes(t *testing.T, text string) []netip.Prefix {
	t.Helper()
	var all []netip.Prefix
	for one := range strings.FieldsSeq(text) {
		p, err := Parse(one)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}
