// Package internal holds the test of the house: which package may import which.
package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// house says for each package which others it may import: those of this module by
// their name under internal/, modules of others by their full path. The standard
// library is free to all. "a/*" is every package under a, and a package that fits no
// row of its own falls under the first family's that covers it. A grant that nobody uses is
// taken away.
//
// Read it from the bottom: leaves know nothing, and each row may only lean on what
// stands below it.
var house = []struct{ name, may string }{
	{"cmd/inferometer", "cli"},

	// The edge: arguments, terminal, signals, exit codes.
	{"cli", "tool tool/* report/screen lib/nearest golang.org/x/term"},

	// The contract of a tool, and what all of them run in.
	{"tool", "run run/kit plan result stat report/progress report/screen lib/* github.com/spf13/pflag"},

	// A tool that people know, under one roof: its command line, its definitions, its
	// tables and files, and a run of it. None knows another.
	{"tool/genaiperf", "tool tool/genaiperf/* tool/profileexport tool/profileexport/export run run/kit plan prompt prompt/pooled prompt/tensor record result report/chart token token/source lib/*"},
	{"tool/perfanalyzer", "tool report/progress tool/perfanalyzer/* tool/profileexport tool/profileexport/export run run/kit sweep plan probe prompt prompt/tensor/inputdata prompt/tensordata record result lib/*"},
	{"tool/llmperf", "tool tool/llmperf/* run run/kit plan prompt prompt/promptfile record result lib/wholefile"},
	{"tool/inferenceperf", "tool report/console report/progress tool/inferenceperf/* run run/kit sweep plan prompt record result report/chart endpoint remote/storage stat token/source lib/*"},
	{"tool/study", "tool report/progress tool/study/report tool/native/args tool/profileexport run plan result report/chart lib/*"},
	{"tool/native", "tool tool/native/args tool/selftest run run/kit mock plan record result report/console report/csv report/json report/progress remote/storage token lib/nearest github.com/spf13/pflag"},
	{"tool/selftest", "tool tool/native/args report/progress run run/kit mock plan record metric result report/screen golang.org/x/sys github.com/spf13/pflag"},
	{"tool/*/args", "plan lib/* go.yaml.in/yaml/v3 github.com/spf13/pflag"},
	{"tool/*/dialect", "record stat lib/exposition"},
	{"tool/genaiperf/report", "tool/genaiperf/dialect report/screen lib/number"},
	{"tool/inferenceperf/report", "tool/inferenceperf/dialect record endpoint/sse lib/number"},
	{"tool/*/report", "report/screen lib/number"},
	{"tool/inferenceperf/reader", ""},
	{"tool/inferenceperf/otlp", "tool/inferenceperf/dialect record google.golang.org/protobuf"},
	{"tool/profileexport/export", "tool/profileexport endpoint/triton prompt/tensor plan record result sweep lib/wholefile"},
	{"tool/profileexport", "record endpoint/sse prompt/tensor lib/brief"},

	// Plan + kit → live objects → a result. These two alone know concrete types.
	{"run", "run/* sweep engine engine/load endpoint endpoint/* prompt plan probe record metric result report/csv report/json mock wire/clock prompt/tensor stat remote/hub lib/* golang.org/x/sys"},
	{"run/kit", "probe probe/* endpoint endpoint/* prompt prompt/* token token/* plan lib/bounded"},
	{"run/breaker", "plan record lib/jmespath"},
	{"run/collect", "endpoint record"},
	{"run/health", "record golang.org/x/sys"},

	// The path of a request.
	{"sweep", "plan probe record stat"},
	{"engine", "engine/load prompt endpoint record"},
	{"engine/load", "plan golang.org/x/sys"},
	{"endpoint", "prompt prompt/tensor plan record wire/clock"},
	{"endpoint/triton", "endpoint endpoint/answer endpoint/proxy endpoint/sse prompt prompt/tensor prompt/tensor/shm prompt/tensor/v2http plan record token wire/* lib/* google.golang.org/protobuf"},
	{"endpoint/answer", "endpoint/sse prompt record token lib/brief lib/jsonscan"},
	{"endpoint/body", "prompt"},
	{"endpoint/proxy", "plan golang.org/x/net"},
	{"endpoint/replica", "endpoint endpoint/proxy prompt plan record wire/clock wire/h2 wire/http1"},
	{"endpoint/sse", ""},
	{"endpoint/answertest", "record"},
	{"endpoint/*", "endpoint endpoint/answer endpoint/body endpoint/proxy endpoint/replica endpoint/sse prompt prompt/tensor plan record token/chat wire/http1 lib/jsonscan"},
	{"wire/grpc", "wire/clock wire/h2 wire/http1 record lib/bounded"},
	{"wire/h2", "wire/clock wire/http1 record golang.org/x/net"},
	{"wire/http1", "wire/clock record lib/brief"},
	{"wire/clock", "record golang.org/x/sys"},

	// Where prompts and token counts come from.
	{"prompt", "plan prompt/tensor lib/bounded"},
	{"prompt/tensor/*", "prompt/tensor lib/bounded lib/jsonscan"},
	{"prompt/tensor", "lib/brief lib/jsonscan"},
	{"prompt/azure", "plan"},
	{"prompt/media", ""},
	{"prompt/sessionfilter", ""},
	{"prompt/rows", "lib/bounded github.com/parquet-go/parquet-go"},
	{"prompt/lexicon", "prompt plan"},
	{"prompt/recorded", "prompt plan remote/hub lib/bounded"},
	{"prompt/*", "prompt prompt/azure prompt/lexicon prompt/media prompt/recorded prompt/rows prompt/sessionfilter prompt/tensor prompt/tensor/inputdata plan token/chat remote/hub lib/* golang.org/x/crypto"},
	{"token", "token/* lib/jsonscan"},
	{"token/chat", "lib/jsonscan lib/number"},
	{"token/source", "token token/* remote/hub lib/bounded lib/jsonscan"},
	{"token/*", "token token/* lib/jsonscan"},

	// What servers say of themselves.
	{"probe/triton", "probe/prometheus endpoint/proxy wire/clock wire/grpc wire/http1 plan record lib/exposition lib/kserve google.golang.org/protobuf"},
	{"probe/prometheus", "probe probe/serving remote/google plan record lib/exposition"},
	{"probe/serving", "record stat lib/exposition"},
	{"probe", "record"},

	// Records → figures → paper.
	{"report/chart", "gonum.org/v1/plot"},
	{"report/screen", ""},
	{"report/*", "report/screen record result lib/number"},
	{"result", "metric sweep plan probe probe/serving record stat"},
	{"metric", "record stat"},

	// The nouns.
	{"plan", "lib/brief lib/nearest go.yaml.in/yaml/v3"},
	{"record", "lib/jsonscan github.com/klauspost/compress"},
	{"stat", ""},

	// Files that are elsewhere.
	{"remote/hub", "lib/bounded lib/brief golang.org/x/sys"},
	{"remote/hub/hubtest", ""},
	{"remote/storage", "plan remote/google github.com/minio/minio-go/v7 gopkg.in/ini.v1"},
	{"remote/google", "golang.org/x/oauth2"},

	// The yardstick shares nothing with what it measures but the generated messages.
	{"mock", "mock/repository lib/kserve github.com/spf13/pflag golang.org/x/sys golang.org/x/net google.golang.org/protobuf"},
	{"mock/repository", "lib/kserve google.golang.org/protobuf"},

	// Small tools without a word of the trade in them, and what tests need.
	{"lib/kserve", "google.golang.org/protobuf"},
	{"lib/exposition", "github.com/prometheus/common"},
	{"lib/jmespath", "github.com/jmespath-community/go-jmespath"},
	{"lib/*", ""},
	{"testkit/*", ""},

	// Programs beside the product.
	{"bench", "mock record result golang.org/x/sys"},
}

