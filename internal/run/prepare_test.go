package run

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/report/console"
	"github.com/inferometer/inferometer/internal/run/registry"
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
			s := serve(t, func(c *mock.Config) { c.Models = tt.models })
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
	if openFileLimit() > 0 {
		wantPrepareError(t, err, "ulimit -n")
	}
	p.Target.APIKey.Env = "INFEROMETER_TEST_NO_SUCH_KEY"
	p.Target.TLS.CA = filepath.Join(t.TempDir(), "no.pem")
	_, err = Run(t.Context(), p, options(io.Discard))
	wantPrepareError(t, err, "INFEROMETER_TEST_NO_SUCH_KEY", "no.pem", "is not empty")
}

func TestLimitsOfTheSystem(t *testing.T) {
	for _, tt := range []struct {
		name  string
		stage plan.Stage
		l     rlimits
		urls  int
		want  []string // none: it fits
	}{
		{"fits", plan.Stage{Concurrency: 100}, rlimits{files: 1024, ports: 28232, ends: 1}, 1, nil},
		{"just fits", plan.Stage{Concurrency: 960}, rlimits{files: 1024, ports: 976, ends: 1}, 1, nil},
		{"nothing known", plan.Stage{Concurrency: 1 << 20}, rlimits{ends: 1}, 1, nil},
		{"files", plan.Stage{Concurrency: 961}, rlimits{files: 1024, ends: 1}, 1, []string{"stage 1 has 961 requests in flight and needs 1025 open files", "only 1024", "ulimit -n 1025, or lower the load"}},
		{"files, with the server in this process", plan.Stage{Concurrency: 500}, rlimits{files: 1024, ends: 2}, 1, []string{"ulimit -n 1064"}},
		{"ports", plan.Stage{Concurrency: 30000}, rlimits{ports: 28232, ends: 1}, 1, []string{"has 30000 requests in flight and needs 30016 local ports, but this system has only 28232", "ip_local_port_range, use at least 2 local addresses with --source-address, or add"}},
		{"ports of two addresses", plan.Stage{Concurrency: 56448}, rlimits{ports: 28232, pairs: 2, ends: 1}, 1, nil},
		{"ports of two addresses, and no more", plan.Stage{Concurrency: 56449}, rlimits{ports: 28232, pairs: 2, ends: 1}, 1, []string{"needs 56465 local ports", "only 56464", "at least 3 local addresses"}},
		{"ports of two addresses for two URLs", plan.Stage{Concurrency: 112912}, rlimits{ports: 28232, pairs: 4, ends: 1}, 2, nil},
		{"ports of a million addresses", plan.Stage{Concurrency: 1 << 30}, rlimits{ports: 28232, pairs: 1 << 20, ends: 1}, 1, nil},
		{"ports for two URLs", plan.Stage{Concurrency: 30000}, rlimits{ports: 28232, ends: 1}, 2, nil},
		{"a ramp's end", plan.Stage{Concurrency: 1, RampTo: 2000}, rlimits{files: 1024, ends: 1}, 1, []string{"has 2000 requests"}},
		{"a cap", plan.Stage{Rate: 10, MaxInFlight: 2000}, rlimits{files: 1024, ends: 1}, 1, []string{"has 2000 requests"}},
		{"no cap", plan.Stage{Rate: 10}, rlimits{files: 1024, ends: 1}, 1, nil},
		{"no cap, and no room at all", plan.Stage{Rate: 10}, rlimits{files: 64, ends: 1}, 1, []string{"has at least 1 request in flight and needs 65 open files", "ulimit -n 65"}},
		{"a single one", plan.Stage{Concurrency: 1}, rlimits{files: 64, ends: 1}, 1, []string{"stage 1 has 1 request in flight"}},
		{"both", plan.Stage{Concurrency: 2000}, rlimits{files: 1024, ports: 1000, ends: 1}, 1, []string{"only 1024", "only 1000 for them"}},
	} {
		p := plan.Default()
		p.Stages = []plan.Stage{tt.stage}
		p.Target.URLs = make([]string, tt.urls)
		err := checkLimits(&p, tt.l)
		if (err != nil) != (tt.want != nil) {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for _, w := range tt.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", tt.name, err, w)
			}
		}
	}
}

