package mock

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// FuzzGRPCFrames plays anything to a connection: it must neither break nor hang.
func FuzzGRPCFrames(f *testing.F) {
	whole := append(opening(f), dataFrame(f, 1, vllmRequest("a", 3))...)
	f.Add(whole)
	f.Add(whole[:len(whole)-20])
	f.Add(appendWindowUpdate(whole, 1, 1<<30))
	c := config.Default()
	c.Output.Tokens, c.Output.MaxModelLen = 4, 100
	s, err := New(c)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	mutate.Fuzz(f, func(t *testing.T, b []byte) {
		w := &wire{Conn: &tape{play: b}}
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.serveGRPC(w)
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Error("the connection does not end")
		}
	})
}
