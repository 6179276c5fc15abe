//go:build linux

package adversary

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/binary"
)

// situation is a way to be misled. Every VALID result is held against what the server
// knows of latencies, counts and tokens; truth adds what it cannot know.
type situation struct {
	name   string
	lie    string               // what was believed, or would be
	server func() func(*call)   // how it answers; called once for each play
	args   []string             // of inferometer run, after the URL
	env    []string             // added to the program's environment
	limit  string               // of the shell, ahead of the program: "ulimit -n 64"
	before func(*play)          // ahead of the program
	during func(*play)          // beside the program
	after  func(*play)          // once it has ended; it may run it again
	run    func(*play) []string // the whole command line, in place of run URL ARGS --out DIR
	truth  []claim              // of a VALID result
	always []claim              // of any end
	// healthy: nothing is wrong, and nearly all plays must end VALID.
	healthy bool
	// quick: part of make test.
	quick bool
	over  []wire // what the server speaks
	// host: the lie is one that a check of the host's own state must find. All others are
	// told though the host is busy.
	host bool
	// anyway: the bars of what is not VALID are held against the truth too.
	anyway bool
	// alone: it takes so much of the machine that no other is played beside it.
	alone bool
}

// play is one situation under way, and what came of it.
type play struct {
	*situation
	t       testing.TB
	aloud   bool // every figure is printed beside its truth
	program string
	server  *server
	dir     string   // where the run writes
	tmp     string   // for files of the situation
	env     []string // as the situation's; before may add to it
	limit   string   // as the situation's; before may set it
	second  *server  // where there are two
	mocks   []string // addresses of the program's own mock, where there is one
	ends    []func() // of what before has started
	// truthFile is where the program's own mock writes down what it sends; empty: the
	// situation's own server is the one that is measured.
	truthFile string

	process *os.Process // of the program

	code           int
	stdout, stderr string
	result         *document // nil: there is none
	reported       *document // made after the run, in its place
	records        map[int64]*record.Record
	calls          []*call
	took           time.Duration
	late, mean     time.Duration // of the server: the worst, and on average
	slack          float64       // how far what the server wrote down can be off, in milliseconds
}

// patience is more than any play takes on the slowest machine.
const patience = 5 * time.Minute

// judgeOne plays a situation once and holds what came of it against the truth.
func judgeOne(t testing.TB, s *situation) judged {
	tmp, err := os.MkdirTemp("", "liar")
	if err != nil {
		t.Error(err)
		return judged{play: &play{situation: s}}
	}
	defer os.RemoveAll(tmp)
	begin := time.Now()
	p := perform(t, s, tmp)
	p.took = time.Since(begin)
	return hold(p)
}

func perform(t testing.TB, s *situation, tmp string) *play {
	p := &play{situation: s, t: t, aloud: os.Getenv("INFEROMETER_ADVERSARY_FIGURES") != "", program: binary.Program(t), tmp: tmp, dir: filepath.Join(tmp, "out"), env: s.env, limit: s.limit, slack: path}
	p.server = serve(t, s.server(), s.over...)
	defer p.server.close()
	defer p.endAll()
	if s.before != nil {
		s.before(p)
		p.server.forget()
	}
	args := append([]string{"run", p.server.url}, s.args...)
	if s.run != nil {
		args = s.run(p)
	} else {
		args = append(args, "--out", p.dir)
	}
	p.start(s.during, args...)
	if s.after != nil {
		s.after(p)
	}
	p.server.close()
	p.endAll()
	p.calls, p.late, p.mean = p.server.seen(), p.server.dog.late(), p.server.dog.mean()
	if p.second != nil {
		p.second.close()
		p.calls = append(p.calls, p.second.seen()...)
	}
	if p.truthFile != "" {
		p.calls = readTruth(p.truthFile)
	}
	if p.result = p.reported; p.result == nil {
		p.result = readResult(p.find("result.json"))
	}
	p.records = readRecords(p.find("requests.jsonl.zst"))
	p.number()
	return p
}

// endAll ends what before has started, once.
func (p *play) endAll() {
	for _, end := range p.ends {
		end()
	}
	p.ends = nil
}