// An open loop without a cap needs as many connections as its rate and the server's
// time make it: all that can be said ahead is how slow the server may be.
func TestLimitsOfOpenLoops(t *testing.T) {
	for _, tt := range []struct {
		name  string
		stage plan.Stage
		l     rlimits
		http2 bool
		want  string // part of the warning; empty: none
	}{
		{"enough", plan.Stage{Rate: 50}, rlimits{files: 1024, ports: 28232, ends: 1}, false, ""},
		{"nothing known", plan.Stage{Rate: 1e6}, rlimits{ends: 1}, false, ""},
		{"files", plan.Stage{Rate: 200}, rlimits{files: 1024, ports: 28232, ends: 1}, false, "take longer than 4.8s"},
		{"files, with the server in this process", plan.Stage{Rate: 200}, rlimits{files: 1024, ends: 2}, false, "take longer than 2.4s"},
		{"ports", plan.Stage{Rate: 200}, rlimits{files: 1 << 20, ports: 1000, ends: 1}, false, "1000 local ports"},
		{"ports of two addresses", plan.Stage{Rate: 198}, rlimits{files: 1 << 20, ports: 1000, pairs: 2, ends: 1}, false, ""},
		{"ports of two addresses, and no more", plan.Stage{Rate: 201}, rlimits{files: 1 << 20, ports: 1000, pairs: 2, ends: 1}, false, "2000 local ports"},
		{"ports, and what to do", plan.Stage{Rate: 201}, rlimits{ports: 1000, ends: 1}, false, "ip_local_port_range, add local addresses with --source-address, or set"},
		{"a ramp's end", plan.Stage{Rate: 1, RampTo: 200}, rlimits{files: 1024, ends: 1}, false, "sends 200 requests/s"},
		{"shared connections", plan.Stage{Rate: 200}, rlimits{files: 1024, ends: 1}, true, ""},
		{"a cap", plan.Stage{Rate: 200, MaxInFlight: 100}, rlimits{files: 1024, ends: 1}, false, ""},
		{"a closed loop", plan.Stage{Concurrency: 100}, rlimits{files: 1024, ends: 1}, false, ""},
	} {
		p := plan.Default()
		p.Target.URLs, p.Target.HTTP2, p.Stages = []string{"http://a"}, tt.http2, []plan.Stage{tt.stage}
		got := ""
		for _, w := range narrowLimits(&p, tt.l) {
			got += w.String() + "\n"
		}
		got = strings.TrimSuffix(got, "\n")
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: warned %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestSystemLimitsAreRead(t *testing.T) {
	if n := openFileLimit(); n < 0 || n > 1<<30 {
		t.Errorf("this process may open %d files", n)
	}
	if n := localPorts(); n < 0 || n > 65536 {
		t.Errorf("%d local ports", n)
	}
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
		change func(c *mock.Config, p *plan.Plan)
		ok     bool
	}{
		{"from the environment", func(c *mock.Config, p *plan.Plan) { p.Target.APIKey.Env = "INFEROMETER_TEST_KEY" }, true},
		{"from a file", func(c *mock.Config, p *plan.Plan) { p.Target.APIKey.File = file }, true},
		{"in a header", func(c *mock.Config, p *plan.Plan) {
			p.Target.Headers = map[string]string{"authorization": "Bearer " + key}
		}, true},
		{"refused", func(c *mock.Config, p *plan.Plan) {
			c.APIKey = "another"
			p.Target.APIKey.Env = "INFEROMETER_TEST_KEY"
			p.Target.Model = "mock"
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p *plan.Plan
			s := serve(t, func(c *mock.Config) {
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

// A server that quotes the key in its answers does not bring it into the records.
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

// A server that sends elsewhere is told of where the model's name is given, too.
func TestTargetThatSendsElsewhere(t *testing.T) {
	moved := httptest.NewServer(http.RedirectHandler("https://elsewhere.test/", http.StatusPermanentRedirect))
	defer moved.Close()
	target := plan.Target{URLs: []string{moved.URL}, Model: "m", Protocol: plan.ProtocolOpenAI}
	var log bytes.Buffer
	p := &setup{plan: &plan.Plan{Target: target}, protocol: registry.Default(os.Getenv).Protocols[plan.ProtocolOpenAI], opt: &Options{Log: &log}}
	if err := p.checkTarget(t.Context(), secrets{tls: new(tls.Config)}); err != nil {
		t.Fatal(err)
	}
	if want := "308 Permanent Redirect, sending on to https://elsewhere.test: give that address"; !strings.Contains(log.String(), want) {
		t.Errorf("it says %q, want %q", &log, want)
	}
}
