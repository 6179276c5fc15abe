package mock

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
)

// answerer returns a function that answers one request without a network.
func answerer(tb testing.TB, body string, change func(*config.Server)) func() {
	tb.Helper()
	c := config.Default()
	if change != nil {
		change(&c)
	}
	s, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	call := newCall(s, nopSender{}, nil)
	return func() {
		call.reset(request{method: http.MethodPost, path: chatPath, read: time.Now(), body: []byte(body)})
		s.answer(call)
	}
}

func stream(tokens int) string {
	return fmt.Sprintf(`{"model":"mock",%s,"max_tokens":%d,"stream":true}`, hello, tokens)
}

func TestEventsDoNotAllocate(t *testing.T) {
	perRequest := func(tokens int) float64 {
		answer := answerer(t, stream(tokens), func(c *config.Server) { c.Output.Coalesce = 4 })
		answer() // grows the buffers
		return testing.AllocsPerRun(20, answer)
	}
	if few, many := perRequest(10), perRequest(1000); many > few {
		t.Errorf("%v allocations with 10 tokens, %v with 1000", few, many)
	}
}

func BenchmarkStream(b *testing.B) {
	answer := answerer(b, stream(512), func(c *config.Server) { c.Output.Coalesce = 64 })
	b.ReportAllocs()
	for b.Loop() {
		answer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/event")
}

func BenchmarkWhole(b *testing.B) {
	answer := answerer(b, `{"model":"mock",`+hello+`,"max_tokens":16}`, nil)
	b.ReportAllocs()
	for b.Loop() {
		answer()
	}
}
