package browser

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// inferometer runs the program. A run whose figures cannot be trusted is none that failed: this
// machine may be busy.
func inferometer(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1 && exit.ExitCode() != 4) {
		t.Fatalf("inferometer %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// mock starts the program's mock server and gives its address.
func mock(t *testing.T, args ...string) string {
	t.Helper()
	server := exec.Command(program, append([]string{"mock", "--listen", "127.0.0.1:0"}, args...)...)
	out, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	server.Stdout = server.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the mock does not say where it listens: %v", err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return "http://" + strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:])
}

// made is a page that was made once for all tests that look at it.
type made struct {
	once      sync.Once
	page, dir string
}

var of made

// levels is a page of a run in several levels with failures, objectives and server metrics, and
// the directory of the run.
func levels(t *testing.T) (page, dir string) {
	t.Helper()
	of.once.Do(func() {
		server := mock(t, "--ttft", "20ms", "--ttft-stddev", "5ms", "--itl", "2ms", "--max-seqs", "6", "--fault", "status:500=0.05")
		of.dir, of.page = filepath.Join(work, "levels"), filepath.Join(work, "levels.html")
		inferometer(t, "run", server, "--model", "mock", "--name", "a run in levels", "--stage", "concurrency=2,requests=60,warmup=5", "--stage", "concurrency=4,requests=120",
			"--stage", "concurrency=8,duration=3s", "--output-tokens", "8-30", "--goodput", "ttft:60ms,itl:20ms", "--scrape", server+"/metrics", "--out", of.dir, "--html", of.page, "-q")
	})
	if of.page == "" {
		t.Fatal("there is no page")
	}
	return of.page, of.dir
}

// hostile is a text that a careless page would obey.
const hostile = `</script><script>window.obeyed=1</script><img src=x onerror="window.obeyed=2"><!--`

// hostilePage is the page of a run at a server whose every text is hostile.
func hostilePage(t *testing.T) string {
	t.Helper()
	n := 0
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n++
		k := n
		mu.Unlock()
		_, _ = io.Copy(io.Discard, r.Body)
		switch {
		case k%3 == 0: // an error
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, `{"error":{"message":%q}}`, hostile+"\x00\x1b[31m\u2028"+strings.Repeat("x", 100_000))
		case k == 4: // ten megabytes
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", strings.Repeat(hostile, 10<<20/len(hostile)))
			fmt.Fprint(w, "data: [DONE]\n\n")
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			for range 3 {
				fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", hostile)
			}
			fmt.Fprint(w, "data: [DONE]\n\n")
		}
	}))
	t.Cleanup(server.Close)
	page := filepath.Join(t.TempDir(), "hostile.html")
	inferometer(t, "run", server.URL, "--model", hostile, "--name", hostile, "--concurrency", "2", "--requests", "30", "--no-preflight", "--html", page, "-q")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("window.obeyed=1</script>")) || len(text) > 1<<20 {
		t.Errorf("the page has %d bytes and a text of the server as it stands: %v", len(text), bytes.Contains(text, []byte("window.obeyed=1</script>")))
	}
	return page
}
