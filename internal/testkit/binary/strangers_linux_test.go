package binary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// Files of strangers cost no more memory than this: so many times their size, unpacked, and so
// many megabytes besides.
const (
	timesFile  = 10
	besidesMB  = 256
	hangsAfter = time.Minute
)

// What says how many broken versions are tried, and which one alone.
const (
	countVariable = "INFEROMETER_MUTATIONS"
	oneVariable   = "INFEROMETER_MUTATION"
)

// usualMutations is how many an ordinary test tries.
const usualMutations = 150

// saved are the runs that broken versions are made of.
const saved = "../../cli/testdata/saved"

// Whatever is wrong with a file that somebody else has made: a report of it, a comparison, an
// export or a check ends by itself, does not panic, and stays within its memory.
func TestBrokenFilesOfStrangers(t *testing.T) {
	if testing.Short() {
		t.Skip("real processes")
	}
	seeds := strangers(t)
	first, n := 0, usualMutations
	if v, err := strconv.Atoi(os.Getenv(countVariable)); err == nil {
		n = v
	}
	if v, err := strconv.Atoi(os.Getenv(oneVariable)); err == nil {
		first, n = v, v+1
	}
	Program(t)
	next := make(chan int)
	var done sync.WaitGroup
	for range 2 {
		done.Go(func() {
			for i := range next {
				tryStranger(t, seeds, i)
			}
		})
	}
	for i := first; i < n; i++ {
		next <- i
	}
	close(next)
	done.Wait()
}

// strangers are the directories and files that broken versions are made of.
func strangers(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{
		saved + "/*/*/requests.jsonl.zst", "../../../examples/*/*.yaml",
		"../../tool/*/testdata/*.json", "../../tool/*/testdata/*.jsonl", "../../tool/*/testdata/*/*.json",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %d files", pattern, err, len(found))
		}
		for _, name := range found {
			if strings.HasSuffix(name, ".zst") {
				name = filepath.Dir(name)
				list = append(list, name, name) // runs of our own are read in most ways
			}
			list = append(list, name)
		}
	}
	return list
}

// tryStranger makes the i-th broken version and reads it in some of the ways there are.
func tryStranger(t *testing.T, seeds []string, i int) {
	random := rand.New(rand.NewPCG(30, uint64(i)))
	seed := seeds[random.IntN(len(seeds))]
	dir, err := os.MkdirTemp("", "inferometer-stranger-*")
	if err != nil {
		t.Error(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, filepath.Base(seed))
	what, size, err := breakInto(random, seed, path)
	if err != nil {
		t.Errorf("%s: %v", seed, err)
		return
	}
	for k, args := range waysToRead(random, dir, path) {
		if fault := readStranger(size, dir, args); fault != "" {
			t.Errorf("%s: %s: %s: %s\nalone: %s=%d, command %d", seed, what, strings.Join(args, " "), fault, oneVariable, i, k+1)
		}
	}
}

// breakInto copies a file or a run with one thing wrong. size is that of all of it, unpacked.
func breakInto(random *rand.Rand, seed, path string) (what string, size int64, err error) {
	info, err := os.Stat(seed)
	if err != nil {
		return "", 0, err
	}
	victim := path
	if info.IsDir() {
		if err := os.CopyFS(path, os.DirFS(seed)); err != nil {
			return "", 0, err
		}
		victim = filepath.Join(path, "requests.jsonl.zst")
		if random.IntN(5) == 0 {
			victim = filepath.Join(path, "plan.yaml")
		}
		seed = filepath.Join(seed, filepath.Base(victim))
	}
	text, err := os.ReadFile(seed)
	if err != nil {
		return "", 0, err
	}
	switch packed := strings.HasSuffix(victim, ".zst"); {
	case packed && random.IntN(5) == 0:
		what, text = mutate.Frames(random, text)
		size = 20 * int64(len(text))
	case packed:
		plain, err := unpack(text)
		if err != nil {
			return "", 0, err
		}
		size = int64(len(plain))
		var broken string
		what, broken = mutate.Document(random, string(plain))
		text = pack([]byte(broken))
	default:
		var broken string
		what, broken = mutate.Document(random, string(text))
		text = []byte(broken)
	}
	return filepath.Base(victim) + ": " + what, size + int64(len(text)), os.WriteFile(victim, text, 0o644)
}

// unpack is what can be read of a zstd file: that of a killed run ends in the middle.
func unpack(packed []byte) ([]byte, error) {
	z, err := zstd.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	var out bytes.Buffer
	_, err = out.ReadFrom(z)
	if out.Len() > 0 {
		err = nil
	}
	return out.Bytes(), err
}

func pack(text []byte) []byte {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // it has no option that can be wrong
	}
	defer z.Close()
	return z.EncodeAll(text, nil)
}

