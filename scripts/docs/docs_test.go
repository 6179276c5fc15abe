package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repository writes files into a directory that has what every site needs.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{
		colours: ":root {}", "README.md": "# The program\nText.\n",
		contentsPage:  "# Contents\n\n## First\n- [Home](../README.md): a line\n- [One](one.md)\n\n## Reference\n- [Decisions](decisions/): why\n",
		"docs/one.md": "# One page\nAbout `one`.\n\n## Part & part\n\n## Part & part\nAgain.\n", "docs/decisions/001-a.md": "# 1. A\nWhy.\n", "docs/decisions/002-b.md": "# 2. B\nWhy not.\n",
	}
	maps.Copy(all, files)
	for name, text := range all {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSite(t *testing.T) {
	dir := repository(t, map[string]string{
		"README.md":      "# The program\n[one](docs/one.md#part--part-1) [conf](conf.yml) [dir](some/) ![picture](docs/p.png) <a href=\"docs/one.md\">raw</a> [web](https://example.com/a?b=1&c=2) `[code](no.md)`\n",
		"conf.yml":       "# a comment\nkey: {a: 1}\n```\n",
		"docs/p.png":     "\x89PNG\x00",
		"some/b.md":      "# The <b>\n",
		"some/data.bin":  "\x00\x01",
		"docs/unused.js": "",
	})
	out := filepath.Join(t.TempDir(), "site")
	if err := run(dir, out, "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	var names []string
	err := filepath.WalkDir(out, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, err = filepath.Rel(out, name)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("assets/ranking.js assets/search.js assets/site.js assets/style.css conf.yml.html docs/decisions/001-a.html docs/decisions/002-b.html docs/decisions/index.html docs/index.html docs/one.html docs/p.png index.html some/b.html some/data.bin some/index.html")
	slices.Sort(names)
	if !slices.Equal(names, want) {
		t.Errorf("files %v\nwant  %v", names, want)
	}
	for name, parts := range map[string][]string{
		"index.html": {
			`href="docs/one.html#part--part-1"`, `href="conf.yml.html"`, `href="some/index.html"`, `src="docs/p.png"`, `<a href="docs/one.html">raw</a>`, `href="https://example.com/a?b=1&amp;c=2"`,
			"[code](no.md)</code>", ">v1.2.3<", `rel="next" href="docs/one.html"`, `<a href="index.html" aria-current="page">Home</a>`,
		},
		"docs/one.html":             {`<h2 id="part--part">`, `<h2 id="part--part-1">`, `href="../assets/style.css"`, `<p class="eyebrow">First</p>`, `<code class="whole">one</code>`},
		"docs/decisions/001-a.html": {`rel="next" href="002-b.html"><span>Next</span> 2. B</a>`, `<a href="001-a.html" aria-current="page">1. A</a>`},
		"docs/decisions/index.html": {`<td class="figure">2</td>`, `<a href="002-b.html">B</a>`, "<p>why</p>"},
		"some/index.html":           {`<a href="b.html">The <b></a>`, `<a href="data.bin">data.bin</a>`},
		"conf.yml.html":             {`<span class="comment"># a comment</span>`, `<span class="key">key</span>: {<span class="key">a</span>: <span class="number">1</span>}`, "\n```\n"},
		"assets/search.js":          {`"title":"One","name":"one","chapter":"First","address":"docs/one.html"`, `"text":"One page. About one."`, `"title":"Part \u0026 part"`},
	} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s lacks %s:\n%s", name, part, text)
			}
		}
		if name == "docs/one.html" && strings.Contains(string(text), `rel="next"`) {
			t.Error("the reference is in the reading order")
		}
	}
	if err := run(dir, out, ""); err != nil {
		t.Errorf("made again: %v", err)
	}
}