// find is where a file of the run is; other tools' names have it below directories of theirs.
func (p *play) find(base string) string {
	found := filepath.Join(p.dir, base)
	_ = filepath.WalkDir(p.dir, func(name string, _ os.DirEntry, _ error) error {
		if filepath.Base(name) == base {
			found = name
		}
		return nil
	})
	return found
}

// start runs the program to its end, or to that of patience, and something beside it.
func (p *play) start(during func(*play), args ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.program, args...)
	if p.limit != "" {
		cmd = exec.CommandContext(ctx, "sh", append([]string{"-c", p.limit + ` && exec "$0" "$@"`, p.program}, args...)...)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &stdout, &stderr, p.tmp
	cmd.Env = append(environment(), p.env...)
	if err := binary.Start(cmd); err != nil {
		p.t.Errorf("%s: starting the program: %v", p.name, err)
		return
	}
	p.process = cmd.Process
	var beside sync.WaitGroup
	if during != nil {
		beside.Go(func() { during(p) })
	}
	err := cmd.Wait()
	beside.Wait()
	p.code, p.stdout, p.stderr = cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Errorf("%s: running the program: %v", p.name, err)
	}
	if ctx.Err() != nil {
		p.t.Errorf("%s: the program did not end within %v", p.name, patience)
	}
}

// environment is that of the test without what would change a run.
func environment() []string {
	var env []string
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		switch strings.ToLower(name) {
		case "http_proxy", "https_proxy", "no_proxy", "all_proxy", "gogc", "gomaxprocs", "godebug":
		default:
			env = append(env, e)
		}
	}
	return env
}

// pass lets time go by while the program runs; it reports whether it still does.
func (p *play) pass(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
	return p.process.Signal(nothing) == nil
}

// called waits until the server has had so many calls; false: the program has ended before.
func (p *play) called(n int) bool {
	for begin := time.Now(); time.Since(begin) < patience; {
		if len(p.server.seen()) >= n {
			return true
		}
		if !p.pass(5 * time.Millisecond) {
			return false
		}
	}
	return false
}

// verdict is what the program calls its figures; empty where it has none.
func (p *play) verdict() string {
	switch {
	case p.result != nil && p.result.Verdict.Word != "":
		return strings.ToUpper(p.result.Verdict.Word)
	case p.result != nil && p.result.Verdict.Valid:
		return "VALID"
	case p.result != nil:
		return "INVALID"
	}
	for line := range strings.Lines(p.stdout + "\n" + p.stderr) {
		for _, w := range []string{"INVALID", "INCONCLUSIVE", "VALID"} {
			if strings.HasPrefix(strings.TrimPrefix(strings.ToUpper(line), "VERDICT: "), w) {
				return w
			}
		}
	}
	if p.code == 0 {
		return "VALID" // it says no more than that all is well
	}
	return ""
}

// readRecords reads the records of a run by their sequence number.
func readRecords(name string) map[int64]*record.Record {
	all := map[int64]*record.Record{}
	err := record.File{Path: name}.Requests(func(rec *record.Record) error {
		c := *rec
		c.Marks, c.Events, c.Body, c.Text = nil, nil, nil, nil
		all[c.Seq] = &c
		return nil
	})
	if err != nil {
		return nil
	}
	return all
}

// number gives calls the ids that a tool's client does not send, as the tool it stands in for does
// not: the k-th that came is the k-th that was sent.
func (p *play) number() {
	if slices.ContainsFunc(p.calls, func(c *call) bool { return c.id != "" }) {
		return
	}
	sent := slices.DeleteFunc(slices.Collect(maps.Values(p.records)), func(r *record.Record) bool { return r.Sent == record.Never })
	slices.SortFunc(sent, func(a, b *record.Record) int { return cmp.Compare(a.Sent, b.Sent) })
	came := slices.SortedFunc(slices.Values(p.calls), func(a, b *call) int { return a.arrived.Compare(b.arrived) })
	for k := range min(len(sent), len(came)) {
		came[k].id = strconv.FormatInt(sent[k].Seq, 10)
	}
}

// seq is the number at the end of a request's id; -1: it is none of the run's. The request
// ahead of the run comes first, and has the number of a second turn.
func (c *call) seq() int64 {
	n, err := strconv.ParseInt(c.id[strings.LastIndexByte(c.id, '-')+1:], 10, 64)
	if err != nil || n == 1<<40 && c.n == 0 {
		return -1
	}
	return n
}
