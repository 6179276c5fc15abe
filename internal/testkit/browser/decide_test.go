package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// wanted is how many rows the table of requests has.
const wanted = `(Number(document.querySelector("table.requests").getAttribute("aria-rowcount")) - 1)`

// chosen sets the filter with a label to a value.
func (b *tab) chosen(label, option string) {
	b.Helper()
	value[any](b, fmt.Sprintf(`{const s = [...document.querySelectorAll("#requests .filters label")].find(l => l.textContent === %q).parentElement.querySelector("select"); s.value = %q; s.dispatchEvent(new Event("change")); null}`, label, option))
}

// Where nothing succeeded, the page says why, and has no figures of nothing.
func TestZeroSuccesses(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	inferometer(t, "run", mock(t, "--fault", "status:503=1", "--retry-after", "0"), "--model", "mock", "-c", "2", "--requests", "6", "--html", page, "-q")
	b := open(t, looks()[0], page)
	if said := value[string](b, `document.querySelector(".headline").textContent`); !strings.HasPrefix(said, "None of 6 requests succeeded: HTTP 503") {
		t.Errorf("the headline is %q", said)
	}
	if said := value[string](b, `document.querySelector(".figures").innerText`); !strings.Contains(said, "6 failed") || strings.Contains(said, "0.00") {
		t.Errorf("the figures are %q", said)
	}
	if value[bool](b, `/check the URL/i.test(document.body.innerText)`) {
		t.Error("a server that is up is said not to be there")
	}
}

// Figures come before what stands in the way of trusting them, with what was sent and what came of it.
func TestFirstScreen(t *testing.T) {
	page, _ := levels(t)
	b := open(t, looks()[0], page)
	if end := value[float64](b, `document.querySelector(".figures").getBoundingClientRect().bottom`); end > 900 {
		t.Errorf("the figures end at %v pixels, and the screen at 900", end)
	}
	if value[bool](b, `document.querySelector(".figures").compareDocumentPosition(document.querySelector(".verdict")) !== Node.DOCUMENT_POSITION_FOLLOWING`) {
		t.Error("the verdict's reasons come before the figures")
	}
	if said := value[string](b, `document.querySelector(".figure:last-child").innerText`); !strings.Contains(said, " ok") || !strings.Contains(said, "HTTP 500") {
		t.Errorf("what came of the requests is told as %q", said)
	}
}

// Stages are laid over each other, none that cannot be trusted is on the front, and labels can be read.
func TestLevelsAgainstOneAnother(t *testing.T) {
	page, _ := levels(t)
	b := open(t, looks()[0], page)
	const chart = `[...document.querySelectorAll("#levels figure")].find(f => f.querySelector("h3").textContent === %q)`
	if n := value[int](b, fmt.Sprintf(chart+`.querySelectorAll("svg path.line").length`, "Time to first token by percentile, by load")); n != 3 {
		t.Errorf("%d curves of 3 stages", n)
	}
	if bad := value[int](b, `JSON.parse(document.getElementById("document").textContent).result.stages.filter(s => s.verdict && s.verdict.status !== "valid").length`); bad > 0 {
		if n := value[int](b, fmt.Sprintf(chart+`.querySelectorAll("svg .point.unsure").length`, "Tokens/s in total against tokens/s per user")); n != bad {
			t.Errorf("%d of %d stages that are not valid are drawn as such", n, bad)
		}
	}
	if over := value[[]string](b, `[...document.querySelectorAll("#levels svg.chart")].flatMap(s => {
		const at = [...s.querySelectorAll("text.label")].map(e => [e.textContent, e.getBoundingClientRect()]), points = [...s.querySelectorAll(".point")].map(e => ["a point", e.getBoundingClientRect()]);
		return at.flatMap(([t, a], i) => [...at.slice(i + 1), ...points].filter(([, b]) => a.left < b.right - 2 && b.left < a.right - 2 && a.top < b.bottom - 3 && b.top < a.bottom - 3).map(([u]) => t + " over " + u));
	})`); len(over) > 0 {
		t.Errorf("labels that cannot be read: %q", over)
	}
	if mute := value[[]string](b, `[...document.querySelectorAll("#latency figure")].filter(f => !/percentile/.test(f.querySelector("h3").textContent) && !/log axis/.test(f.querySelector("svg").textContent)).map(f => f.textContent)`); len(mute) > 0 {
		t.Errorf("charts with a logarithmic axis that do not say so: %q", mute)
	}
}

