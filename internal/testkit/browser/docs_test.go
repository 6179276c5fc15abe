package browser

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// docsSite makes the site of the documentation, once.
var docsSite = sync.OnceValues(func() (string, error) {
	out := filepath.Join(work, "site")
	make := exec.Command("go", "run", ".", "-out", out, "../..")
	make.Dir = "../../../scripts/docs"
	if text, err := make.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, text)
	}
	return out, nil
})

// docsPages gives the directory of the site and its pages.
func docsPages(t *testing.T) (dir string, pages []string) {
	t.Helper()
	dir, err := docsSite()
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".html" {
			pages = append(pages, name)
		}
		return err
	})
	if err != nil || len(pages) < 100 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	return dir, pages
}

// leads is where a page leads, and where in it links can lead.
type leads struct {
	Links, IDs, Fetched []string
	Lost                int // pictures that do not show
}

// Every page loads from disk without an error, and keeps nobody out. Each is looked at in one of the four ways; a look is
// shared by a fourth of the pages.
func TestDocsPages(t *testing.T) {
	dir, pages := docsPages(t)
	all := map[string]leads{}
	const batch = 12 // as many as a slow machine loads before it is out of patience
	ways := looks()
	for k, l := range ways {
		var mine []string
		for i, name := range pages {
			if i%len(ways) == k || slices.Contains([]string{"index.html", "docs/plan.html", "docs/metrics.html", "docs/inference-perf-config.html"}, name) {
				mine = append(mine, name)
			}
		}
		for some := range slices.Chunk(mine, batch) {
			t.Run(l.name, func(t *testing.T) {
				b := open(t, l, filepath.Join(dir, some[0]))
				for _, name := range some {
					b.visit(filepath.Join(dir, name))
					b.keepsNobodyOut(l)
					all[name] = b.leads()
					if t.Failed() {
						t.Fatal("on", name)
					}
					b.picture(l.name + " " + strings.ReplaceAll(name, "/", " "))
				}
			})
		}
	}
	noDeadLinks(t, dir, all)
}

func (b *tab) visit(file string) {
	b.Helper()
	b.do(chromedp.Navigate("file://" + file))
	b.wait(`document.documentElement.dataset.ready === "true"`)
}

func (b *tab) leads() (l leads) {
	b.Helper()
	b.must(json.Unmarshal([]byte(value[string](b, `JSON.stringify({
		Links: [...document.querySelectorAll("a[href]")].map(a => a.href),
		IDs: [...document.querySelectorAll("[id]")].map(e => e.id),
		Fetched: performance.getEntriesByType("resource").map(e => e.name),
		Lost: [...document.images].filter(i => i.complete && !i.naturalWidth).length})`)), &l))
	return l
}

// noDeadLinks: what pages link to and consist of is in the site, down to the heading.
func noDeadLinks(t *testing.T, dir string, all map[string]leads) {
	t.Helper()
	links := 0
	for name, page := range all {
		if page.Lost > 0 {
			t.Errorf("%s lacks %d pictures", name, page.Lost)
		}
		for _, fetched := range page.Fetched {
			if !strings.HasPrefix(fetched, "file://"+dir+"/") && !strings.HasPrefix(fetched, "data:") {
				t.Errorf("%s fetches %s", name, fetched)
			}
		}
		for _, target := range page.Links {
			u, err := url.Parse(target)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if u.Scheme != "file" {
				continue
			}
			links++
			to, inside := strings.CutPrefix(u.Path, dir+"/")
			if _, err := os.Stat(filepath.Join(dir, to)); err != nil || !inside {
				t.Errorf("%s links to %s, which is not in the site", name, target)
			} else if u.Fragment != "" && !slices.Contains(all[to].IDs, u.Fragment) {
				t.Errorf("%s links to %s, which has no such place", name, target)
			}
		}
	}
	if links < 5000 {
		t.Errorf("only %d links found", links)
	}
}

// result is one that the search shows.
type result struct{ To, Title, Text string }

// slash presses a key as a keyboard does: the letter comes only if the page lets it.
func (b *tab) slash() {
	b.Helper()
	_, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "/", Code: "Slash", Text: "/"})
	b.must(err)
}

// arrive waits until the page at an address is open. What is asked while one page gives way to another fails.
func (b *tab) arrive(address string) {
	b.Helper()
	for b.ctx.Err() == nil {
		there := fmt.Sprintf(`location.href === %q && document.documentElement.dataset.ready === "true"`, address)
		if chromedp.Do(b.ctx, chromedp.Poll[chromedp.Void](there, chromedp.WithPollingInterval(50*time.Millisecond))) == nil {
			return
		}
	}
	b.Fatal("never came to ", address)
}

