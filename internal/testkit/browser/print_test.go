package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// What of a sheet is printed on, in pixels: the lower of A4 and Letter, and the narrower of them.
const (
	sheetWidth  = 688
	sheetHeight = 950
)

// On paper, the figures are on the first sheet, what is folded is open at the end, and what stands
// for a colour has it.
func TestPrint(t *testing.T) {
	page, _ := levels(t)
	b := open(t, looks()[0], page)
	pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF())
	b.must(err)
	if len(pdf) < 50_000 {
		t.Errorf("a PDF of %d bytes", len(pdf))
	}
	if dir := os.Getenv("INFEROMETER_PICTURES"); dir != "" {
		b.must(os.WriteFile(filepath.Join(dir, "page.pdf"), pdf, 0o644))
	}
	if value[bool](b, `document.querySelector("details.checks").open`) || !value[bool](b, `document.querySelector(".verdict details.checks") !== null`) {
		t.Error("after printing the checks are not where they were, folded")
	}
	_, err = chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	b.must(err)
	b.do(chromedp.EmulateViewport(sheetWidth, sheetHeight))
	value[any](b, `dispatchEvent(new Event("beforeprint")), null`)
	b.picture("print")
	if end := value[float64](b, `document.querySelector(".figures-box").getBoundingClientRect().bottom + scrollY`); end > sheetHeight {
		t.Errorf("the figures end at %v pixels, and the first sheet at %v", end, sheetHeight)
	}
	if wide := value[[]string](b, `[...document.querySelectorAll("main table")].filter(t => t.getBoundingClientRect().right > innerWidth + 1).map(t => t.className || t.parentElement.getAttribute("aria-label"))`); len(wide) > 0 {
		t.Errorf("tables that are wider than the sheet: %q", wide)
	}
	if !value[bool](b, `["details.notes", "details.checks"].map(d => document.querySelector(d)).every(c => c.open && c.getBoundingClientRect().top > document.querySelector("#setup").getBoundingClientRect().top)`) {
		t.Error("the notes and checks are not open at the end")
	}
	if how := value[string](b, `getComputedStyle(document.querySelector(".swatch")).printColorAdjust`); how != "exact" {
		t.Errorf("swatches print with colours %q", how)
	}
	if how := value[string](b, `getComputedStyle(document.querySelector(".figures-box")).breakInside`); how != "avoid" {
		t.Errorf("the figures may be cut in two: break-inside is %q", how)
	}
}