// waysToRead are some of the commands that read a path: the plain one, and two by chance.
func waysToRead(random *rand.Rand, dir, path string) [][]string {
	if strings.HasSuffix(path, ".yaml") {
		return [][]string{{"plan", "check", path}, {"plan", "print", path}}
	}
	all := everyWay(dir, path)
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return append([][]string{{"report", path}}, all[:2]...)
}

// everyWay are the commands that read a run. What they write comes last.
func everyWay(dir, path string) [][]string {
	out := func(name string) string { return filepath.Join(dir, name) }
	all := [][]string{
		{"report", path, "--format", "json,csv,md", "--html", out("page.html")},
		{"compare", saved + "/0.1.0-pre/streamed", path, "--html", out("beside.html")},
		{"compare", path, path, "--html", out("compared.html")},
		{"export", path, "--out", out("requests.csv")},
		{"export", path, "--out", out("requests.parquet")},
		{"export", path, "--format", "profile-export", "--out", out("profile_export.json")},
		{"export", path, "--events", "--out", out("events.jsonl")},
	}
	for _, tool := range []string{"genai-perf", "perf_analyzer", "llm_perf", "inference-perf"} {
		all = append(all, []string{"report", path, "--format", tool, "--out", out(tool)})
	}
	return all
}

// readStranger runs the program and says what is wrong with how it went; empty: nothing.
func readStranger(size int64, dir string, args []string) string {
	most := timesFile*size>>20 + besidesMB
	program, err := program()
	if err != nil {
		return err.Error()
	}
	ctx, cancel := context.WithTimeout(context.Background(), hangsAfter)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `ulimit -d "$0" && exec "$@"`, strconv.FormatInt((most+512)<<10, 10), program}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	used := int64(0)
	if cmd.ProcessState != nil {
		used = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Sprintf("not done after %s", hangsAfter)
	case err != nil && !errors.As(err, &ended):
		return err.Error()
	case bytes.Contains(out, []byte("goroutine ")) || bytes.Contains(out, []byte("out of memory")):
		return fmt.Sprintf("%.3000s", out)
	case ended != nil && !ended.Exited():
		return ended.String()
	case used > most:
		return fmt.Sprintf("%d MB, where %d bytes of files allow %d", used, size, most)
	case ended != nil && len(bytes.TrimSpace(out)) == 0:
		return fmt.Sprintf("exit code %d without a word", ended.ExitCode())
	}
	return ""
}

