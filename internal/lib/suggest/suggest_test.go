package suggest

import "testing"

func TestName(t *testing.T) {
	known := []string{"concurrency", "duration", "requests", "rate", "max_in_flight", "cv", "gap"}
	for _, c := range []struct{ want, got string }{
		{"concurency", "concurrency"},
		{"Concurrency", "concurrency"},
		{"max-in-flight", "max_in_flight"},
		{"max_inflight", "max_in_flight"},
		{"dur", "duration"},
		{"durations", "duration"},
		{"raet", "rate"},
		{"request", "requests"},
		{"cw", ""}, // half of it is wrong
		{"temperature", ""},
		{"", ""},
		{"zzz", ""},
	} {
		if got := Name(c.want, known); got != c.got {
			t.Errorf("Name(%q) = %q, want %q", c.want, got, c.got)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"abc", "abc", 0}, {"abc", "acb", 1},
		{"abc", "abd", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
