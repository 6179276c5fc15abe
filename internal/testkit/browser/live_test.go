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

// live starts a run with a live page that stays, and gives the page's address and what sends the
// run a signal.
func live(t *testing.T, args ...string) (address string, send func(os.Signal)) {
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
	return address, func(s os.Signal) { _ = run.Process.Signal(s) }
}

// The live page follows a run to its end, and shows the present after a reload.
func TestLivePage(t *testing.T) {
	const running = `document.body.innerText.includes("RUNNING")`
	const requests = `document.querySelector("#requests table tbody tr") !== null`
	server := mock(t, "--ttft", "20ms", "--itl", "2ms")
	address, send := live(t, server, "--model", "mock</script><b>", "--rate", "20", "--duration", "1h", "--output-tokens", "8")
	b := open(t, looks()[0], address)
	b.wait(running)
	sent := `JSON.parse(document.getElementById("document").textContent).result.stages[0].counts.sent`
	b.wait(`document.querySelectorAll("svg.chart").length > 3`)
	b.wait(`/^Measuring: 0 %, about .* left$/.test(document.querySelector(".underway")?.textContent ?? "")`)
	if value[bool](b, `/valid/i.test(document.querySelector(".headline").textContent)`) {
		t.Error("a run that goes on is judged")
	}
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
	send(os.Interrupt)
	b.wait(`!(` + running + `) && ` + requests)
	b.do(chromedp.Reload())
	b.wait(`document.documentElement.dataset.ready === "true" && !(` + running + `) && ` + requests)
	b.picture("live, over")
}

// Where the program was killed, the live page says that it has lost it, and shows the last figures.
func TestLivePageOfKilledRun(t *testing.T) {
	const word = `document.querySelector(".verdict-word").textContent`
	address, send := live(t, mock(t, "--ttft", "20ms", "--itl", "2ms"), "--model", "mock", "--rate", "20", "--duration", "1h", "--output-tokens", "8")
	b := open(t, looks()[0], address)
	b.wait(word + ` === "RUNNING" && document.querySelectorAll("svg.chart").length > 3`)
	b.tolerate() // a connection that fails is reported there
	send(os.Kill)
	b.wait(word + ` === "CONNECTION LOST"`)
	if value[bool](b, `/RUNNING|Inferometer, running/.test(document.body.innerText)`) {
		t.Error("a run that was killed is still said to be running")
	}
	if !value[bool](b, `document.querySelectorAll("svg.chart").length > 3 && document.querySelector(".figure .big") !== null`) {
		t.Error("the last figures are gone")
	}
	b.picture("live, killed")
}