// What holds nothing to be read again is refused, or waited for until a signal comes.
func TestPipesInPlaceOfFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("real processes")
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "run"), os.DirFS(saved+"/0.1.0-pre/streamed")); err != nil {
		t.Fatal(err)
	}
	records, pipe := filepath.Join(dir, "run", "requests.jsonl.zst"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.Remove(records), syscall.Mkfifo(records, 0o600), syscall.Mkfifo(pipe, 0o600)); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	zero := filepath.Join(dir, "zero")
	if err := errors.Join(os.CopyFS(zero, os.DirFS(saved+"/0.1.0-pre/streamed")), os.Remove(filepath.Join(zero, "requests.jsonl.zst")), os.Symlink("/dev/zero", filepath.Join(zero, "requests.jsonl.zst"))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "run"), pipe, zero} {
		for _, args := range [][]string{
			{"report", path}, {"compare", path, saved + "/0.1.0-pre/streamed"}, {"export", path, "--out", filepath.Join(dir, "out.csv")},
			{"report", path, "--format", "genai-perf"}, {"report", path, "--format", "inference-perf"},
		} {
			code, out := within(t, 500, dir, absolute(t, args)...)
			if code != 2 || !strings.Contains(out, "not a file: save it to a file first") {
				t.Errorf("%s: exit code %d: %s", strings.Join(args, " "), code, out)
			}
		}
	}
	for _, signal := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		endsAt(t, signal, "plan", "check", pipe)
	}
}

// absolute is a command line that means the same in another directory.
func absolute(t *testing.T, args []string) []string {
	t.Helper()
	var list []string
	for _, a := range args {
		if _, err := os.Stat(a); err == nil && strings.Contains(a, "/") {
			if a, err = filepath.Abs(a); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, a)
	}
	return list
}

// endsAt makes sure that a command which waits ends at a signal.
func endsAt(t *testing.T, signal os.Signal, args ...string) {
	t.Helper()
	cmd := exec.Command(Program(t), args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	again := time.NewTicker(50 * time.Millisecond) // it may not have begun to wait yet
	defer again.Stop()
	late := time.After(patience)
	for {
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s: it ended well", strings.Join(args, " "))
			}
			return
		case <-again.C:
			_ = cmd.Process.Signal(signal)
		case <-late:
			_ = cmd.Process.Kill()
			t.Fatalf("%s: deaf to %s", strings.Join(args, " "), signal)
		}
	}
}

// Long texts are held a few times over at most, wherever they stand.
func TestMemoryOfLongTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("real processes")
	}
	const length = 8 << 20
	dir := t.TempDir()
	text := strings.Repeat("a", length)
	prompts, plan := filepath.Join(dir, "prompts.jsonl"), filepath.Join(dir, "long.yaml")
	err := errors.Join(
		os.WriteFile(prompts, []byte(`{"prompt":"`+text+`"}`+"\n"), 0o644),
		os.WriteFile(plan, []byte("target: {urls: [http://127.0.0.1:1], model: m}\ndata: {file: "+prompts+"}\nstages: [{concurrency: 1, requests: 1}]\n"), 0o644),
	)
	if err != nil {
		t.Fatal(err)
	}
	if fault := readStranger(length, dir, []string{"plan", "check", plan}); fault != "" {
		t.Errorf("plan check: %s", fault)
	}
	seed := saved + "/0.1.0-pre/streamed"
	packed, err := os.ReadFile(filepath.Join(seed, "requests.jsonl.zst"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	for name, field := range map[string]string{
		"text": `"text":"` + text + `"`, "request_body": `"request_body":"` + text + `"`, "session": `"session":"` + text + `"`,
		"failure": `"failure":{"class":"http_status","status":500,"message":"` + text + `","at":5}`,
	} {
		path := filepath.Join(dir, name)
		broken := bytes.Replace(plain, []byte("\n"), []byte("\n"+`{"kind":"request","seq":999,"stage":0,"due":1,"ready":1,"sent":1,"written":1,"end":5,`+field+"}\n"), 1)
		if err := errors.Join(os.CopyFS(path, os.DirFS(seed)), os.WriteFile(filepath.Join(path, "requests.jsonl.zst"), pack(broken), 0o644)); err != nil {
			t.Fatal(err)
		}
		for _, args := range everyWay(dir, path) {
			if fault := readStranger(int64(len(broken)), dir, args); fault != "" {
				t.Errorf("%s of %d bytes: %s: %s", name, length, strings.Join(args, " "), fault)
			}
			_ = os.RemoveAll(args[len(args)-1]) // what it has written
		}
	}
}