// ends may end the program or listen for signals.
var ends = []string{"cli", "cmd/inferometer", "bench"}

const module = "inferometer/"

// shortName is a package's name in the table.
func shortName(importPath string) string {
	return strings.TrimPrefix(strings.TrimPrefix(importPath, module), "internal/")
}

// rowOf is the row of a package, and what that lets it import.
func rowOf(name string) (row string, may []string, ok bool) {
	for _, r := range house {
		if r.name == name {
			return r.name, strings.Fields(r.may), true
		}
	}
	for _, r := range house {
		if covers(r.name, name) {
			return r.name, strings.Fields(r.may), true
		}
	}
	return "", nil, false
}

// covers reports whether a pattern names a package: "a/*" is all under a, and "a/*/b" is b
// of everything in a.
func covers(pattern, name string) bool {
	before, after, ok := strings.Cut(pattern, "*")
	return ok && strings.HasPrefix(name, before) && len(name) > len(pattern)-1 && strings.HasSuffix(name, after)
}

// allows gives the first of the patterns that covers an import.
func allows(may []string, name string) (grant string, ok bool) {
	for _, m := range may {
		if m == name || covers(m, name) || strings.Contains(m, ".") && strings.HasPrefix(name, m+"/") {
			return m, true
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

// sources parses every file of the module that goes into a build, on any platform.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	set := token.NewFileSet()
	for _, root := range []string{"../cmd", "../internal", "../bench"} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if base := d.Name(); d.IsDir() && (base == "testdata" || strings.HasPrefix(base, "_") || len(base) > 2 && base[0] == '.') {
				return fs.SkipDir
			}
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
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
			t.Fatal(err)
		}
	}
	if len(all) < 50 {
		t.Fatalf("only %d files found: the test looks in the wrong place", len(all))
	}
	return all
}

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
	seen, rows := map[string]bool{}, map[string]bool{}
	used := map[[2]string]bool{} // row and grant
	for _, s := range sources(t) {
		row, may, ok := rowOf(s.pkg)
		if !ok && !seen[s.pkg] {
			t.Errorf("package %s has no row in the table of this test: say what it may import", s.pkg)
		}
		seen[s.pkg], rows[row] = true, true
		for _, i := range imports(s.tree) {
			if standard(i) || !ok {
				continue
			}
			name := shortName(i)
			grant, ok := allows(may, name)
			if !ok {
				t.Errorf("%s: %s must not import %s; it may import: %s", s.file, s.pkg, name, strings.Join(may, ", "))
			}
			used[[2]string{row, grant}] = true
		}
	}
	for _, r := range house {
		if !rows[r.name] {
			t.Errorf("the table has a row for %s, which does not exist", r.name)
		}
		for _, grant := range strings.Fields(r.may) {
			if !used[[2]string{r.name, grant}] {
				t.Errorf("the table lets %s import %s, which it does not: take the grant away", r.name, grant)
			}
		}
	}
}