// What is wrong is said with where it is, and leaves what was there.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a page that is not listed": {map[string]string{"docs/two.md": "# Two\n"}, "docs/README.md does not list docs/two.md: add a line"},
		"a page that is not there":  {map[string]string{contentsPage: "## A\n- [One](one.md)\n- [Two](two.md)\n"}, "docs/README.md lists docs/two.md: there is no such file"},
		"listed twice":              {map[string]string{contentsPage: "## A\n- [One](one.md)\n- [Again](one.md)\n"}, "docs/README.md lists docs/one.md twice"},
		"no link":                   {map[string]string{contentsPage: "## A\n- [One](one.md)\n- words\n"}, `"words" is not a link`},
		"a dead link":               {map[string]string{"README.md": "[x](docs/no.md)"}, "README.md links to docs/no.md: there is no such file"},
		"a dead anchor":             {map[string]string{"README.md": "[x](docs/one.md#no)"}, "README.md links to docs/one.md#no, which has no such heading"},
		"a dead anchor of its own":  {map[string]string{"README.md": "[x](#no)"}, "README.md links to README.md#no"},
		"a dead picture":            {map[string]string{"README.md": "![x](no.png)"}, "no.png"},
		"a picture from afar":       {map[string]string{"README.md": "![x](https://example.com/x.png)"}, "pictures must be in the repository"},
		"out of the repository":     {map[string]string{"README.md": "[x](../x.md)"}, "leads out of the repository"},
		"from the root":             {map[string]string{"README.md": "[x](/docs/one.md)"}, "it must be relative"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "site")
			err := run(repository(t, c.files), out, "")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("something was written")
			}
		})
	}
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "precious"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(repository(t, nil), out, ""); err == nil || !strings.Contains(err.Error(), "not a site of this program") {
		t.Errorf("a directory of another kind: %v", err)
	}
	if _, err := os.Stat(filepath.Join(out, "precious")); err != nil {
		t.Error(err)
	}
}

func TestHighlight(t *testing.T) {
	for _, c := range []struct{ language, code, want string }{
		{"", "inferometer run http://h:1 --rate 5 # fast\n", `<span class="command">inferometer</span> run http://h:1 <span class="flag">--rate</span> 5 <span class="comment"># fast</span>` + "\n"},
		{"", "$ make run\nVALID <all>\n", `<span class="prompt">$ </span><span class="command">make</span> run` + "\n" + `<span class="printed">VALID &lt;all&gt;` + "\n</span>"},
		{"sh", "A=1 x 'it''s' \"$B\" $C \\\n  --y-z\n", `A=1 <span class="command">x</span> <span class="text">&#39;it&#39;</span><span class="text">&#39;s&#39;</span> <span class="text">&#34;$B&#34;</span> <span class="variable">$C</span> \` + "\n" + `  <span class="flag">--y-z</span>` + "\n"},
		{"", "rate: 5\nurl: http://a:8000 # here\non: true\n", `<span class="key">rate</span>: <span class="number">5</span>` + "\n" + `<span class="key">url</span>: http://a:8000 <span class="comment"># here</span>` + "\n" + `<span class="key">on</span>: <span class="word">true</span>` + "\n"},
		{"", `{"a": [1, "b", null]}`, `{<span class="key">&#34;a&#34;:</span> [<span class="number">1</span>, <span class="text">&#34;b&#34;</span>, <span class="word">null</span>]}` + "\n"},
		{"", "Just text: 5\n", "Just text: 5\n"},
		{"python", "if x: # y\n", "if x: # y\n"},
		{"", "", "\n"},
	} {
		if got := highlight(c.language, c.code); got != c.want {
			t.Errorf("%s %q:\ngot  %s\nwant %s", c.language, c.code, got, c.want)
		}
	}
}

// Of this repository's pages, the one that is about what was typed comes first, with typing errors too. Node is what runs
// the page's own script here; internal/clidoc holds inferometer help against the same table.
func TestSearches(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	out := filepath.Join(t.TempDir(), "site")
	if err := run("../..", out, ""); err != nil {
		t.Fatal(err)
	}
	const script = `globalThis.window = globalThis;
		const fs = require("node:fs"), [assets, table] = process.argv.slice(1);
		for (const name of ["search.js", "ranking.js"]) (0, eval)(fs.readFileSync(assets + "/" + name, "utf8"));
		const search = inferometerRanking(inferometerDocs);
		for (const [query, want] of Object.entries(JSON.parse(fs.readFileSync(table)))) {
			const found = search(query).results.map((r) => r.section.of.name);
			if (found[0] !== want) console.log(query, "finds", found.slice(0, 4).join(", ") || "nothing", "and not first", want);
		}
		for (const query of ["qqxyzzy", "(", "\\\\", "[unclosed(", "   ", "x".repeat(5000)]) {
			const { results } = search(query);
			if (query.length > 3 && results.length) console.log(query, "finds", results[0].section.of.name);
		}`
	text, err := exec.Command(node, "-e", script, filepath.Join(out, "assets"), "testdata/searches.json").CombinedOutput()
	if err != nil || len(text) > 0 {
		t.Errorf("%v\n%s", err, text)
	}
}
