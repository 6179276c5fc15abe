package run

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/report/console"
	"github.com/inferometer/inferometer/internal/run/rundir"
)

func wantPrepareError(t *testing.T, err error, words ...string) {
	t.Helper()
	var early *PrepareError
	if !errors.As(err, &early) {
		t.Fatalf("got %v, want an error from before the first request", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error is %q, want %q in it", err, w)
		}
	}
}

// untouched makes sure that a run which could not begin has left nothing.
func untouched(t *testing.T, p *plan.Plan) {
	t.Helper()
	if _, err := os.Stat(p.Output.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the output directory was made: %v", err)
	}
}

func TestTargetsThatCannotBeMeasured(t *testing.T) {
	const nobody = "http://127.0.0.1:1" // a port that was free a moment ago may have been given to another test
	says := func(status int, ctype, text string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", ctype)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	moved := httptest.NewServer(http.RedirectHandler("https://elsewhere.test/v1/models", http.StatusPermanentRedirect))
	t.Cleanup(moved.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	frames, err := net.Listen("tcp", "127.0.0.1:0") // a port of gRPC begins with frames of HTTP/2
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { frames.Close() })
	go func() {
		for {
			c, err := frames.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, "\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01")
			c.Close()
		}
	}()
	for _, tt := range []struct {
		name string
		urls []string
		want []string
	}{
		{"a port of gRPC", []string{"http://" + frames.Addr().String()}, []string{"looks like a gRPC port: give the server's HTTP port", "add --protocol triton and write grpc://"}},
		{"nobody there", []string{nobody}, []string{"cannot be reached", "refused"}},
		{"no such host", []string{"http://host.invalid:8000"}, []string{"host.invalid", "cannot be reached"}},
		{"two of them", []string{"http://host.invalid:8000", nobody}, []string{"target 1", "target 2"}},
		{"a web page", []string{says(200, "text/html", "<html><title>Hi</title></html>")}, []string{"an HTML page", "--model"}},
		{"not JSON", []string{says(200, "text/plain", "hello")}, []string{"not JSON", "--model"}},
		{"no list", []string{says(404, "application/json", "{}")}, []string{"404", "--model"}},
		{"key wanted", []string{says(401, "application/json", `{"error":{"message":"who are you?"}}`)}, []string{"401", "(who are you?)", "--api-key-env"}},
		{"sent on", []string{moved.URL}, []string{"308", "https://elsewhere.test", "give that address"}},
		{"a certificate that nobody knows", []string{secure.URL}, []string{"cannot be reached", "--ca names certificates"}},
		{"refused with words", []string{says(400, "text/plain", "Client sent an HTTP request to an HTTPS server.\n")}, []string{"400", "to an HTTPS server.)"}},
		{"an empty list", []string{says(200, "application/json", `{"data":[]}`)}, []string{"lists no model", "--model"}},
		{"a URL without a scheme", []string{"localhost:8000"}, []string{"scheme"}},
		{"a password in the URL", []string{"http://user:hunter2@host.invalid"}, []string{"cannot be reached"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := closedPlan(t, "", 1, 1)
			p.Target.URLs = tt.urls
			_, err := Run(t.Context(), p, options(io.Discard))
			wantPrepareError(t, err, tt.want...)
			untouched(t, p)
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the password is in %q", err)
			}
		})
	}
}

func TestModelThatIsTaken(t *testing.T) {
	for _, tt := range []struct {
		name, asked string
		models      []string
		want, note  string
	}{
		{"the only one", "", []string{"llama"}, "llama", ""},
		{"the first of two", "", []string{"llama", "qwen"}, "llama", "serves 2 models; taking llama"},
		{"the one asked for", "qwen", []string{"llama", "qwen"}, "qwen", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(c *config.Server) { c.Models = tt.models })
			p := closedPlan(t, s.url, 1, 3)
			p.Target.Model = tt.asked
			var log bytes.Buffer
			res, err := Run(t.Context(), p, options(&log))
			if err != nil {
				t.Fatal(err)
			}
			if p.Target.Model != tt.want || res.Stages[0].Counts.OK != 3 { // strict: another name would be refused
				t.Errorf("took %q, counts %+v", p.Target.Model, res.Stages[0].Counts)
			}
			if !strings.Contains(log.String(), tt.note) || tt.note == "" && log.Len() > 0 {
				t.Errorf("the log is %q, want %q", log.String(), tt.note)
			}
			if !strings.Contains(readFile(t, p.Output.Dir, rundir.PlanFile), "model: "+tt.want) {
				t.Error("the plan as run does not name the model")
			}
		})
	}
}

// A server that has no list of models can be measured where the model is named.
func TestServerWithoutAListOfModels(t *testing.T) {
	behind := serve(t, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		resp, err := http.Post(behind.url+r.URL.Path, "application/json", r.Body)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		_, _ = io.Copy(w, resp.Body)
	}))
	defer s.Close()
	p := closedPlan(t, s.URL, 1, 3)
	p.Target.Model = "mock"
	if res := mustRun(t, p); res.Stages[0].Counts.OK != 3 {
		t.Errorf("counts %+v, failures %+v", res.Stages[0].Counts, res.Stages[0].Failures)
	}
}