// roof is the tool that a package belongs to, if it does to one. What profile exports are
// is no tool's own, and studies and self-tests are commands of ours.
func roof(pkg string) string {
	parts := strings.SplitN(pkg, "/", 3)
	switch {
	case len(parts) < 2 || parts[0] != "tool" || parts[1] == "profileexport":
		return ""
	case parts[1] == "study" || parts[1] == "selftest":
		return "native"
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
	case in(from, "engine", "endpoint", "wire", "prompt") && in(to, "metric", "result", "report"):
		return "measuring knows nothing of judging"
	case in(from, "lib", "testkit") && ours:
		return "small tools know nothing of the trade"
	case in(from, "stat") && ours:
		return "maths is pure"
	case in(to, "testkit"):
		return "what tests need is for tests"
	case strings.HasSuffix(from, "/args") && in(to, "run", "record", "engine"):
		return "a command line runs nothing"
	}
	return ""
}

func TestRulesOfTheHouse(t *testing.T) {
	for _, s := range sources(t) {
		if ast.IsGenerated(s.tree) {
			continue // messages register themselves
		}
		for _, d := range s.tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: an init function", s.set.Position(f.Pos()))
			}
		}
		if slices.Contains(ends, s.pkg) {
			continue
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && forbidden(x.Name+"."+sel.Sel.Name) {
					t.Errorf("%s: %s.%s outside %s", s.set.Position(n.Pos()), x.Name, sel.Sel.Name, strings.Join(ends, ", "))
				}
			}
			return true
		})
	}
}

// forbidden are the calls that end the program or take its signals.
func forbidden(call string) bool {
	switch call {
	case "os.Exit", "os.Args", "signal.Notify", "signal.NotifyContext", "log.Fatal", "log.Fatalf", "log.Fatalln":
		return true
	}
	return false
}

func TestEveryPackageIsDescribed(t *testing.T) {
	described := map[string]bool{}
	for _, s := range sources(t) {
		described[s.pkg] = described[s.pkg] || s.tree.Doc != nil
	}
	for pkg, ok := range described {
		if !ok {
			t.Errorf("package %s has no comment that says what it is", pkg)
		}
	}
}
