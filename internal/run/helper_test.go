package run

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	jsonreport "github.com/inferometer/inferometer/internal/report/jsonreport"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/testkit/schema"
)

// server is a mock with its truth.
type server struct {
	url   string
	mock  *mock.Server
	truth lockedBuffer
	once  sync.Once
}

// lockedBuffer is a buffer for many writers.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serve starts a mock that refuses what it does not know.
func serve(t *testing.T, change func(c *config.Server)) *server {
	t.Helper()
	c := config.Default()
	c.Strict = true
	c.Output.Tokens = 8
	if change != nil {
		change(&c)
	}
	s := &server{}
	var err error
	if s.mock, err = mock.New(c, mock.WithTruth(&s.truth)); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.mock.Serve(l) }()
	s.url = "http://" + l.Addr().String()
	t.Cleanup(s.close)
	return s
}

func (s *server) close() { s.once.Do(func() { _ = s.mock.Close() }) }

// truths ends the server and gives what it knows of the run's requests, by their
// number.
func (s *server) truths(t *testing.T) map[int64]truthfile.Request {
	t.Helper()
	s.close()
	all, err := truthfile.Read(strings.NewReader(s.truth.String()))
	if err != nil {
		t.Fatal(err)
	}
	byNumber := map[int64]truthfile.Request{}
	for _, tr := range all {
		i := strings.LastIndexByte(tr.ID, '-')
		n, err := strconv.ParseInt(tr.ID[i+1:], 10, 64)
		if !strings.HasPrefix(tr.ID, "inferometer-") || err != nil {
			continue // the look at the target, or a connection that was refused
		}
		if _, twice := byNumber[n]; twice {
			t.Errorf("the server saw request %d twice", n)
		}
		byNumber[n] = tr
	}
	return byNumber
}

// closedPlan is a plan of so many requests, with an output directory.
func closedPlan(t *testing.T, url string, concurrency int, requests int64) *plan.Plan {
	t.Helper()
	p := plan.Default()
	p.Target.URLs = []string{url}
	p.Target.NoPreflight = true // tests count what the server sees
	p.Seed = 7
	p.Data.Input.Mean = 12
	p.Stages = []plan.Stage{{Concurrency: concurrency, Requests: requests}}
	p.Output.Dir = filepath.Join(t.TempDir(), "out")
	return &p
}

// published is the schema of result.json.
var published = schema.New(result.JSONSchema())

// mustRun runs a plan that can be run.
func mustRun(t *testing.T, p *plan.Plan) *result.Result {
	t.Helper()
	res, err := Run(t.Context(), p, options(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	asJSON(t, res)
	return res
}

func options(log io.Writer) Options {
	return Options{Kit: registry.Default(os.Getenv), Version: "test", Log: log}
}

// kept is what a run's record file holds.
type kept struct {
	header record.Header
	recs   map[int64]record.Record
	stages []record.StageSummary
}

func readKept(t *testing.T, dir string) kept {
	t.Helper()
	k := kept{recs: map[int64]record.Record{}}
	_, err := record.File{Path: filepath.Join(dir, rundir.RecordsFile)}.Walk(func(l record.Line) error {
		switch {
		case l.Header != nil:
			k.header = *l.Header
		case l.Stage != nil:
			k.stages = append(k.stages, *l.Stage)
		case l.Request != nil:
			if _, twice := k.recs[l.Request.Seq]; twice {
				t.Errorf("request %d was recorded twice", l.Request.Seq)
			}
			k.recs[l.Request.Seq] = copyOf(l.Request)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func copyOf(rec *record.Record) record.Record {
	c := *rec
	c.Marks = append([]record.Read(nil), rec.Marks...)
	c.Events = append([]record.Event(nil), rec.Events...)
	c.Text = append([]byte(nil), rec.Text...)
	if rec.Failure != nil {
		f := *rec.Failure
		c.Failure = &f
	}
	return c
}

// asJSON is a result as result.json has it, which its schema must allow.
func asJSON(t *testing.T, res *result.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := jsonreport.Write(&b, res); err != nil {
		t.Fatal(err)
	}
	if err := published.Check(t, b.Bytes()); err != nil {
		t.Errorf("the result does not fit its schema: %v", err)
	}
	return b.String()
}

func readFile(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// soon is how long a test waits for what must come.
const soon = 30 * time.Second

// until waits for a condition, no longer than a test should.
func until(done func() bool) {
	for begin := time.Now(); !done() && time.Since(begin) < soon; {
		<-time.After(time.Millisecond)
	}
}
