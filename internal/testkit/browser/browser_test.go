// Package browser tests the report page in a real Chromium, which scripts/browser.sh installs:
// `make page-browser`. It knows the program by its command line alone.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// patience is how long anything may take: on a busy machine a browser takes its time.
const patience = 3 * time.Minute

// The files that the tests need.
var (
	installed string // by scripts/browser.sh
	program   string // inferometer
	work      string // for pages
)

func TestMain(m *testing.M) { os.Exit(mainCode(m)) }

func mainCode(m *testing.M) int {
	root, err := filepath.Abs("../../..")
	if err != nil {
		panic(err)
	}
	installed = os.Getenv("INFEROMETER_BROWSER")
	if installed == "" {
		installed = filepath.Join(root, ".peers", "browser")
	}
	if _, err := os.Stat(filepath.Join(installed, "chromium")); err != nil {
		fmt.Fprintln(os.Stderr, "no browser: run scripts/browser.sh first")
		return 1
	}
	if work, err = os.MkdirTemp("", "inferometer-pages-*"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(work)
	program = filepath.Join(work, "inferometer")
	build := exec.Command("go", "build", "-o", program, "./cmd/inferometer")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// look says how a page is looked at.
type look struct {
	name          string
	width, height int64
	phone, dark   bool
}

func looks() []look {
	return []look{
		{name: "desktop, light", width: 1280, height: 900},
		{name: "desktop, dark", width: 1280, height: 900, dark: true},
		{name: "phone, light", width: 390, height: 844, phone: true},
		{name: "phone, dark", width: 390, height: 844, phone: true, dark: true},
	}
}

// tab is a page that is open in a browser of its own.
type tab struct {
	*testing.T
	ctx context.Context

	mu       sync.Mutex
	tolerant bool // errors on the console are no failures
}

// open shows a file, without a network unless it is an address, and waits until it is drawn. An
// error on its console is a failure of the test.
func open(t *testing.T, l look, address string) *tab {
	t.Helper()
	// The test's own context ends before the clean-ups, and would kill the browser.
	ctx, stop := context.WithTimeout(context.Background(), patience)
	ctx, _ = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(filepath.Join(installed, "chromium")))...)
	ctx, _ = chromedp.NewContext(ctx)
	b := &tab{T: t, ctx: ctx}
	b.do() // starts it
	console, done := chromedp.Console(ctx), make(chan struct{})
	go func() {
		defer close(done)
		for m, err := range console {
			if err == nil && (m.IsException() || m.Type == chromedp.ConsoleError) && !b.isTolerant() {
				t.Error("console:", m)
			}
		}
	}()
	t.Cleanup(func() { chromedp.Cancel(ctx); stop(); <-done })
	if !strings.Contains(address, "://") {
		address = "file://" + address
		_, err := chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{{Offline: true}}})
		b.must(err)
	}
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	b.must(err)
	size := chromedp.EmulateViewport(l.width, l.height)
	if l.phone {
		size = chromedp.EmulateViewport(l.width, l.height, chromedp.EmulateMobile)
	}
	b.do(size, chromedp.Navigate(address))
	b.wait(`document.documentElement.dataset.ready === "true"`)
	return b
}

func (b *tab) isTolerant() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tolerant
}

// tolerate lets the page's console be: what follows is meant to fail.
func (b *tab) tolerate() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tolerant = true
}

func (b *tab) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// do carries out actions.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	b.must(chromedp.Do(b.ctx, actions...))
}

// wait waits until an expression is true.
func (b *tab) wait(expression string) {
	b.Helper()
	if err := chromedp.Do(b.ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingInterval(50*time.Millisecond))); err != nil {
		b.Fatalf("waiting for %s: %v", expression, err)
	}
}

// value is that of an expression.
func value[T any](b *tab, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return v
}

// press presses a key on the element that a selector finds.
func (b *tab) press(selector, key string) {
	b.Helper()
	b.do(chromedp.Focus(chromedp.CSS(selector)), chromedp.KeyEvent(key))
}

// picture keeps a screenshot where the person who runs the tests wants to look at them.
func (b *tab) picture(name string) {
	b.Helper()
	dir := os.Getenv("INFEROMETER_PICTURES")
	if dir == "" {
		return
	}
	shot, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	b.must(err)
	b.must(os.WriteFile(filepath.Join(dir, strings.NewReplacer(", ", "-", " ", "-").Replace(name)+".png"), shot, 0o644))
}
