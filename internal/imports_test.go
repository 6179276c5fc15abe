// Package internal holds the test of the house: which package may import which.
package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// house says for each package which others it may import: those of this module by
// their name under internal/, modules of others by their full path. The standard
// library is free to all. "a/*" is every package under a, "./*" every one under the
// package itself, and a package that fits no row of its own falls under the first family's
// that covers it. A grant that nobody uses is taken away.
//
// Read it from the bottom: leaves know nothing, and no arrow runs upward: the families, which
// are what stands in front of the first slash, lean on those that come later alone.
var house = []struct{ name, may string }{
	{"cmd/inferometer", "cli"},

	// The edge: arguments, terminal, signals, exit codes.
	{"cli", "tool tool/* clidoc report/screen lib/suggest lib/atomicfile golang.org/x/term"},

	// The contract of a tool, and what all of them run in.
	{"tool", "clidoc message gate pagedata live run run/registry plan plan/planfile record metric result stat report/ci report/html report/md report/progress report/screen lib/* github.com/spf13/pflag golang.org/x/sys run/saved run/abort"},

	// A tool that people know, under one roof: its command line, its definitions, its
	// tables and files, and a run of it. None knows another.
	{"tool/compare", "tool ./report tool/inferometer/args compare gate metric record report/ci report/html report/md result lib/atomicfile"},
	{"tool/compare/report", "compare report/md report/screen lib/number"},
	{"tool/study", "tool tool/importer report/progress ./report tool/inferometer/args tool/profileexport run run/registry plan result report/chart lib/*"},
	{"tool/inferometer", "tool clidoc tool/compare compare gate repeat stat/estimate pagedata report/html ./args cluster cluster/bus tool/selftest run run/registry run/rundir run/search mock plan plan/planfile record result report/console report/csvreport report/export report/jsonreport report/md report/progress tool/profileexport/export remote/storage token lib/access lib/aside lib/suggest lib/number lib/atomicfile github.com/spf13/pflag metric remote/otlp remote/remotewrite report/telemetry report/timeline run/saved run/target run/executor mock/config"},
	{"tool/selftest", "tool clidoc tool/inferometer/args report/progress run run/registry run/rundir mock plan record metric result report/screen golang.org/x/sys github.com/spf13/pflag mock/config mock/truthfile result/build"},
	{"tool/*/args", "clidoc plan plan/planfile plan/document message lib/* go.yaml.in/yaml/v3 github.com/spf13/pflag"},
	{"tool/*/dialect", "record stat lib/pattern lib/promtext"},
	{"tool/genaiperf/report", "tool/genaiperf/dialect report/screen lib/number"},
	{"tool/inferenceperf/report", "tool/inferenceperf/dialect record endpoint/sse lib/orderedjson lib/number"},
	{"tool/analyzerreport", "record sweep"},
	{"tool/vllmbench/report", "tool/vllmbench/dialect lib/orderedjson lib/number lib/pyjson"},
	{"tool/*/report", "report/screen lib/orderedjson lib/number"},
	{"tool/inferenceperf/reader", "lib/pattern"},
	{"tool/inferenceperf/otlp", "tool/inferenceperf/dialect record remote/otlp"},
	{"tool/profileexport/export", "tool/profileexport endpoint/triton prompt/tensor plan record sweep lib/atomicfile result/build"},
	{"tool/profileexport", "record endpoint/sse prompt/tensor lib/truncate"},
	{"tool/importer", "plan record lib/pattern lib/limitio lib/truncate lib/pyjson"},
	{"tool/*", "tool tool/analyzerreport message ./* endpoint tool/importer tool/profileexport tool/profileexport/export run run/registry run/rundir sweep plan plan/planfile probe prompt prompt/* token token/loader record result report/chart report/console report/progress remote/storage stat lib/* run/saved run/target"},

	// What the program says of itself.
	{"clidoc", "docs go.yaml.in/yaml/v3 github.com/spf13/pflag"},

	// Programs beside the product.
	{"bench", "record result golang.org/x/sys mock/truthfile ./*"},
	{"bench/bare", "bench/stats"},
	{"bench/canned", "golang.org/x/sys bench/host"},
	{"bench/host", "golang.org/x/sys"},
	{"bench/stats", ""},
	{"bench/table", ""},

	// How far apart runs are.
	{"compare", "gate run/rundir plan plan/planfile record metric result sample pagedata report/screen stat/estimate sweep/capacity lib/number run/saved"},

	// A run while it goes on, for browsers and for Prometheus.
	{"live", "run plan plan/planfile record metric result stat pagedata report/html lib/access lib/aside golang.org/x/net google.golang.org/protobuf github.com/prometheus/client_model github.com/prometheus/common"},

	// What machines that share a run say to one another, and how their clocks compare.
	{"cluster", "./bus ./clockoffset run run/health run/rundir engine engine/load plan plan/planfile record wire/timedconn lib/cond lib/atomicfile run/executor"},
	{"cluster/bus", "lib/access lib/cond lib/filelock github.com/nats-io/nats-server/v2 github.com/nats-io/nats.go"},
	{"cluster/clockoffset", ""},

	// Plan + kit → live objects → a result. What there is to choose from is in two tables:
	// endpoint/protocols and prompt/sources.
	{"run", "./* gate message pagedata sweep engine engine/load endpoint prompt prompt/synthetic token token/chat token/learned token/loader plan record metric result wire/timedconn remote/hub remote/proxy lib/* result/build"},
	{"run/registry", "gate message probe probe/power probe/prometheus record endpoint endpoint/protocols prompt prompt/* token token/* plan plan/planfile lib/limitio"},
	{"run/abort", "plan record"},
	{"run/breaker", "plan record lib/jmespath"},
	{"run/collect", "endpoint metric plan record stat"},
	{"run/executor", "engine/load lib/aside plan record result run/abort run/collect run/monitor run/rundir run/search sweep engine endpoint sweep/capacity result/build"},
	{"run/monitor", "engine run/collect run/health run/rundir wire/timedconn endpoint lib/aside plan probe record run/registry run/target sweep"},
	{"run/target", "golang.org/x/oauth2 lib/localaddr prompt/media message plan remote/proxy endpoint prompt/tensor engine/load golang.org/x/sys mock prompt record run/collect endpoint/decode lib/limitio mock/config"},
	{"run/search", "gate lib/number metric plan record run/abort stat sweep sweep/capacity result/build"},
	{"run/saved", "plan record result gate metric sample stat/estimate run/rundir pagedata lib/atomicfile lib/limitio message plan/planfile run/search stat sweep result/build"},
	{"run/rundir", "plan plan/planfile record result report/csvreport report/jsonreport lib/* result/build"},
	{"run/health", "record golang.org/x/sys"},

	// Records → figures → paper.
	{"report/chart", "golang.org/x/image"},
	{"report/screen", "lib/pattern"},
	{"report/telemetry", "metric record result remote/otlp remote/remotewrite report/timeline"},
	{"report/timeline", "metric record"},
	{"report/html", "pagedata"},
	{"report/export", "metric plan record result lib/csvsafe github.com/parquet-go/parquet-go result/build"},
	{"report/progress", "report/screen lib/aside lib/number"},
	{"report/*", "report/screen record repeat result lib/csvsafe lib/number"},
	{"repeat", "metric result stat/estimate lib/number"},
	{"pagedata", "result metric plan plan/planfile record lib/truncate"},
	{"sample", "metric plan record result stat stat/estimate"},
	{"gate", "metric plan result stat sweep/capacity lib/pattern lib/truncate lib/suggest lib/number"},
	{"result/build", "result message metric plan plan/planfile record stat sweep lib/pattern lib/number sweep/capacity cost lib/truncate probe/servermetrics probe"},
	{"result", "metric sweep sweep/capacity plan probe record lib/number"},
	{"metric", "cost record stat stat/estimate plan"},

	// The path of a request.
	{"sweep", "plan probe record stat"},
	{"sweep/capacity", ""},
	{"engine", "./load prompt endpoint record"},
	{"engine/load", "plan lib/mersenne golang.org/x/sys"},
	{"endpoint/protocols", "endpoint endpoint/* plan prompt"},
	{"endpoint", "message prompt prompt/tensor plan probe record wire/timedconn"},
	{"endpoint/triton", "endpoint message endpoint/decode endpoint/body endpoint/sse probe probe/triton prompt prompt/tensor prompt/tensor/shm prompt/tensor/v2http plan record token remote/proxy wire/* lib/* google.golang.org/protobuf"},
	{"endpoint/decode", "endpoint/sse prompt record token lib/truncate lib/jsonscan"},
	{"endpoint/body", "prompt"},
	{"endpoint/replica", "endpoint prompt plan record remote/proxy wire/timedconn wire/h2 wire/http1"},
	{"endpoint/sse", ""},
	{"endpoint/decodetest", "record"},
	{"endpoint/*", "endpoint message endpoint/decode endpoint/body endpoint/replica endpoint/sse prompt prompt/tensor plan record token/chat remote/proxy wire/http1 lib/jsonscan lib/localaddr"},

	// What servers say of themselves.
	{"probe/triton", "probe/prometheus remote/proxy wire/timedconn wire/grpc wire/http1 plan record lib/promtext lib/kserve"},
	{"probe/prometheus", "message probe probe/servermetrics remote/google plan record lib/promtext lib/localaddr"},
	{"probe/servermetrics", "record stat lib/promtext"},
	{"probe/power", "record"},
	{"probe", "record"},

	// Where prompts and token counts come from.
	{"prompt/sources", "prompt prompt/* plan"},
	{"prompt", "plan ./tensor lib/limitio lib/numpy github.com/cespare/xxhash/v2"},
	{"prompt/tensor/*", "prompt/tensor plan lib/limitio lib/jsonscan"},
	{"prompt/tensor", "message lib/truncate lib/jsonscan"},
	{"prompt/azure", "plan"},
	{"prompt/media", ""},
	{"prompt/sessionfilter", "lib/jmespath"},
	{"prompt/rows", "lib/limitio github.com/parquet-go/parquet-go"},
	{"prompt/lexicon", "prompt plan"},
	{"prompt/replay", "prompt plan remote/hub lib/limitio"},
	{"prompt/blocktext", "prompt prompt/lexicon plan"},
	{"prompt/*", "message prompt prompt/azure prompt/blocktext prompt/lexicon prompt/media prompt/multimodal prompt/replay prompt/rows prompt/sessionfilter prompt/tensor prompt/tensor/inputdata plan token/chat token/jinja remote/hub lib/* golang.org/x/crypto"},
	{"token", "./* lib/jsonscan"},
	{"token/chat", "token/jinja"},
	{"token/jinja", "lib/jsonscan lib/number"},
	{"token/sentencepiece", "token token/bpe token/trie google.golang.org/protobuf"},
	{"token/loader", "token token/* remote/hub lib/limitio lib/jsonscan"},
	{"token/*", "token token/* lib/jsonscan"},

	// Bytes on the network, stamped.
	{"wire/grpc", "wire/timedconn wire/h2 wire/http1 record lib/limitio"},
	{"wire/h2", "wire/timedconn wire/http1 record golang.org/x/net"},
	{"wire/http1", "wire/timedconn record lib/truncate"},
	{"wire/timedconn", "record lib/localaddr golang.org/x/sys"},

	// What is elsewhere, and the way there.
	{"remote/hub", "lib/*"},
	{"remote/hub/hubtest", ""},
	{"remote/storage", "plan remote/google github.com/minio/minio-go/v7 gopkg.in/ini.v1"},
	{"remote/google", "lib/pattern golang.org/x/oauth2"},
	{"remote/otlp", "lib/protostruct google.golang.org/protobuf"},
	{"remote/remotewrite", "lib/protostruct github.com/klauspost/compress"},
	{"remote/proxy", "plan golang.org/x/net"},

	// The yardstick shares nothing with what it measures but the definition of messages.
	{"mock", "./repository lib/kserve golang.org/x/net google.golang.org/protobuf mock/timer mock/config mock/latency mock/body mock/truthfile mock/cert mock/schema"},
	{"mock/config", "github.com/spf13/pflag mock/repository"},
	{"mock/body", "mock/config"},
	{"mock/cert", "mock/config"},
	{"mock/schema", ""},
	{"mock/latency", "mock/config"},
	{"mock/truthfile", "mock/body"},
	{"mock/timer", "golang.org/x/sys"},
	{"mock/repository", "google.golang.org/protobuf"},

	// The nouns.
	{"plan/planfile", "message plan plan/document lib/truncate lib/localaddr lib/suggest go.yaml.in/yaml/v3"},
	{"plan/document", "plan lib/truncate go.yaml.in/yaml/v3"},
	{"plan", "message lib/truncate lib/suggest"},
	{"message", "lib/pattern"},
	{"record", "lib/limitio lib/jsonscan lib/frames github.com/klauspost/compress"},
	{"stat/estimate", "stat"},
	{"stat", ""},
	{"cost", ""},

	// Small tools without a word of the trade in them, and what tests need.
	{"lib/frames", "github.com/klauspost/compress"},
	{"lib/kserve", "google.golang.org/protobuf"},
	{"lib/protostruct", "google.golang.org/protobuf"},
	{"lib/promtext", "github.com/prometheus/common"},
	{"lib/localaddr", "golang.org/x/sys"},
	{"lib/filelock", "golang.org/x/sys"},
	{"lib/jmespath", "github.com/jmespath-community/go-jmespath"},
	{"lib/*", ""},
	{"docs", ""},
	{"testkit/*", "github.com/santhosh-tekuri/jsonschema/v6 go.yaml.in/yaml/v3"},
}

