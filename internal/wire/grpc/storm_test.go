package grpc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	real "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Requests that are cancelled and run into limits at any moment, on streams that
// break at any moment: every one of them ends, with its own messages in order, and
// those that went well have them all.
func TestStorm(t *testing.T) {
	const slots, each, messages = 16, 25, 5
	s := serve(t, func(_ any, st real.ServerStream) error {
		var mu sync.Mutex
		var wg sync.WaitGroup
		defer wg.Wait()
		for {
			m, err := recv(st)
			if err != nil {
				return nil
			}
			if rand.N(100) == 0 {
				return status.Error(codes.Aborted, "enough")
			}
			id, _, _ := strings.Cut(m, " ")
			wg.Go(func() {
				for i := 1; i <= messages; i++ {
					mark := ">"
					if i == messages {
						mark = "."
					}
					time.Sleep(rand.N(time.Millisecond))
					mu.Lock()
					_ = send(st, "%s%s %d x", mark, id, i)
					mu.Unlock()
				}
			})
		}
	})
	for _, o := range []Options{{}, {Streams: 3}, {Streams: 4, Sharing: 4}} {
		o.Limits = timedconn.Timeouts{Request: 15 * time.Millisecond, Stall: 8 * time.Millisecond}
		c := s.client(t, o)
		outcomes := map[record.Class]int{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for slot := range slots {
			wg.Go(func() {
				for k := range each {
					id := fmt.Sprintf("%d.%d", slot, k)
					ctx, cancel := context.WithCancel(t.Context())
					timer := time.AfterFunc(rand.N(20*time.Millisecond), cancel)
					rec := ask(t, ctx, c, slot, id, "%s", id)
					timer.Stop()
					cancel()
					got, all := strings.Join(texts(t, rec), "|"), want(id, messages, "x")
					class := record.Class("ok")
					if rec.Failure != nil {
						class = rec.Failure.Class
					}
					if !strings.HasPrefix(all, got) || rec.Failure == nil && got != all {
						t.Errorf("%s: %q, failure %+v", id, got, rec.Failure)
					}
					mu.Lock()
					outcomes[class]++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		t.Logf("%d streams: %v", o.Streams, outcomes)
		for class := range outcomes {
			switch class {
			case "ok", record.Cancelled, record.TimedOut, record.Stalled, record.GRPCStatus, record.Reset:
			default:
				t.Errorf("outcomes %v", outcomes)
			}
		}
	}
}
