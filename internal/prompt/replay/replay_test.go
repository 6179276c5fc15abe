package replay

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.json", "b.txt", "x/c.json", "x/y/d.json", "x/y/e.jsonl"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		patterns string
		want     int // files; 0: none, and an error
	}{
		{"a.json", 1}, {"*.json", 1}, {"**/*.json", 3}, {"x/**/*.json", 2}, {"**/y/*", 2}, {"a.json *.json **/*.json", 3}, {"none.json", 0}, {"[", 0}, {"**/[", 0},
	} {
		var files []string
		for _, p := range strings.Fields(tc.patterns) {
			files = append(files, filepath.Join(dir, filepath.FromSlash(p)))
		}
		p := Files{Replay: plan.Replay{Files: files}}
		got, err := p.Files(t.Context())
		if len(got) != tc.want || (err == nil) != (tc.want > 0) {
			t.Errorf("%s: %v, %v, want %d", tc.patterns, got, err, tc.want)
		}
	}
	for name, want := range map[string]int{"x/y": 2, ".": 1, "none": 0} {
		p := Files{Replay: plan.Replay{Dir: filepath.Join(dir, name)}}
		if got, err := p.Files(t.Context()); len(got) != want || (err == nil) != (want > 0) {
			t.Errorf("directory %s: %v, %v, want %d", name, got, err, want)
		}
	}
}

func TestPick(t *testing.T) {
	all := []string{"README.md", "big/train-0.jsonl", "big/test-0.jsonl", "small/train-0.parquet", "other.json"}
	for _, c := range []struct {
		at   plan.Hub
		want string
	}{
		{plan.Hub{}, "big/train-0.jsonl small/train-0.parquet"},
		{plan.Hub{Config: "big"}, "big/train-0.jsonl"},
		{plan.Hub{Config: "big", Split: "test"}, "big/test-0.jsonl"},
		{plan.Hub{Split: "none"}, "big/train-0.jsonl big/test-0.jsonl small/train-0.parquet other.json"},
		{plan.Hub{Config: "none"}, ""},
	} {
		if got := strings.Join(Pick(all, c.at, isTrace), " "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.at, got, c.want)
		}
	}
}

// cycle is three sessions in order.
func cycle(seed uint64, r plan.Replay) *Cycle {
	d := new(Cycle)
	for _, name := range []string{"a", "b", "c"} {
		d.All = append(d.All, &Session{Name: name, Graph: &prompt.Graph{Origin: name}})
	}
	d.Arrange(&r, seed, "t")
	return d
}

func TestCycle(t *testing.T) {
	d := cycle(1, plan.Replay{Sessions: 5})
	var names, origins []string
	tags := map[string]int{}
	for i := range uint64(10) {
		one := d.Session(i)
		names, origins = append(names, one.Name), append(origins, one.Graph.Origin)
		tags[one.Tag]++
	}
	first := names[:3]
	want := append(slices.Clone(first), first[0]+"_dup1", first[1]+"_dup2")
	for _, name := range want {
		want = append(want, name+"#2")
	}
	if !slices.Equal(names, want) || !slices.Equal(origins[:2], origins[3:5]) || !slices.Equal(origins[:5], origins[5:]) {
		t.Errorf("names %q of %q", names, origins)
	}
	for i, name := range first {
		if want := "t" + string(rune('0'+i)) + "_" + origins[i]; name != want {
			t.Errorf("session %d is called %q, want %q", i, name, want)
		}
	}
	// Those that repeat another are told from it, in each round as in the first.
	if len(tags) != 3 || tags[""] != 6 {
		t.Errorf("tags %v", tags)
	}
	if tagged := cycle(1, plan.Replay{RandomID: true}); tagged.All[0].Tag == "" || tagged.All[0].Tag == tagged.All[1].Tag {
		t.Errorf("tags %q and %q", tagged.All[0].Tag, tagged.All[1].Tag)
	}
	if again := cycle(1, plan.Replay{Sessions: 5}); again.All[4].Name != want[4] {
		t.Error("the same seed gives another order")
	}
}
