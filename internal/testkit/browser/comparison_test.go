package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// hostileSide is a name of a side that a careless page would obey. What is obeyed ends in an
// error on the console, as there is no such function.
const hostileSide = `</script><script>obeyed()</script><img src><!--`

// sides is the page of a comparison of a run in levels with two others of a hostile name, and the
// file with its figures.
func sides(t *testing.T) (page, figures string) {
	t.Helper()
	_, dir := levels(t)
	server := mock(t, "--ttft", "26ms", "--ttft-stddev", "5ms", "--itl", "2ms", "--max-seqs", "6")
	var others []string
	for i := range 2 {
		others = append(others, filepath.Join(work, fmt.Sprint("other-", i)))
		inferometer(t, "run", server, "--model", "mock", "--name", "another", "--stage", "concurrency=2,requests=40,warmup=5", "--stage", "concurrency=4,requests=60",
			"--output-tokens", "8-30", "--goodput", "ttft:60ms,itl:20ms", "--out", others[i], "-q")
	}
	page, out := filepath.Join(work, "comparison.html"), filepath.Join(work, "comparison")
	inferometer(t, "compare", "before="+dir, hostileSide+"="+strings.Join(others, ","), "--anyway", "--html", page, "--out", out, "--format", "md")
	return page, filepath.Join(out, "comparison.json")
}

// However it is looked at, the page of a comparison draws all sides, fits, obeys no text and has
// the figures of the comparison.
func TestComparison(t *testing.T) {
	page, figures := sides(t)
	all := looks()
	if testing.Short() {
		all = []look{all[0], all[3]}
	}
	for _, l := range all {
		t.Run(l.name, func(t *testing.T) {
			b := open(t, l, page)
			b.looksRight(l)
			if n := value[int](b, `document.querySelectorAll("main img, main script").length`); n != 0 || !value[bool](b, fmt.Sprintf(`document.querySelector("h1").textContent.includes(%q)`, hostileSide)) {
				t.Errorf("%d elements that no page has, or the name is not shown", n)
			}
			if one := value[[]string](b, `[...document.querySelectorAll("#latency figure, #time figure")].filter(f => f.checkVisibility() && !(f.querySelector("svg .s1") && f.querySelector("svg .s2"))).map(f => f.textContent.slice(0, 60))`); len(one) > 0 {
				t.Errorf("charts without both sides: %q", one)
			}
			if thin := value[int](b, `document.querySelectorAll("#latency .line.thin.s2").length`); thin < 2 {
				t.Errorf("%d thin lines for a side of two runs", thin)
			}
			b.picture("comparison, " + l.name)
		})
	}
	t.Run("figures", func(t *testing.T) { sameFigures(t, page, figures) })
}

// sameFigures chooses each load and reads the words of the table.
func sameFigures(t *testing.T, page, figures string) {
	b := open(t, looks()[0], page)
	text, err := os.ReadFile(figures)
	b.must(err)
	var want struct {
		Loads []struct {
			Name   string
			Tables []struct {
				Rows []struct{ Name, Verdict string }
			}
		}
	}
	b.must(json.Unmarshal(text, &want))
	if len(want.Loads) < 2 {
		t.Fatalf("%d loads are compared", len(want.Loads))
	}
	for i, l := range want.Loads {
		value[any](b, fmt.Sprintf(`{const s = document.querySelector(".bar .stages select"); s.value = "%d"; s.dispatchEvent(new Event("change")); null}`, i))
		if lead := value[string](b, `document.querySelector("#comparison p.lead").textContent`); !strings.HasPrefix(lead, l.Name) {
			t.Errorf("load %d is %q: %q is shown", i, l.Name, lead)
		}
		var words []string
		for _, r := range l.Tables[0].Rows {
			words = append(words, strings.Replace(r.Verdict, "none found", "no difference found", 1))
		}
		if got := value[[]string](b, `[...document.querySelectorAll("#comparison td.result .badge")].map(e => e.textContent.replace("?", ""))`); !slices.Equal(got, words) {
			t.Errorf("%s: %q, want %q", l.Name, got, words)
		}
	}
	value[any](b, `{document.getElementById("only-differences").click(); null}`)
	if n := value[int](b, `[...document.querySelectorAll("#comparison td.result .badge.none")].length`); n != 0 {
		t.Errorf("%d rows without a difference are left", n)
	}
	b.press("#latency svg.chart", "+")
	pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF())
	b.must(err)
	if len(pdf) < 50_000 {
		t.Errorf("a PDF of %d bytes", len(pdf))
	}
	if dir := os.Getenv("INFEROMETER_PICTURES"); dir != "" {
		b.must(os.WriteFile(filepath.Join(dir, "comparison.pdf"), pdf, 0o644))
	}
}