// ends may end the program, listen for signals and read the environment.
var ends = []string{"cli", "cmd/inferometer", "bench", "bench/host"}

// module is the path of the module, with a slash.
var module = func() string {
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		panic(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimPrefix(first, "module ") + "/"
}()

// shortName is a package's name in the table.
func shortName(importPath string) string {
	return strings.TrimPrefix(strings.TrimPrefix(importPath, module), "internal/")
}

// rowOf is the place of a package's row in the table; -1: there is none.
func rowOf(name string) int {
	for i, r := range house {
		if r.name == name {
			return i
		}
	}
	return slices.IndexFunc(house, func(r struct{ name, may string }) bool { return covers(r.name, name) })
}

// familyOf is what stands in front of the first slash of a package's name.
func familyOf(name string) string {
	family, _, _ := strings.Cut(name, "/")
	return family
}

// upward reports whether an import is of a family that the table has above the importer's.
func upward(from, to string) bool {
	first := func(family string) int {
		return slices.IndexFunc(house, func(r struct{ name, may string }) bool { return familyOf(r.name) == family })
	}
	return first(familyOf(to)) < first(familyOf(from))
}

// covers reports whether a pattern names a package: "a/*" is all under a, and "a/*/b" is b
// of everything in a.
func covers(pattern, name string) bool {
	before, after, ok := strings.Cut(pattern, "*")
	return ok && strings.HasPrefix(name, before) && len(name) > len(pattern)-1 && strings.HasSuffix(name, after)
}

// allows gives the first of the grants that covers an import of a package.
func allows(may []string, pkg, name string) (grant string, ok bool) {
	for _, grant := range may {
		m := grant
		if below, ok := strings.CutPrefix(grant, "./"); ok {
			m = pkg + "/" + below
		}
		if m == name || covers(m, name) || strings.Contains(m, ".") && strings.HasPrefix(name, m+"/") {
			return grant, true
		}
	}
	return "", false
}

// source is one file of the module.
type source struct {
	pkg  string // name in the table
	file string
	tree *ast.File
	set  *token.FileSet
}

func (s source) test() bool { return strings.HasSuffix(s.file, "_test.go") }

// sources are the files of the module that go into a build, on any platform.
func sources(t *testing.T) []source {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(everything(t)), func(s source) bool {
		return s.test() || strings.HasPrefix(s.file, "deploy/") || strings.HasPrefix(s.file, "scripts/")
	})
}

