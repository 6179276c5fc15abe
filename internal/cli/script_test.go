package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/repository"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/tool"
)

func TestMain(m *testing.M) {
	program := func() { Exit(Main(System("", "", ""))) }
	commands := map[string]func(){"inferometer": program, fails: failing}
	for _, c := range others() {
		commands[c.Name] = program
	}
	testscript.Main(m, commands)
}

// TestScripts runs the scripts of testdata/script, each with servers of its own:
// $MOCK answers, as OpenAI and as Triton, and so does $GRPC, over gRPC; $FAILING is like
// $GRPC and fails half of the requests in the middle, and so is $HALF like $MOCK; $SCRIPTS are those
// of the repository; $BROKEN lists a model and fails
// every request, $PAGE is a web page, $DEAD is nobody.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			closed, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			closed.Close()
			m, g, err := startMock(env)
			if err != nil {
				return err
			}
			half, failing, err := startMock(env, config.Fault{Kind: config.FaultError, Share: 0.5})
			if err != nil {
				return err
			}
			env.Setenv("GORACE", "atexit_sleep_ms=0") // a second for each command otherwise
			scripts, err := filepath.Abs("../../scripts")
			if err != nil {
				return err
			}
			env.Setenv("SCRIPTS", scripts)
			env.Setenv("MOCK", m)
			env.Setenv("GRPC", g)
			env.Setenv("FAILING", failing)
			env.Setenv("HALF", half)
			env.Setenv("DEAD", "http://"+closed.Addr().String())
			env.Setenv("BROKEN", startHTTP(env, broken))
			env.Setenv("PAGE", startHTTP(env, page))
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "namespaces" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return exec.Command("unshare", "--map-root-user", "--net", "--mount", "true").Run() == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "measures": measures, "either": either, "isjson": isJSON, "await": await, "unzstd": unzstd,
		},
	})
}

// startMock starts a mock and gives its addresses over HTTP and gRPC.
func startMock(env interface{ Defer(func()) }, faults ...config.Fault) (overHTTP, overGRPC string, err error) {
	c := config.Default()
	c.Strict = true
	c.Faults = faults
	c.Triton.Models = map[string]repository.Convention{"vllm_model": repository.ConventionVLLM, "ensemble": repository.ConventionTRTLLM, "simple": repository.ConventionAdd}
	c.Latency.TTFT, c.Latency.ITL, c.Output.Tokens = 5*time.Millisecond, time.Millisecond, 6
	s, err := mock.New(c)
	if err != nil {
		return "", "", err
	}
	env.Defer(func() { _ = s.Close() })
	var at []string
	for _, serve := range []func(net.Listener) error{s.Serve, s.ServeGRPC} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", err
		}
		go func() { _ = serve(l) }()
		at = append(at, l.Addr().String())
	}
	return "http://" + at[0], "grpc://" + at[1], nil
}

func startHTTP(env *testscript.Env, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	env.Defer(s.Close)
	return s.URL
}

// broken is a server whose every request fails, and which repeats what it was told.
func broken(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
		return
	}
	w.WriteHeader(http.StatusInternalServerError)
	_, _ = io.WriteString(w, `{"error":{"message":"out of memory for `+r.Header.Get("Authorization")+`"}}`)
}

func page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, "<!doctype html><title>Welcome</title>")
}

// exits CODE COMMAND ARGS… runs a command that must end with the code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS…")
	}
	if got := strconv.Itoa(runs(ts, args[1:])); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

func runs(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	default:
		ts.Fatalf("%v", err)
		return -1
	}
}

// measures COMMAND ARGS… runs a measurement. What its verdict is depends on how busy
// the machine is; the exit code must agree with it.
func measures(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: measures COMMAND ARGS…")
	}
	code := runs(ts, args)
	out := ts.ReadFile("stdout")
	valid := regexp.MustCompile(`(?m)^VALID|"valid": true`).MatchString(out)
	unknown := regexp.MustCompile(`(?m)^INCONCLUSIVE|^  "verdict": \{\n    "status": "inconclusive"|"verdict": "inconclusive"`).MatchString(out)
	worse := regexp.MustCompile(`(?m)^INVALID|"verdict": "invalid"`).MatchString(out)
	unknown = unknown && !worse
	invalid := worse || !unknown && strings.Contains(out, `"valid": false`)
	if codes := map[int]bool{tool.ExitOK: valid && !unknown, tool.ExitRun: invalid, tool.ExitInconclusive: unknown}; !codes[code] {
		ts.Fatalf("exit code %d, and the verdict is valid: %v, invalid: %v, inconclusive: %v", code, valid, invalid, unknown)
	}
}

// either COMMAND ARGS… runs a command whose output does not tell the verdict that its
// exit code stands for.
func either(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: either COMMAND ARGS…")
	}
	if code := runs(ts, args); code > tool.ExitRun && code != tool.ExitInconclusive {
		ts.Fatalf("exit code %d, want that of a verdict", code)
	}
}

// unzstd FROM TO writes a compressed file out.
func unzstd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unzstd FROM TO")
	}
	from, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer from.Close()
	r, err := zstd.NewReader(from)
	ts.Check(err)
	defer r.Close()
	text, err := io.ReadAll(r)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o644))
}

// isjson FILE KEY… makes sure that a file, or stdout, is one JSON object with the keys.
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: isjson FILE KEY…")
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc); err != nil {
		ts.Fatalf("%s is not JSON: %v", args[0], err)
	}
	for _, key := range args[1:] {
		if _, ok := doc[key]; !ok {
			ts.Fatalf("%s has no %q", args[0], key)
		}
	}
}

// await FILE BYTES waits until a file has grown to so many bytes.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE BYTES")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	for begin := time.Now(); time.Since(begin) < 2*time.Minute; <-time.After(5 * time.Millisecond) {
		if info, err := os.Stat(ts.MkAbs(args[0])); err == nil && info.Size() >= size {
			return
		}
	}
	ts.Fatalf("%s did not grow to %d bytes", args[0], size)
}

// FuzzArgs calls commands with any arguments. Nothing is ever sent: runs are dry,
// and the mock only prints its help.
func FuzzArgs(f *testing.F) {
	f.Add("run\nhttp://h:1\n--rate\n5\n--duration\n1s")
	f.Add("run\n--stage\nconcurrency=1,duration=1s\n--stage\nrate=1e99")
	f.Add("plan\nprint\n--concurrency\n-1\n--goodput\nttft:1ms")
	f.Add("plan\nschema")
	f.Add("plan\ncheck\n--budget\ncpu=90%")
	f.Add("report\n.\n--format\njson,csv")
	f.Add("mock\n--fault\nstatus:503=0.5\n--ttft\n-1s")
	f.Add("version")
	f.Add("--help")
	f.Add("rnu\n--concurency")
	f.Add("\x00\n--\n-")
	mutate.Fuzz(f, func(t *testing.T, line string) {
		args := strings.Split(line, "\n")
		if len(line) > 4000 || strings.Contains(line, "/dev") || strings.Contains(line, "/proc") || args[0] == "tokens" {
			return
		}
		switch args[0] {
		case "run":
			args = slices.Insert(args, 1, "--dry-run")
		case "mock":
			args = slices.Insert(args, 1, "--help")
		}
		code, out := call(args...)
		if code < tool.ExitOK || code > tool.ExitUsage {
			t.Errorf("%q: exit code %d", args, code)
		}
		if code != tool.ExitOK && strings.TrimSpace(out) == "" {
			t.Errorf("%q: exit code %d, and not a word", args, code)
		}
	})
}
