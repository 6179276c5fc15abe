package browser

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// However it is looked at, the page draws itself, fits and keeps nobody out.
func TestEveryLook(t *testing.T) {
	page, _ := levels(t)
	for _, l := range looks() {
		t.Run(l.name, func(t *testing.T) {
			b := open(t, l, page)
			b.looksRight(l)
			b.picture(l.name)
		})
	}
}

// looksRight finds charts without marks, and what keeps people out.
func (b *tab) looksRight(l look) {
	b.Helper()
	t := b.T
	if n := value[int](b, `[...document.querySelectorAll("svg.chart")].filter(s => s.checkVisibility()).length`); n < 10 {
		t.Errorf("%d charts", n)
	}
	if empty := value[[]string](b, `[...document.querySelectorAll("figure.chart-box")].filter(f => f.checkVisibility() && ![...f.querySelectorAll("svg.chart path, svg.chart circle")].some(p => (p.getAttribute("d") ?? "circle").length > 5)).map(f => f.textContent.slice(0, 60))`); len(empty) > 0 {
		t.Errorf("charts without marks: %q", empty)
	}
	b.keepsNobodyOut(l)
}

// keepsNobodyOut finds a page that is too wide, the wrong colors and what axe finds.
func (b *tab) keepsNobodyOut(l look) {
	b.Helper()
	t := b.T
	if over := value[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		t.Errorf("the page is %d pixels too wide", over)
	}
	background := value[string](b, `getComputedStyle(document.body).backgroundColor`)
	if dark := brightness(t, background) < 0.5; dark != l.dark {
		t.Errorf("the background is %s", background)
	}
	value[any](b, axe(t)+"; null")
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]any](`axe.run(document, {resultTypes: ["violations"], preload: false}).then(r => r.violations.map(v => v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map(n => n.target + " " + n.failureSummary).join("; ")))`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error("axe:", v)
	}
}

