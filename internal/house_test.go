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
// row of its own falls under its family's.
//
// Read it from the bottom: leaves know nothing, and each row may only lean on what
// stands below it.
var house = []struct{ name, may string }{
	{"cmd/inferometer", "cli"},

	// The edge: arguments, terminal, signals, exit codes.
	{"cli", "bounded frontend/* tool/* selftest record storage run kit mock plan result report/* progress screen stat token nearest hub github.com/spf13/pflag golang.org/x/term"},
	{"frontend/inferenceperf", "plan nearest go.yaml.in/yaml/v3"},
	{"frontend/genaiperf", "plan nearest go.yaml.in/yaml/v3"},
	{"frontend/*", "plan nearest github.com/spf13/pflag"},
	{"tool/perfanalyzer", "frontend/perfanalyzer importer/profileexport report/perfanalyzer run sweep kit plan probe prompt prompt/tensordata record result tensor tensor/inputdata tool/export wholefile"},
	{"tool/llmperf", "frontend/llmperf report/llmperf run kit plan prompt prompt/promptfile record result wholefile"},
	{"tool/inferenceperf", "frontend/inferenceperf dialect/inferenceperf importer/inferenceperf report/inferenceperf report/otlp report/chart run sweep stat kit plan prompt record result token tokensource endpoint storage wholefile"},
	{"tool/study", "bounded frontend/native importer/profileexport report/chart report/study run kit plan result wholefile"},
	{"tool/export", "endpoint/triton importer/profileexport plan record result sweep tensor wholefile"},
	{"tool/genaiperf", "bounded jsonobject frontend/genaiperf dialect/genaiperf importer/profileexport report/genaiperf report/chart run kit plan prompt prompt/pooled record result tensor token tokensource tool/export wholefile"},
	{"tool/*", "bounded frontend/* dialect/* importer/* report/* run kit plan prompt prompt/* record result rows token tokensource hub endpoint wholefile"},

	{"selftest", "run kit mock plan record metric result screen golang.org/x/sys"},

	// Plan + kit → live objects → a result. These two alone know concrete types.
	{"run", "bounded breaker kit probe engine sweep collect health load mock netclock metric result report/* endpoint endpoint/* prompt plan proxy record stat tensor token hub golang.org/x/sys wholefile"},
	{"kit", "bounded probe probe/* endpoint endpoint/* prompt prompt/* token token/* plan chat hub tokensource"},

	// The path of a request.
	{"engine", "load prompt endpoint record"},
	{"collect", "endpoint record"},
	{"breaker", "dialect/inferenceperf jmes plan record"},
	{"endpoint/anthropic", "endpoint endpoint/answer endpoint/body endpoint/replica endpoint/sse exchange prompt plan record jsonscan"},
	{"endpoint/jsonhttp", "bounded endpoint endpoint/answer endpoint/body endpoint/replica endpoint/sse chat prompt plan record jsonscan"},
	{"endpoint/predict", "bounded endpoint endpoint/answer endpoint/replica prompt plan proxy record jsonscan tensor"},
	{"endpoint/openai", "endpoint endpoint/answer endpoint/body endpoint/replica endpoint/sse exchange netclock prompt plan record jsonscan"},
	{"endpoint/triton", "bounded endpoint endpoint/answer endpoint/sse exchange exchange/grpc netclock prompt plan proxy record token jsonscan nearest kserve tensor tensor/* google.golang.org/protobuf"},
	{"endpoint/replica", "endpoint exchange exchange/h2 netclock prompt plan proxy record"},
	{"endpoint/answer", "endpoint/sse prompt record token jsonscan"},
	{"endpoint/body", "prompt"},
	{"endpoint/sse", ""},
	{"exchange/grpc", "bounded exchange exchange/h2 netclock record"},
	{"exchange/h2", "exchange netclock record golang.org/x/net"},
	{"exchange", "netclock record"},
	{"endpoint", "netclock prompt plan record tensor"},
	{"netclock", "record golang.org/x/sys"},
	{"proxy", "plan golang.org/x/net"},
	{"load", "plan golang.org/x/sys"},
	{"health", "record golang.org/x/sys"},

	// Where prompts and token counts come from.
	{"prompt/timed", "prompt plan tensor azure"},
	{"prompt/tensordata", "bounded prompt plan tensor tensor/inputdata jsonscan"},
	{"prompt/multimodal", "prompt plan tensor media"},
	{"prompt/adapters", "prompt plan tensor"},
	{"prompt/synthetic", "prompt plan lexicon"},
	{"prompt/random", "prompt plan lexicon azure"},
	{"prompt/sharedprefix", "prompt plan lexicon"},
	{"prompt/conversations", "prompt plan lexicon"},
	{"prompt/agents", "prompt plan golang.org/x/crypto/blake2b"},
	{"prompt/oteltrace", "bounded prompt recorded plan sessionfilter rows"},
	{"prompt/wekatrace", "bounded prompt recorded plan lexicon sessionfilter rows"},
	{"prompt/dataset", "bounded prompt plan hub rows"},
	{"prompt/talks", "prompt plan lexicon"},
	{"prompt/pooled", "prompt plan tensor"},
	{"prompt/shaped", "bounded prompt plan tensor chat jsonobject"},
	{"prompt/*", "bounded prompt plan chat jsonscan"},
	{"lexicon", "prompt plan"},
	{"recorded", "bounded prompt plan hub"},
	{"azure", "plan"},
	{"prompt", "bounded plan tensor"},
	{"tokensource", "bounded token token/* chat hub jsonscan"},
	{"token/*", "token token/* jsonscan golang.org/x/text"},
	{"token", "token/* jsonscan golang.org/x/text"},
	{"chat", "jsonscan"},
	{"rows", "bounded github.com/parquet-go/parquet-go"},
	{"hub/hubtest", "hub"},
	{"hub", "bounded golang.org/x/sys"},

	// What servers say of themselves.
	{"probe/triton", "probe/prometheus exchange exchange/grpc kserve netclock plan proxy record google.golang.org/protobuf"},
	{"probe/prometheus", "probe probe/serving google plan record"},
	{"probe/serving", "record stat"},
	{"probe", "record"},
	{"google", ""},

	// Where copies go.
	{"storage", "google plan"},

	// Records → figures → paper.
	{"report/genaiperf", "dialect/genaiperf screen"},
	{"report/inferenceperf", "dialect/inferenceperf endpoint/sse record"},
	{"report/otlp", "dialect/inferenceperf record google.golang.org/protobuf"},
	{"report/chart", "gonum.org/v1/plot"},
	{"report/csv", "record result screen"},
	{"report/*", "result screen"},
	{"dialect/*", "record stat"},
	{"importer/*", "endpoint/sse record tensor"},
	{"progress", "screen"},
	{"result", "probe probe/serving metric sweep plan record stat"},
	{"sweep", "plan probe record stat"},
	{"metric", "record stat"},

	// The nouns.
	{"plan", "nearest go.yaml.in/yaml/v3"},
	{"kserve", "google.golang.org/protobuf"},
	{"media", ""},
	{"tensor/*", "bounded tensor jsonscan"},
	{"tensor", "jsonscan"},
	{"record", "jsonscan github.com/klauspost/compress"},
	{"bounded", ""},
	{"wholefile", ""},
	{"stat", ""},
	{"screen", ""},
	{"jmes", "github.com/jmespath-community/go-jmespath/pkg/functions github.com/jmespath-community/go-jmespath/pkg/interpreter github.com/jmespath-community/go-jmespath/pkg/parsing"},
	{"sessionfilter", ""},
	{"jsonscan", ""},
	{"jsonobject", ""},
	{"nearest", ""},

	// The yardstick shares nothing with what it measures but the generated messages.
	{"mock", "mock/repository kserve github.com/spf13/pflag golang.org/x/sys golang.org/x/net google.golang.org/protobuf"},
	{"mock/repository", "kserve google.golang.org/protobuf"},

	// A real server for tests.
	{"tritontest", ""},
	{"promtest", ""},
	// The program itself, for tests that run it as a process.
	{"shipped", ""},
	// Broken input for tests of readers.
	{"mutate", ""},
	// Servers, hosts and files that mislead; all of it is tests.
	{"liar", ""},
	// What tests of decoders share.
	{"endpoint/answertest", "record"},

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

// rowOf is what a package may import.
func rowOf(name string) (may []string, ok bool) {
	for _, r := range house {
		if r.name == name {
			return strings.Fields(r.may), true
		}
	}
	for _, r := range house {
		if family, ok := strings.CutSuffix(r.name, "/*"); ok && strings.HasPrefix(name, family+"/") {
			return strings.Fields(r.may), true
		}
	}
	return nil, false
}

// allows reports whether one of the patterns covers an import.
func allows(may []string, name string) bool {
	for _, m := range may {
		family, isFamily := strings.CutSuffix(m, "/*")
		if m == name || isFamily && strings.HasPrefix(name, family+"/") || strings.Contains(m, ".") && strings.HasPrefix(name, m+"/") {
			return true
		}
	}
	return false
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
	seen := map[string]bool{}
	for _, s := range sources(t) {
		may, ok := rowOf(s.pkg)
		if !ok && !seen[s.pkg] {
			t.Errorf("package %s has no row in the table of this test: say what it may import", s.pkg)
		}
		seen[s.pkg] = true
		for _, i := range imports(s.tree) {
			name := shortName(i)
			if ok && !standard(i) && !allows(may, name) {
				t.Errorf("%s: %s must not import %s; it may import: %s", s.file, s.pkg, name, strings.Join(may, ", "))
			}
		}
	}
	for _, r := range house {
		if !strings.HasSuffix(r.name, "/*") && !seen[r.name] {
			t.Errorf("the table has a row for %s, which does not exist", r.name)
		}
	}
}

// The table itself must keep the promises that the design makes.
func TestTableKeepsTheDesign(t *testing.T) {
	for _, family := range []string{"frontend", "endpoint", "prompt", "report"} {
		for _, r := range house {
			if !strings.HasPrefix(r.name, family+"/") {
				continue
			}
			for _, m := range strings.Fields(r.may) {
				// Clients, bodies, decoding and the framing of server-sent events are parts that protocols share.
				if strings.HasPrefix(m, family+"/") && !slices.Contains([]string{"endpoint/answer", "endpoint/body", "endpoint/replica", "endpoint/sse"}, m) {
					t.Errorf("%s may import its sibling %s", r.name, m)
				}
			}
		}
	}
	for _, leaf := range []string{"plan", "record", "stat", "token", "mock"} {
		may, _ := rowOf(leaf)
		for _, m := range may {
			if !strings.Contains(m, ".") && !slices.Contains([]string{"jsonscan", "nearest", "token/*"}, m) && leaf != "mock" || leaf == "mock" && !strings.Contains(m, ".") && m != "kserve" && m != "mock/repository" {
				t.Errorf("%s may import %s", leaf, m)
			}
		}
	}
	for _, never := range []struct{ from, to string }{
		{"frontend/native", "engine"}, {"frontend/native", "record"}, // a front end runs nothing
		{"engine", "metric"}, {"engine", "result"}, // measuring knows nothing of judging
		{"metric", "plan"}, {"stat", "record"},
		{"mock", "record"}, {"mock", "endpoint"},
	} {
		if reaches(never.from, never.to, map[string]bool{}) {
			t.Errorf("the table lets %s reach %s", never.from, never.to)
		}
	}
}

// reaches reports whether the table leads from one package to another.
func reaches(from, to string, seen map[string]bool) bool {
	if seen[from] {
		return false
	}
	seen[from] = true
	may, _ := rowOf(from)
	for _, m := range may {
		if m == to || allows([]string{m}, to) || reaches(m, to, seen) {
			return true
		}
	}
	return false
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
