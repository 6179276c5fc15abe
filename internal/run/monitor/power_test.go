package monitor

import (
	"strings"
	"testing"
)

func TestOnThisMachine(t *testing.T) {
	for _, c := range []struct {
		urls string
		want bool
	}{
		{"http://localhost:8000", true}, {"http://127.0.0.1:8000 http://[::1]:1", true}, {"http://0.0.0.0:1", true}, {"grpc://LOCALHOST:8001", true},
		{"http://192.0.2.1:8000", false}, {"http://example.test", false}, {"http://localhost http://example.test", false}, {"http://%zz", false},
	} {
		if got := onThisMachine(strings.Fields(c.urls)); got != c.want {
			t.Errorf("%s: %v", c.urls, got)
		}
	}
}