// axe is the script that looks for what keeps people out.
func axe(t *testing.T) string {
	t.Helper()
	file, err := filepath.Glob(filepath.Join(installed, "axe-*.js"))
	if err != nil || len(file) == 0 {
		t.Fatal("axe-core is not there: run scripts/browser.sh")
	}
	script, err := os.ReadFile(file[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(script)
}

// brightness is that of a color as CSS writes it, from 0 to 1.
func brightness(t *testing.T, color string) float64 {
	t.Helper()
	var r, g, b float64
	if _, err := fmt.Sscanf(color, "rgb(%f, %f, %f)", &r, &g, &b); err != nil {
		t.Fatalf("the color %q: %v", color, err)
	}
	return (r + g + b) / 3 / 255
}

// The figures are those of result.json: in the data, and as they are written out.
func TestFiguresAreThoseOfTheResult(t *testing.T) {
	page, dir := levels(t)
	b := open(t, looks()[0], page)
	var want, got map[string]any
	file, err := os.ReadFile(filepath.Join(dir, "result.json"))
	b.must(err)
	b.must(json.Unmarshal(file, &want))
	b.must(json.Unmarshal([]byte(value[string](b, `JSON.stringify(JSON.parse(document.getElementById("document").textContent).result)`)), &got))
	for _, key := range []string{"schema", "started", "duration_s", "verdict", "host"} {
		if !reflect.DeepEqual(got[key], want[key]) {
			t.Errorf("%s is %v, want %v", key, got[key], want[key])
		}
	}
	stages := want["stages"].([]any)
	for i, s := range stages {
		for _, key := range []string{"metrics", "counts", "window", "goodput", "steady", "load"} {
			if g, w := got["stages"].([]any)[i].(map[string]any)[key], s.(map[string]any)[key]; !reflect.DeepEqual(g, w) {
				t.Errorf("stage %d: %s is %v, want %v", i, key, g, w)
			}
		}
	}
	for i := range stages {
		if len(stages) > 1 {
			value[any](b, fmt.Sprintf(`{const s = document.querySelector(".bar .stages select"); s.value = "%d"; s.dispatchEvent(new Event("change")); null}`, i))
		}
		metrics := stages[i].(map[string]any)["metrics"].(map[string]any)
		for label, name := range map[string]string{"Time to first token": "time_to_first_token", "Inter-token latency": "inter_token_latency", "Request latency": "request_latency"} {
			shown := value[[]string](b, fmt.Sprintf(`[...document.querySelectorAll("table.figures-table tr")].filter(r => r.querySelector("th")?.textContent === %q).flatMap(r => [...r.children].map(c => c.firstChild?.textContent ?? ""))`, label))
			columns := value[[]string](b, `[...document.querySelectorAll("table.figures-table thead th")].map(c => c.textContent)`)
			if len(shown) != len(columns) {
				t.Fatalf("stage %d: %s is shown as %q", i, label, shown)
			}
			for c, head := range columns {
				exact, ok := metrics[name].(map[string]any)[head].(float64)
				if !ok {
					continue
				}
				if v, last := milliseconds(t, shown[c], shown[1]); math.Abs(v-exact) > 0.501*last {
					t.Errorf("stage %d: %s, %s: %s %s are shown, it is %v ms", i, label, head, shown[c], shown[1], exact)
				}
			}
		}
	}
}

// milliseconds reads a figure as the page writes it, and gives what its last digit stands for.
func milliseconds(t *testing.T, text, unit string) (v, last float64) {
	t.Helper()
	text = strings.NewReplacer("~", "", ",", "", "\u202f", "", "\u00a0", "", " ", "").Replace(text)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("the figure %q: %v", text, err)
	}
	_, decimals, _ := strings.Cut(text, ".")
	scale := map[string]float64{"s": 1000, "ms": 1, "µs": 0.001}[unit]
	return v * scale, math.Pow10(-len(decimals)) * scale
}

// Zooming one chart zooms all axes of time; a key brings all back.
func TestZoom(t *testing.T) {
	page, _ := levels(t)
	b := open(t, looks()[0], page)
	const ticks = `[...document.querySelectorAll("#time svg.chart")].at(-1).querySelector(".axis").textContent`
	whole := value[string](b, ticks)
	zoomed := func() { b.Helper(); b.wait(fmt.Sprintf("%s !== %q", ticks, whole)) }
	shown := func() { b.Helper(); b.wait(fmt.Sprintf("%s === %q", ticks, whole)) }
	value[any](b, `document.querySelector("#time svg.chart").scrollIntoView({block: "center"})`)
	at := value[[]float64](b, `(r => [r.left, r.top, r.width, r.height])(document.querySelector("#time svg.chart").getBoundingClientRect())`)
	y := at[1] + at[3]/2
	drag := func(kind, x string) string {
		return fmt.Sprintf(`document.querySelector("#time svg.chart").dispatchEvent(new PointerEvent(%q, {clientX: %s, clientY: %v, button: 0, pointerId: 1, bubbles: true}));`, kind, x, y)
	}
	value[any](b, `SVGElement.prototype.setPointerCapture = () => {}; null`) // there is no such pointer
	value[any](b, drag("pointerdown", fmt.Sprint(at[0]+at[2]*0.4))+drag("pointermove", fmt.Sprint(at[0]+at[2]*0.6))+drag("pointerup", fmt.Sprint(at[0]+at[2]*0.6))+" null")
	zoomed()
	if seen := value[string](b, `document.querySelector("#time .seen").textContent`); !strings.Contains(seen, " to ") {
		t.Errorf("what is seen is told as %q", seen)
	}
	b.picture("zoomed")
	b.press("#time svg.chart", "0")
	shown()
	b.press("#time svg.chart", "+")
	zoomed()
	b.press("#time svg.chart", "0")
	shown()
	b.press("#time svg.chart", kb.ArrowRight)
	b.wait(`document.querySelector("#time svg.chart .cursor").getAttribute("visibility") !== "hidden"`)
}

// The table filters and sorts, and a request opens with its events, by mouse and by keyboard.
func TestRequests(t *testing.T) {
	page, _ := levels(t)
	b := open(t, looks()[0], page)
	all := value[int](b, `Number(document.querySelector("table.requests").getAttribute("aria-rowcount"))`)
	filter := func(label, option string) int {
		value[any](b, fmt.Sprintf(`{const s = [...document.querySelectorAll("#requests .filters label")].find(l => l.textContent === %q).parentElement.querySelector("select"); s.value = %q; s.dispatchEvent(new Event("change")); null}`, label, option))
		return value[int](b, `Number(document.querySelector("table.requests").getAttribute("aria-rowcount"))`)
	}
	failed := filter("Result", "failed")
	if failed >= all || failed < 2 {
		t.Errorf("%d of %d rows are failures", failed-1, all-1)
	}
	if ok := filter("Result", "ok"); ok+failed != all+1 {
		t.Errorf("%d rows went well and %d failed, of %d", ok-1, failed-1, all-1)
	}
	if some := filter("Result", "=HTTP 500"); some < 2 || some > failed {
		t.Errorf("%d rows failed with status 500, of %d that failed", some-1, failed-1)
	}
	b.do(chromedp.Click(chromedp.CSS("table.requests tbody tr[data-at]")))
	b.wait(`document.querySelector("dialog.trace").open`)
	if said := value[string](b, `document.querySelector("dialog.trace").innerText`); !strings.Contains(said, "HTTP 500") || !strings.Contains(said, "Internal Server Error") {
		t.Errorf("a request that failed does not say how: %q", said)
	}
	b.picture("failed request")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wait(`!document.querySelector("dialog.trace").open`)
	filter("Result", "")
	latency := `[...document.querySelectorAll("table.requests tbody tr[data-at]")].map(r => parseFloat(r.children[5].textContent))`
	if v := value[[]float64](b, latency); v[0] < v[1] {
		t.Errorf("the slowest is not the first: %v", v)
	}
	value[any](b, `{document.querySelectorAll("table.requests th button")[5].click(); null}`)
	if v := value[[]float64](b, latency); v[0] > v[1] {
		t.Errorf("the quickest is not the first: %v", v)
	}
	filter("Result", "ok")
	b.do(chromedp.Click(chromedp.CSS("table.requests tbody tr[data-at]")))
	b.wait(`document.querySelector("dialog.trace").open`)
	if n := value[int](b, `document.querySelectorAll("dialog.trace svg circle, dialog.trace svg path").length`); n == 0 {
		t.Error("the trace shows no events")
	}
	b.picture("trace")
	title := value[string](b, `document.getElementById("trace-title").textContent`)
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	b.wait(fmt.Sprintf(`document.getElementById("trace-title").textContent !== %q`, title))
	b.do(chromedp.KeyEvent(kb.Escape))
	b.wait(`!document.querySelector("dialog.trace").open`)
	b.press("#requests .virtual", kb.ArrowDown)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.wait(`document.querySelector("dialog.trace").open`)
}

// Tab goes through the page in order, what has the focus is seen, and the link that skips the
// bar comes first.
func TestKeyboard(t *testing.T) {
	page, _ := levels(t)
	b := open(t, looks()[0], page)
	seen := map[string]bool{}
	for i := range 40 {
		b.do(chromedp.KeyEvent(kb.Tab))
		at := value[string](b, `(e => e.tagName + "." + e.getAttribute("class") + " " + (e.getAttribute("aria-label") ?? e.textContent).slice(0, 40))(document.activeElement)`)
		if i == 0 && !strings.Contains(at, "Skip") {
			t.Errorf("the first stop is %s", at)
		}
		if strings.HasPrefix(at, "BODY") {
			t.Fatalf("stop %d is nowhere", i)
		}
		if outline := value[bool](b, `(s => s.outlineStyle !== "none" || s.boxShadow !== "none")(getComputedStyle(document.activeElement))`); !outline {
			t.Errorf("the focus on %s is not seen", at)
		}
		seen[at] = true
	}
	if len(seen) < 15 {
		t.Errorf("40 steps come to %d places", len(seen))
	}
}

// Texts of servers and users are shown and never obeyed, and the page's own policy forbids
// what it does not do.
func TestHostileTextsAreInert(t *testing.T) {
	b := open(t, looks()[0], hostilePage(t))
	if obeyed := value[string](b, `String(window.obeyed)`); obeyed != "undefined" {
		t.Errorf("the page obeyed: %s", obeyed)
	}
	if !value[bool](b, fmt.Sprintf(`document.body.textContent.includes(%q)`, hostile)) {
		t.Error("the name is not shown as it is")
	}
	if n := value[int](b, `document.querySelectorAll("main img, main script, main iframe").length`); n != 0 {
		t.Errorf("%d elements that no page has", n)
	}
	b.picture("hostile")
	b.tolerate()
	value[any](b, `{const s = document.createElement("script"); s.textContent = "window.obeyed = 3"; document.body.append(s); const i = document.createElement("p"); i.setAttribute("onclick", "window.obeyed = 4"); document.body.append(i); i.click(); null}`)
	if obeyed := value[string](b, `String(window.obeyed)`); obeyed != "undefined" {
		t.Errorf("a script that is not the page's own ran: %s", obeyed)
	}
}