// everything is every Go file of this repository.
func everything(t *testing.T) []source {
	t.Helper()
	all, err := parseAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d files found: the test looks in the wrong place", len(all))
	}
	return all
}

var parseAll = sync.OnceValues(func() ([]source, error) {
	var all []source
	set := token.NewFileSet()
	for _, root := range []string{"../cmd", "../docs", "../internal", "../bench", "../deploy", "../scripts"} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if base := d.Name(); d.IsDir() && (base == "testdata" || strings.HasPrefix(base, "_") || len(base) > 2 && base[0] == '.') {
				return fs.SkipDir
			}
			if !strings.HasSuffix(name, ".go") {
				return nil
			}
			tree, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			pkg := shortName(module + strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), "../"))
			all = append(all, source{pkg: pkg, file: strings.TrimPrefix(filepath.ToSlash(name), "../"), tree: tree, set: set})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
})

func imports(f *ast.File) []string {
	var list []string
	for _, i := range f.Imports {
		if name, err := strconv.Unquote(i.Path.Value); err == nil {
			list = append(list, name)
		}
	}
	return list
}

// standard reports whether a package is of the standard library.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".") && !strings.HasPrefix(importPath, module)
}

func TestDirectionOfImports(t *testing.T) {
	used := make([]map[string]bool, len(house)) // grants, by row; nil: it is nobody's
	for _, s := range sources(t) {
		row := rowOf(s.pkg)
		if row < 0 {
			t.Errorf("package %s has no row in the table of this test: say what it may import", s.pkg)
			continue
		}
		if used[row] == nil {
			used[row] = map[string]bool{}
		}
		may := strings.Fields(house[row].may)
		for _, i := range imports(s.tree) {
			if standard(i) {
				continue
			}
			name := shortName(i)
			grant, ok := allows(may, s.pkg, name)
			switch {
			case !ok:
				t.Errorf("%s: %s must not import %s; it may import: %s", s.file, s.pkg, name, strings.Join(may, ", "))
			case strings.HasPrefix(i, module) && upward(s.pkg, name):
				t.Errorf("%s: %s imports %s: an arrow runs upward", s.file, s.pkg, name)
			}
			used[row][grant] = true
		}
	}
	for i, r := range house {
		if used[i] == nil {
			t.Errorf("the table has a row for %s, which does not exist", r.name)
		}
		for _, grant := range strings.Fields(r.may) {
			if !used[i][grant] {
				t.Errorf("the table lets %s import %s, which it does not: take the grant away", r.name, grant)
			}
		}
	}
}

