package browser

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// live starts a run with a live page that stays, and gives the page's address and what stops
// the run.
func live(t *testing.T, args ...string) (address string, stop func()) {
	t.Helper()
	run := exec.Command(program, append([]string{"run", "--live", "--live-linger", "1h", "--quiet"}, args...)...)
	out, err := run.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Kill()
		_ = run.Wait()
	})
	in := bufio.NewReader(out)
	line, err := in.ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "Live page: ")
	if err != nil || !ok {
		t.Fatalf("the run does not say where its page is: %q, %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, in) }()
	return address, func() { _ = run.Process.Signal(os.Interrupt) }
}

// The live page follows a run to its end, and shows the present after a reload.
func TestLivePage(t *testing.T) {
	const running = `document.body.innerText.includes("RUNNING")`
	const requests = `document.querySelector("#requests table tbody tr") !== null`
	server := mock(t, "--ttft", "20ms", "--itl", "2ms")
	address, stop := live(t, server, "--model", "mock</script><b>", "--rate", "20", "--duration", "1h", "--output-tokens", "8")
	b := open(t, looks()[0], address)
	b.wait(running)
	sent := `JSON.parse(document.getElementById("document").textContent).result.stages[0].counts.sent`
	b.wait(`document.querySelectorAll("svg.chart").length > 3`)
	value[any](b, `window.first = document.body.innerText, null`)
	b.wait(`document.body.innerText !== window.first`)
	if !value[bool](b, `document.body.innerText.includes("mock</script><b>")`) {
		t.Error("the name of the model is not shown as it is")
	}
	before := value[float64](b, sent)
	b.do(chromedp.Reload())
	b.wait(`document.documentElement.dataset.ready === "true"`)
	if after := value[float64](b, sent); after <= before {
		t.Errorf("%v requests before the reload, %v after it", before, after)
	}
	b.picture("live")
	stop()
	b.wait(`!(` + running + `) && ` + requests)
	b.do(chromedp.Reload())
	b.wait(`document.documentElement.dataset.ready === "true" && !(` + running + `) && ` + requests)
	b.picture("live, over")
}