// After zooming, the values are those under the pointer.
func TestHoverAfterZoom(t *testing.T) {
	page, _ := levels(t)
	b := open(t, looks()[0], page)
	value[any](b, `{document.querySelector("#time").scrollIntoView(); SVGElement.prototype.setPointerCapture = () => {}; null}`)
	value[any](b, `{const s = document.querySelector("#time svg.chart"), r = s.getBoundingClientRect(), go = (kind, part) => s.dispatchEvent(new PointerEvent(kind, {clientX: r.left + r.width * part, clientY: r.top + r.height / 2, button: 0, pointerId: 1, bubbles: true}));
		go("pointerdown", 0.4); go("pointermove", 0.5); go("pointerup", 0.5); null}`)
	b.wait(`/ to /.test(document.querySelector("#time .seen").textContent)`)
	b.wait(`(s => { const r = s.getBoundingClientRect(), c = s.querySelector(".cursor"); return c.getAttribute("visibility") === "visible" && Math.abs(Number(c.getAttribute("x1")) / r.width - 0.5) < 0.02; })(document.querySelector("#time svg.chart"))`)
	if out := value[int](b, `[...document.querySelectorAll("#time svg.chart")].flatMap(s => [...s.querySelectorAll("circle.dot")].filter(d => Number(d.getAttribute("cx")) < 55)).length`); out > 0 {
		t.Errorf("%d values beside the chart", out)
	}
}

// Targets stand beside each other above the charts, and lead to their requests.
func TestTargets(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	inferometer(t, "run", mock(t, "--ttft", "5ms"), mock(t, "--ttft", "20ms"), "--model", "mock", "-c", "2", "--requests", "30", "--output-tokens", "4", "--html", page, "-q")
	for _, l := range []look{looks()[0], looks()[2]} {
		b := open(t, l, page)
		b.keepsNobodyOut(l)
		if value[bool](b, `document.getElementById("targets").getBoundingClientRect().top > document.getElementById("latency").getBoundingClientRect().top`) {
			t.Error("the targets stand below the charts")
		}
		all := value[int](b, wanted)
		value[any](b, `{document.querySelectorAll("#targets tbody button")[1].click(); null}`)
		first := value[int](b, wanted)
		b.chosen("Target", "0")
		if second := value[int](b, wanted); first == 0 || second == 0 || first+second != all {
			t.Errorf("%d requests of one target and %d of the other, of %d", first, second, all)
		}
		b.picture("targets " + l.name)
	}
}

// A link keeps the stage, what is zoomed to and the requests that are wanted.
func TestLink(t *testing.T) {
	page, _ := levels(t)
	b := open(t, looks()[0], page)
	value[any](b, `{const s = document.querySelector(".bar .stages select"); s.value = "1"; s.dispatchEvent(new Event("change")); [...document.querySelectorAll("#time .tools button")].find(x => x.textContent === "Zoom in").click(); null}`)
	b.chosen("Result", "=HTTP 500")
	b.do(chromedp.Click(chromedp.CSS(`.bar a[href="#requests"]`)))
	b.wait(`/^#requests&stage=2&zoom=[\d.]+_[\d.]+&result=/.test(location.hash)`)
	link := value[string](b, `location.hash`)
	const state = `[document.querySelector(".bar .stages select").value, document.querySelector("#time .seen").textContent, document.querySelector("#requests .filters select").value, document.querySelector(".figures-box h2").textContent].join(" | ")`
	want, rows := value[string](b, state), value[int](b, wanted)
	again := open(t, looks()[0], page+link)
	if got := value[string](again, state); got != want || value[int](again, wanted) != rows {
		t.Errorf("a link to %q shows %q", want, got)
	}
	again.wait(`Math.abs(document.getElementById("requests").getBoundingClientRect().top) < 200`)
}

// A turn goes by its session, and no two requests have one name.
func TestTurnsHaveNames(t *testing.T) {
	dir := t.TempDir()
	file, page := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "page.html")
	text := fmt.Sprintf("target: {urls: [%q], model: mock}\ndata: {source: sessions, input: 20, output: 4, sessions: {count: 4, turns: 3}}\nstages: [{arrival: sessions, sessions: {concurrent: 2}}]\n", mock(t, "--ttft", "5ms"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	inferometer(t, "run", file, "--html", page, "-q")
	b := open(t, looks()[0], page)
	names := value[[]string](b, `[...document.querySelectorAll("table.requests tbody tr[data-at] td:first-child")].map(c => c.textContent)`)
	slices.Sort(names)
	if n := len(slices.Compact(slices.Clone(names))); n != 12 || names[0] != "1, turn 1" || names[11] != "4, turn 3" {
		t.Errorf("the requests are called %q", names)
	}
}