// roof is the tool that a package belongs to, if it does to one. What profile exports are and
// what readers of other tools' files share is no tool's own, and studies, self-tests and
// comparisons are commands of ours.
func roof(pkg string) string {
	parts := strings.SplitN(pkg, "/", 3)
	switch {
	case len(parts) < 2 || parts[0] != "tool" || slices.Contains([]string{"profileexport", "importer", "analyzerreport"}, parts[1]):
		return ""
	case parts[1] == "study" || parts[1] == "selftest" || parts[1] == "compare":
		return "inferometer"
	}
	return parts[1]
}

// The promises that the design makes, whatever the table says.
func TestDesignIsKept(t *testing.T) {
	for _, s := range sources(t) {
		for _, i := range imports(s.tree) {
			if standard(i) {
				continue
			}
			if broken := promiseBroken(s.pkg, shortName(i)); broken != "" {
				t.Errorf("%s: %s imports %s: %s", s.file, s.pkg, shortName(i), broken)
			}
		}
	}
}

// promiseBroken says which promise an import breaks.
func promiseBroken(from, to string) string {
	in := func(name string, families ...string) bool {
		return slices.ContainsFunc(families, func(f string) bool { return name == f || strings.HasPrefix(name, f+"/") })
	}
	first, _, _ := strings.Cut(to, "/")
	ours := !strings.Contains(first, ".")
	switch {
	case roof(from) != "" && roof(to) != "" && roof(from) != roof(to):
		return "tools do not know one another"
	case in(to, "tool") && !in(from, "tool", "cli"):
		return "nothing below the tools knows one of them"
	case in(from, "wire") && ours && !in(to, "wire", "record", "lib"):
		return "wire knows records alone"
	case in(from, "mock") && ours && !in(to, "mock", "lib/kserve"):
		return "the mock shares nothing with what it measures"
	case in(from, "run") && in(to, "endpoint") && !slices.Contains([]string{"endpoint", "endpoint/decode", "endpoint/protocols"}, to):
		return "a run knows protocols by their table alone"
	case in(from, "engine", "endpoint", "wire", "prompt") && in(to, "metric", "result", "report"):
		return "measuring knows nothing of judging"
	case in(from, "lib", "testkit") && ours:
		return "small tools know nothing of the trade"
	case in(from, "stat") && ours && to != "stat":
		return "maths is pure"
	case in(to, "testkit"):
		return "what tests need is for tests"
	case strings.HasSuffix(from, "/args") && in(to, "run", "record", "engine"):
		return "a command line runs nothing"
	}
	return ""
}

