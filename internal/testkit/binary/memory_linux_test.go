package binary

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// patience is how long a program may take on a busy machine.
const patience = 3 * time.Minute

// within runs the program in a directory with no more than so many megabytes of memory
// of its own, and gives its exit code and what it printed.
func within(t *testing.T, megabytes int, dir string, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `ulimit -d "$0" && exec "$@"`, strconv.Itoa(megabytes << 10), Program(t)}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("not done after %s: %s", patience, out)
	}
	if bytes.Contains(out, []byte("out of memory")) || bytes.Contains(out, []byte("goroutine 1 [")) {
		t.Fatalf("%s: with %d MB: %.600s", strings.Join(args, " "), megabytes, out)
	}
	t.Logf("%d MB", cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss>>10)
	code := 0
	if err != nil {
		code = cmd.ProcessState.ExitCode()
	}
	return code, string(out)
}

// server answers the list of models, and every other request with what answer writes.
func server(t *testing.T, answer func(w *bufio.Writer)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c, answer)
		}
	}()
	return "http://" + l.Addr().String()
}

func serve(c net.Conn, answer func(w *bufio.Writer)) {
	defer c.Close()
	in, out := bufio.NewReader(c), bufio.NewWriterSize(c, 64<<10)
	for {
		length, first := 0, ""
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if first == "" {
				first = line
			}
			if line == "\r\n" {
				break
			}
			if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "content-length") {
				length, _ = strconv.Atoi(strings.TrimSpace(value))
			}
		}
		if _, err := in.Discard(length); err != nil {
			return
		}
		if strings.HasPrefix(first, "GET") {
			const list = `{"data":[{"id":"m"}]}`
			fmt.Fprintf(out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(list), list)
			out.Flush()
			continue
		}
		answer(out)
		out.Flush()
		return
	}
}

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

// tokens writes a stream of n events.
func tokens(n int) func(w *bufio.Writer) {
	event := []byte(`data: {"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}` + "\n\n")
	return func(w *bufio.Writer) {
		w.WriteString(streamHead)
		for range n {
			if _, err := w.Write(event); err != nil {
				return
			}
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n", n)
		w.Flush()
	}
}

// endless writes the same again and again.
func endless(head, piece string) func(w *bufio.Writer) {
	return func(w *bufio.Writer) {
		w.WriteString(head)
		block := strings.Repeat(piece, 1+(64<<10)/len(piece))
		for {
			if _, err := w.WriteString(block); err != nil {
				return
			}
		}
	}
}

// Streams of a hundred megabytes are folded as they come. Held whole, these took 2 GB.
func TestMemoryOfLongStreams(t *testing.T) {
	const n = 400_000
	url := server(t, tokens(n))
	_, out := within(t, 500, t.TempDir(), "run", url, "--requests", "3", "--concurrency", "3", "--out", "out", "--no-preflight")
	for _, want := range []string{"3 ok", "3 streams longer than limits.stream", "tokens  400,000  "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in: %s", want, out)
		}
	}
}

// What a server sends without end fails, and names the limit.
func TestMemoryOfEndlessAnswers(t *testing.T) {
	const whole = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
	for name, tt := range map[string]struct {
		answer func(w *bufio.Writer)
		limit  string
	}{
		"one event":    {endless(streamHead+"data: ", "x"), "limits.event"},
		"one comment":  {endless(streamHead+": ", "x"), "limits.event"},
		"one document": {endless(whole+"{\"choices\":[", "{},"), "limits.response"},
		"refusal":      {endless("HTTP/1.1 500 No\r\nConnection: close\r\n\r\n", "no "), "limits.response"},
		"headers":      {endless("HTTP/1.1 200 OK\r\n", "X-More: of this\r\n"), "limits.header"},
	} {
		t.Run(name, func(t *testing.T) {
			_, out := within(t, 500, t.TempDir(), "run", server(t, tt.answer), "--requests", "1", "--no-preflight")
			if !strings.Contains(out, "too large") || !strings.Contains(out, tt.limit) {
				t.Error(out)
			}
		})
	}
}

// Comments without end are folded like tokens, until the time of the request is over.
func TestMemoryOfEndlessComments(t *testing.T) {
	url := server(t, endless(streamHead, ": still here\n\n"))
	_, out := within(t, 500, t.TempDir(), "run", url, "--requests", "1", "--timeout", "1s", "--no-preflight")
	if !strings.Contains(out, "1 failed") {
		t.Error(out)
	}
}

// replaces is a tokenizer whose normalizers make ten letters of each, twelve times over.
func replaces() string {
	var chain []string
	for range 12 {
		chain = append(chain, `{"type":"Replace","pattern":{"String":"a"},"content":"aaaaaaaaaa"}`)
	}
	return `{"version":"1.0","added_tokens":[],"normalizer":{"type":"Sequence","normalizers":[` + strings.Join(chain, ",") + `]},
		"model":{"type":"WordLevel","vocab":{"a":0,"[UNK]":1},"unk_token":"[UNK]"}}`
}

// bomb is a few bytes at first and 300 MB of a piece that comes again and again, as a format packs
// them. What is packed twice and put together unpacks to both.
func bomb(t *testing.T, format func(w io.Writer) (io.WriteCloser, error), first, piece string) string {
	t.Helper()
	packed := func(text string) []byte {
		var b bytes.Buffer
		w, err := format(&b)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	const block = 1 << 20
	return string(packed(first)) + strings.Repeat(string(packed(strings.Repeat(piece, block/len(piece)))), 300)
}

// Files that are small and unpack to much, or never end, are refused by the name of the
// limit, and before they fill the memory.
func TestMemoryOfFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	records := bomb(t, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
		`{"kind":"header","schema":"inferometer.records/1"}`+"\n"+`{"kind":"request","read_bytes":[0`, ",0")
	rows := bomb(t, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }, `{"conversations":[{"value":"`, "a")
	write("bomb/requests.jsonl.zst", records)
	write("bomb/plan.yaml", "version: 1\ntarget: {urls: [http://127.0.0.1:1], model: m}\n")
	big, err := os.Create(filepath.Join(dir, "big.txt")) // a file of holes
	if err == nil {
		err = errors.Join(big.Truncate(8<<30), big.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	run := []string{"run", "http://127.0.0.1:1", "--model", "m", "--requests", "1", "--no-preflight"}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"records":               {[]string{"report", filepath.Join(dir, "bomb")}, "limits.record"},
		"device":                {append(run[:len(run):len(run)], "--input-file", "/dev/zero"), "a device"},
		"large file":            {append(run[:len(run):len(run)], "--input-file", big.Name()), "limits.file"},
		"tokenizer":             {append(run[:len(run):len(run)], "--tokenizer", write("tokenizer.json", replaces())), "limits.expansion"},
		"device as a tokenizer": {append(run[:len(run):len(run)], "--tokenizer", "/dev/zero"), "a device"},
		"plan":                  {[]string{"run", "/dev/zero"}, "a device"},
		"gzip":                  {[]string{"run", write("gzip.yaml", "target: {urls: [http://127.0.0.1:1], model: m}\nlimits: {file: 64MiB}\ndata: {source: dataset, dataset: {kind: sharegpt, path: "+write("rows.json.gz", rows)+"}}\nstages: [{concurrency: 1, requests: 1}]\n")}, "limits.file"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out := within(t, 900, dir, tt.args...)
			if code == 0 || !strings.Contains(out, tt.want) {
				t.Errorf("exit code %d, no %q in: %s", code, tt.want, out)
			}
		})
	}
}