// search opens the search with its key, if need be, types and gives what is found.
func (b *tab) search(query string) (found []result, said string) {
	b.Helper()
	if !value[bool](b, `document.querySelector("dialog.search").open`) {
		b.slash()
	}
	if at := value[string](b, `document.activeElement.getAttribute("aria-label")`); at != "Search all pages" {
		b.Fatalf("the cursor is at %q", at)
	}
	typed, err := json.Marshal(query)
	b.must(err)
	value[any](b, fmt.Sprintf(`{const i = document.activeElement; i.value = %s; document.querySelector(".said").textContent = "…"; i.dispatchEvent(new Event("input")); null}`, typed))
	b.wait(`document.querySelector(".said").textContent !== "…"`)
	b.must(json.Unmarshal([]byte(value[string](b, `JSON.stringify([...document.querySelectorAll("#found a")].map(a => ({To: a.getAttribute("href").replace(/\?q=[^#]*/, ""), Title: a.querySelector("b").textContent, Text: a.lastChild.textContent})))`)), &found))
	return found, value[string](b, `document.querySelector(".said").textContent`)
}

// The page that is about what was typed comes first; what is written nowhere is not found.
func TestDocsSearch(t *testing.T) {
	dir, _ := docsPages(t)
	b := open(t, looks()[0], filepath.Join(dir, "docs/mock.html"))
	text, err := os.ReadFile("../../../scripts/docs/testdata/searches.json")
	if err != nil {
		t.Fatal(err)
	}
	searches := map[string]string{}
	if err := json.Unmarshal(text, &searches); err != nil {
		t.Fatal(err)
	}
	for query, page := range searches {
		searches[query] = "docs/" + page + ".html"
	}
	maps.Copy(searches, map[string]string{
		"plan": "docs/plan.html", "verdict": "docs/verdict.html", "TRITON": "docs/triton.html", "capacity": "docs/capacity.html", "gates": "docs/gates.html", "gate": "docs/gates.html",
		"genai-perf": "docs/genai-perf.html", "perf_analyzer": "docs/perf_analyzer.html", "perf analyzer": "docs/perf_analyzer.html", "inference-perf": "docs/inference-perf.html",
		"tokenizer": "docs/tokenizers.html", "kubernetes": "docs/kubernetes.html", "mock": "docs/mock.html", "load": "docs/load.html", "compar": "docs/compare.html",
		"  cost   energy ": "docs/cost.html", "contributing": "CONTRIBUTING.html", "changelog": "CHANGELOG.html",
		"an adversary test": "CONTRIBUTING.html#adding-an-adversary-test", "object stores": "docs/decisions/017-own-object-stores.html",
	})
	for query, want := range searches {
		found, _ := b.search(query)
		if len(found) == 0 || found[0].To != "../"+want && !strings.HasPrefix(found[0].To, "../"+want+"#") {
			t.Errorf("%q finds %+.300v, want %s first", query, found[:min(len(found), 2)], want)
		}
	}
	for _, query := range []string{"--fail-if", "p99", "time to first token", "µs", "$OUT", "(", "*", "zweitausend gates"} {
		if found, said := b.search(query); len(found) == 0 && query != "$OUT" || len(found) > 24 {
			t.Errorf("%q finds %d places: %s", query, len(found), said)
		}
	}
	for _, query := range []string{"qqxyzzy", hostile, `<img src=x onerror="window.obeyed=2">`, strings.Repeat("x", 5000), `\`, "[unclosed(", "\U0001F9A9"} {
		found, said := b.search(query)
		if len(found) == 0 && !strings.Contains(said, "Nothing found") {
			t.Errorf("%.50q: %s", query, said)
		}
		if n := value[int](b, `document.querySelectorAll("dialog.search img, #found script").length + (window.obeyed ? 1 : 0)`); n > 0 {
			t.Errorf("%.50q was read as HTML", query)
		}
	}
	if found, said := b.search("qqxyzzy"); len(found) > 0 || said != "Nothing found for “qqxyzzy”." {
		t.Errorf("nonsense finds %v: %s", found, said)
	}
	if found, said := b.search("   "); len(found) > 0 || said != "" {
		t.Errorf("nothing finds %v: %s", found, said)
	}
}

// The search works by keyboard alone, and what was searched stands out where it leads.
func TestDocsSearchByKeyboard(t *testing.T) {
	dir, _ := docsPages(t)
	for _, l := range []look{looks()[0], looks()[3]} {
		b := open(t, l, filepath.Join(dir, "index.html"))
		found, _ := b.search("goodput")
		if len(found) < 3 {
			t.Fatalf("found %v", found)
		}
		b.keepsNobodyOut(l)
		b.picture(l.name + " search")
		chosen := func() string { return value[string](b, `document.querySelector("#found [aria-selected=true]").id`) }
		for _, step := range []struct{ key, want string }{{"", "found-0"}, {kb.ArrowDown, "found-1"}, {kb.ArrowDown, "found-2"}, {kb.ArrowUp, "found-1"}, {kb.ArrowUp, "found-0"}, {kb.ArrowUp, fmt.Sprint("found-", len(found)-1)}, {kb.ArrowDown, "found-0"}, {kb.ArrowDown, "found-1"}} {
			if step.key != "" {
				b.do(chromedp.KeyEvent(step.key))
			}
			if chosen() != step.want {
				t.Errorf("%s is chosen, want %s", chosen(), step.want)
			}
		}
		b.do(chromedp.KeyEvent(kb.Escape))
		b.wait(`!document.querySelector("dialog.search").open`)
		b.slash()
		b.wait(`document.querySelector("dialog.search").open && document.querySelectorAll("#found a").length > 2`)
		if typed := value[string](b, `document.activeElement.value`); typed != "goodput" {
			t.Errorf("what was typed is now %q", typed)
		}
		b.do(chromedp.KeyEvent(kb.ArrowDown))
		to := value[string](b, `document.querySelector("#found [aria-selected=true]").href`)
		b.do(chromedp.KeyEvent(kb.Enter))
		b.arrive(to)
		if n := value[int](b, `CSS.highlights.get("searched").size`); n == 0 {
			t.Error("nothing stands out on the page that was found")
		}
		b.picture(l.name + " found")
	}
}

// Buttons: dark and light, which the next page remembers; copying; and the chapters on a phone.
func TestDocsButtons(t *testing.T) {
	dir, _ := docsPages(t)
	b := open(t, looks()[0], filepath.Join(dir, "index.html"))
	value[any](b, `{document.querySelector(".theme").click(); null}`)
	b.visit(filepath.Join(dir, "docs/plan.html"))
	b.keepsNobodyOut(look{dark: true})
	value[any](b, `{window.kept = []; navigator.clipboard.writeText = async (t) => { window.kept.push(t); }; document.querySelector(".code button").click(); null}`)
	b.wait(`document.querySelector(".code button").textContent === "Copied"`)
	if text := value[string](b, `window.kept[0]`); !strings.HasPrefix(text, "inferometer run plan.yaml") || strings.Contains(text, "Copy") {
		t.Errorf("copied %q", text)
	}
	value[any](b, `{document.querySelector('.toc a[href="#forms"]').click(); null}`)
	b.wait(`document.querySelector('.toc a[aria-current]')?.hash === "#forms"`)

	b.onPaper()

	b = open(t, looks()[2], filepath.Join(dir, "docs/plan.html"))
	shown := func() bool { return value[bool](b, `document.querySelector(".side").checkVisibility()`) }
	if shown() {
		t.Error("the chapters cover the page")
	}
	value[any](b, `{document.querySelector(".menu-button").click(); null}`)
	if !shown() {
		t.Error("the button does not show the chapters")
	}
	b.keepsNobodyOut(looks()[2])
	b.picture("phone menu")
	b.do(chromedp.KeyEvent(kb.Escape))
	if shown() {
		t.Error("Escape does not put the chapters away")
	}
}

// onPaper: a page that is printed is its text alone, dark on white.
func (b *tab) onPaper() {
	b.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	b.must(err)
	b.do(chromedp.EmulateViewport(700, 990))
	if shown := value[[]string](b, `[...document.querySelectorAll(".bar, .side, .toc, .turn, .code button, dialog")].filter(e => e.checkVisibility()).map(e => e.className)`); len(shown) > 0 {
		b.Errorf("%q are printed", shown)
	}
	if over := value[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		b.Errorf("the page is %d pixels too wide for paper", over)
	}
	if ink := value[string](b, `getComputedStyle(document.querySelector("main")).color`); brightness(b.T, ink) > 0.3 {
		b.Errorf("the ink is %s", ink)
	}
	b.picture("print")
}