// Breaking a rule is noticed.
func TestBrokenRulesAreNoticed(t *testing.T) {
	for _, c := range [][2]string{
		{"tool/llmperf", "tool/genaiperf/args"}, {"tool/study", "tool/perfanalyzer"}, {"run", "tool/inferometer"}, {"report/csvreport", "tool"},
		{"wire/h2", "plan"}, {"wire/timedconn", "endpoint"}, {"mock", "endpoint/sse"}, {"mock/repository", "record"},
		{"run", "endpoint/triton"}, {"run/registry", "endpoint/openai"}, {"engine", "metric"}, {"prompt/random", "result"},
		{"lib/limitio", "plan"}, {"stat", "record"}, {"cli", "testkit/adversary"}, {"tool/inferometer/args", "run/registry"},
	} {
		if promiseBroken(c[0], c[1]) == "" {
			t.Errorf("%s may import %s", c[0], c[1])
		}
	}
	for _, c := range [][2]string{{"run", "os.Getenv"}, {"remote/proxy", "httpproxy.FromEnvironment"}, {"tool", "os.UserHomeDir"}, {"testkit/adversary", "os.Exit"}} {
		if !forbidden(c[0], c[1]) {
			t.Errorf("%s may call %s", c[0], c[1])
		}
	}
	for _, c := range [][2]string{{"plan", "run"}, {"probe/triton", "endpoint/sse"}, {"record", "wire/timedconn"}, {"sweep", "result"}, {"engine", "run/collect"}} {
		if !upward(c[0], c[1]) {
			t.Errorf("%s → %s does not run upward", c[0], c[1])
		}
	}
	for _, name := range []string{"GenAI-Perf", "FormGenAIPerf", "perf_analyzer", "Perf Analyzer", "llm_perf", "inference-perf", "inferenceperf"} {
		if !tools.MatchString(name) {
			t.Errorf("%s is not seen as a tool's name", name)
		}
	}
}