func TestAllThatStandsInTheWayIsTold(t *testing.T) {
	p := closedPlan(t, "http://host.invalid", 1_000_000_000, 1)
	p.Output.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(p.Output.Dir, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Run(t.Context(), p, options(io.Discard))
	wantPrepareError(t, err, "host.invalid", "is not empty")
	if runtime.GOOS != "windows" {
		wantPrepareError(t, err, "ulimit -n")
	}
	p.Target.APIKey.Env = "INFEROMETER_TEST_NO_SUCH_KEY"
	p.Target.TLS.CA = filepath.Join(t.TempDir(), "no.pem")
	_, err = Run(t.Context(), p, options(io.Discard))
	wantPrepareError(t, err, "INFEROMETER_TEST_NO_SUCH_KEY", "no.pem", "is not empty")
}

// The key goes to the server and nowhere else, wherever it comes from and whether
// the server likes it or not.
func TestKeyIsWrittenNowhere(t *testing.T) {
	const key = "k3y-that-nobody-may-see"
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("INFEROMETER_TEST_KEY", key)
	for _, tt := range []struct {
		name   string
		change func(c *config.Server, p *plan.Plan)
		ok     bool
	}{
		{"from the environment", func(c *config.Server, p *plan.Plan) { p.Target.APIKey.Env = "INFEROMETER_TEST_KEY" }, true},
		{"from a file", func(c *config.Server, p *plan.Plan) { p.Target.APIKey.File = file }, true},
		{"in a header", func(c *config.Server, p *plan.Plan) {
			p.Target.Headers = map[string]string{"authorization": "Bearer " + key}
		}, true},
		{"refused", func(c *config.Server, p *plan.Plan) {
			c.APIKey = "another"
			p.Target.APIKey.Env = "INFEROMETER_TEST_KEY"
			p.Target.Model = "mock"
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p *plan.Plan
			s := serve(t, func(c *config.Server) {
				c.APIKey = key
				p = closedPlan(t, "", 2, 10)
				p.Output.KeepRaw = true
				tt.change(c, p)
			})
			p.Target.URLs = []string{s.url}
			var log bytes.Buffer
			res, err := Run(t.Context(), p, options(&log))
			if err != nil {
				t.Fatal(err)
			}
			if ok := res.Stages[0].Counts.OK == 10; ok != tt.ok {
				t.Errorf("counts %+v", res.Stages[0].Counts)
			}
			if err := console.Write(&log, res, console.Options{Width: 100, All: true, Dir: p.Output.Dir}); err != nil {
				t.Fatal(err)
			}
			log.WriteString(asJSON(t, res))
			if strings.Contains(log.String(), key) {
				t.Error("the key is on the screen")
			}
			grepFiles(t, p.Output.Dir, key, 4)
		})
	}
}

// A server that quotes the key in its responses does not bring it into the records.
func TestKeyThatTheServerRepeats(t *testing.T) {
	const key = "k3y-that-nobody-may-see"
	t.Setenv("INFEROMETER_TEST_KEY", key)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"message":"Incorrect API key provided: `+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+`"}}`)
	}))
	defer s.Close()
	p := closedPlan(t, s.URL, 1, 3)
	p.Target.Model, p.Target.APIKey.Env, p.Output.KeepRaw = "m", "INFEROMETER_TEST_KEY", true
	res := mustRun(t, p)
	if f := res.Stages[0].Failures; len(f) != 1 || f[0].Status != 401 || !strings.Contains(f[0].Example, "Incorrect API key provided") {
		t.Errorf("failures %+v", f)
	}
	grepFiles(t, p.Output.Dir, key, 4)
	if strings.Contains(asJSON(t, res), key) {
		t.Error("the key is in the result")
	}
	// The same where it is refused before the first request.
	p = closedPlan(t, s.URL, 1, 3)
	p.Target.APIKey.Env = "INFEROMETER_TEST_KEY"
	_, err := Run(t.Context(), p, options(io.Discard))
	wantPrepareError(t, err, "Incorrect API key provided: (secret)", "is the API key the right one?")
	if strings.Contains(err.Error(), key) {
		t.Errorf("the key is in %q", err)
	}
}

// grepFiles looks for a text in all files of a directory, compressed ones too.
func grepFiles(t *testing.T, dir, text string, atLeast int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < atLeast {
		t.Fatalf("%d files, error %v", len(entries), err)
	}
	for _, e := range entries {
		b := []byte(readFile(t, dir, e.Name()))
		if strings.HasSuffix(e.Name(), ".zst") {
			z, err := zstd.NewReader(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if b, err = io.ReadAll(z); err != nil || len(b) == 0 {
				t.Fatalf("%s: %d bytes, %v", e.Name(), len(b), err)
			}
			z.Close()
		}
		if bytes.Contains(b, []byte(text)) {
			t.Errorf("%s holds what it must not", e.Name())
		}
	}
}
