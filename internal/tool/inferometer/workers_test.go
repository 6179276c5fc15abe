package inferometer

import (
	"os"
	"testing"
)

func TestJoinURL(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	for listen, want := range map[string]string{
		"0.0.0.0:0":      "nats://" + name + ":4222",
		":4222":          "nats://" + name + ":4222",
		"[::]:4222":      "nats://" + name + ":4222",
		"127.0.0.1:4222": "nats://127.0.0.1:4222",
		"coordinator:0":  "nats://127.0.0.1:4222",
	} {
		if got := joinURL(listen, "nats://127.0.0.1:4222"); got != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
}
