package browser

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A page of a hundred thousand requests is small, and soon there. The times are told, and only
// what no busy machine explains is a failure.
func TestManyRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("it sends a hundred thousand requests")
	}
	server := mock(t, "--ttft", "2ms", "--ttft-stddev", "1ms", "--fault", "status:503=0.02")
	dir, page := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "page.html")
	inferometer(t, "run", server, "--model", "mock", "--concurrency", "64", "--requests", "100000", "--output-tokens", "16", "--out", dir, "-q")
	began := time.Now()
	inferometer(t, "report", dir, "--html", page)
	took := time.Since(began)
	info, err := os.Stat(page)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("made in %.2f s, with the report on the screen: %d bytes", took.Seconds(), info.Size())
	if info.Size() > 2_000_000 {
		t.Errorf("%d bytes", info.Size())
	}
	b := open(t, looks()[0], page)
	ready := value[float64](b, `performance.now()`)
	filtered := value[float64](b, `(() => { const t = performance.now(); const s = document.querySelector("#requests .filters select"); s.value = "failed"; s.dispatchEvent(new Event("change")); document.body.getBoundingClientRect(); return performance.now() - t; })()`)
	t.Logf("drawn at most %.0f ms after it was opened; filtered in %.0f ms", ready, filtered)
	if ready > 20_000 || filtered > 5_000 {
		t.Errorf("drawn after %.0f ms, filtered in %.0f ms", ready, filtered)
	}
	b.picture("many")
}
