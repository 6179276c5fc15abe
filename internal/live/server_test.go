package live

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/lib/access"
	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
)

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func listen(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, address string, header ...string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// On loopback anybody may look who comes under a name of this machine.
func TestGuardOnLoopback(t *testing.T) {
	s := listen(t, Options{})
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:1234": 200, "127.0.0.1:80": 200, "[::1]:80": 200, "127.8.8.8": 200, "localhost.": 200,
		"evil.example": 421, "evil.example:80": 421, "192.168.1.1": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "[fe80::1]": 421,
	} {
		if got, text := get(t, s.URL()+"metrics", "Host", host); got != want {
			t.Errorf("Host %q: %d, want %d: %s", host, got, want, text)
		}
	}
}

// Beyond loopback the token is needed, for everything.
func TestGuardBeyond(t *testing.T) {
	s := listen(t, Options{Address: "0.0.0.0:0"})
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	token := u.Query().Get("token")
	if access.CheckToken(TokenVariable, token) != nil {
		t.Fatalf("the URL %s has no good token", s.URL())
	}
	for _, path := range []string{"/", "/events", "/metrics", "/else"} {
		for _, query := range []string{"", "?token=", "?token=" + token[1:], "?token=" + token + "x"} {
			if got, text := get(t, "http://"+u.Host+path+query); got != http.StatusForbidden || strings.Contains(text, token) {
				t.Errorf("%s%s: %d %s", path, query, got, text)
			}
		}
	}
	if got, _ := get(t, "http://"+u.Host+"/metrics?token="+token); got != 200 {
		t.Errorf("with the token: %d", got)
	}
	if got, _ := get(t, "http://"+u.Host+"/metrics", "Authorization", "Bearer "+token); got != 200 {
		t.Errorf("with the token in a header: %d", got)
	}
	if got, _ := get(t, "http://"+u.Host+"/metrics", "Authorization", "Bearer wrong"); got != 403 {
		t.Errorf("with a wrong token in a header: %d", got)
	}
	if got, _ := get(t, "http://"+u.Host+"/?token="+token, "Host", "bench.example"); got != 200 {
		t.Errorf("under another name, with the token: %d", got)
	}
}

// A token of the user's own is needed on loopback too, and is not printed.
func TestTokenOfTheUser(t *testing.T) {
	const token = "a token & of my own"
	s := listen(t, Options{Token: token})
	bare, _, _ := strings.Cut(s.URL(), "?")
	if strings.Contains(s.URL(), "own") || !strings.Contains(s.URL(), "$"+TokenVariable) {
		t.Errorf("URL %s", s.URL())
	}
	if got, _ := get(t, bare); got != 403 {
		t.Errorf("without it: %d", got)
	}
	if got, _ := get(t, bare+"?token="+url.QueryEscape(token)); got != 200 {
		t.Errorf("with it: %d", got)
	}
	if _, err := Listen(Options{Token: "short"}); err == nil || strings.Contains(err.Error(), "short:") {
		t.Errorf("a short token: %v", err)
	}
}

func TestListenFaults(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for address, want := range map[string]string{
		l.Addr().String():  "in use",
		"localhost":        "not HOST:PORT",
		"127.0.0.1:999999": "invalid port",
		"192.0.2.1:0":      "listening for the live page on 192.0.2.1:0",
	} {
		s, err := Listen(Options{Address: address})
		if err == nil {
			s.Close()
			t.Errorf("%s: no error", address)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// stream reads events.
type stream struct {
	t    *testing.T
	body io.ReadCloser
	in   *bufio.Reader
}

func follow(t *testing.T, s *Server) *stream {
	t.Helper()
	resp, err := http.Get(s.URL() + "events")
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s, %s", resp.Status, resp.Header.Get("Content-Type"))
	}
	t.Cleanup(func() { resp.Body.Close() })
	return &stream{t, resp.Body, bufio.NewReader(resp.Body)}
}

// sent is what an event carries.
type sent struct {
	Document struct {
		Live   bool
		Result result.Result
		Stages []struct{ Curves map[string]any }
		Series []struct{ Name string }
	}
	Planes string
}

func (s *stream) next() (name string, data sent) {
	s.t.Helper()
	var text string
	for _, prefix := range []string{"event: ", "data: ", ""} {
		line, err := s.in.ReadString('\n')
		if err != nil {
			s.t.Fatalf("reading %q: %v", prefix, err)
		}
		rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), prefix)
		if !ok {
			s.t.Fatalf("%q does not begin with %q", line, prefix)
		}
		switch prefix {
		case "event: ":
			name = rest
		case "data: ":
			text = rest
		}
	}
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		s.t.Fatal(err)
	}
	if len(text) > 100<<10 {
		s.t.Errorf("an event of %d bytes", len(text))
	}
	return name, data
}

// A page that follows gets the present first, then what comes, then the end; one that comes
// later gets the end.
func TestEvents(t *testing.T) {
	s, c := listen(t, Options{Version: "v1"}), measured(t)
	if _, text := get(t, s.URL()); !strings.Contains(text, `"status":"running"`) {
		t.Errorf("the page before the run: %.300s", text)
	}
	state := c.Progress
	s.Watch(func() run.Progress { return state })
	f := follow(t, s)
	name, first := f.next()
	if name != "document" || !first.Document.Live || len(first.Document.Result.Stages) != 2 || first.Document.Result.Stages[0].Counts.OK != 20 {
		t.Errorf("first event %q: %+v", name, first)
	}
	if got := first.Document.Result.Stages[0].Metrics["time_to_first_token"]; got.Count != 20 || got.P50 < 60 || got.P50 > 75 {
		t.Errorf("time to first token: %+v", got)
	}
	if got := first.Document.Result.Stages[1].Metrics["slo_attainment"]; got.Avg < 0.33 || got.Avg > 0.34 {
		t.Errorf("a third of stage 2 was good, not %v", got.Avg)
	}
	if _, text := get(t, s.URL()); !strings.Contains(text, "connect-src 'self'") && strings.Contains(text, "connect-src") || strings.Contains(text, "<b>") || strings.Contains(text, "secret-key") {
		t.Errorf("the page: %.300s", text)
	}
	s.mu.Lock()
	state.Result = &result.Result{Schema: result.Schema, Verdict: result.Verdict{Status: result.Valid}}
	s.mu.Unlock()
	if !s.End() {
		t.Error("there was nothing to show in the end")
	}
	for name == "document" { // the clock may have brought another one
		name, first = f.next()
	}
	if name != "end" || first.Document.Result.Verdict.Status != result.Valid {
		t.Errorf("last event %q: %+v", name, first)
	}
	if name, _ := follow(t, s).next(); name != "end" {
		t.Errorf("whoever comes late gets %q", name)
	}
	if _, text := get(t, s.URL()); strings.Contains(text, `"live":true`) {
		t.Error("the page of a run that is over waits for more")
	}
	s.Close()
	if _, err := f.in.ReadByte(); err == nil {
		t.Error("the stream goes on after the end")
	}
	if _, err := http.Get(s.URL()); err == nil {
		t.Error("the server answers after the end")
	}
}

// What is drawn of a stage is all of its samples, in few bytes, also where there are many stages
// that differ by much.
func TestDocumentOfManyStages(t *testing.T) {
	c, h := newFake(t), NewHistory(mostBins)
	const stages = 10
	c.Plan.Stages, c.Times = nil, nil
	for i := range stages {
		c.Plan.Stages = append(c.Plan.Stages, plan.Stage{Rate: 5})
		c.Times = append(c.Times, record.StageTimes{Begin: c.At, WarmupEnd: c.At, SendEnd: c.At + 200*time.Second,
			DrainEnd: c.At + 200*time.Second})
		for k := range 2000 {
			c.At += 100 * ms
			c.add(i, record.Measured, time.Duration(1+k*k*50)*time.Microsecond)
			h.Add(&c.Progress)
		}
	}
	c.Stages, c.Stage = c.Plan.Stages, stages-1
	d := document(&c.Progress, h, "v1")
	text, err := message(d)
	if err != nil || len(text) > 100<<10 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	for i, s := range d.Stages {
		var n int64
		for _, count := range s.Histograms["time_to_first_token"].Sent.Counts {
			n += count
		}
		curve := s.Curves["time_to_first_token"].Sent
		if n != 2000 || curve[0][0] != 0 || curve[len(curve)-1][0] != 1 {
			t.Errorf("stage %d: %d samples, a curve from %v to %v", i, n, curve[0], curve[len(curve)-1])
		}
		if !slices.IsSortedFunc(curve, func(a, b [2]float64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
			t.Errorf("stage %d: the curve goes down: %v", i, curve)
		}
	}
	if len(d.Series) != 9 || d.Series[0].Column.T.Count > mostBins+1 {
		t.Errorf("%d series of %d bins", len(d.Series), d.Series[0].Column.T.Count)
	}
}

// What was drawn of a run takes the place of snapshots, until the next run begins; the end
// comes after the last.
func TestShow(t *testing.T) {
	s, c := listen(t, Options{}), measured(t)
	c.Progress.Result = &result.Result{Verdict: result.Verdict{Status: "of the first"}}
	f := follow(t, s)
	s.Watch(func() run.Progress { return c.Progress })
	s.Show(&pagedata.Document{Result: &result.Result{Verdict: result.Verdict{Status: "drawn"}}})
	until := func(event, word string) {
		t.Helper()
		for name, data := f.next(); name != event || data.Document.Result.Verdict.Status != word; name, data = f.next() {
			if name == "end" {
				t.Fatalf("it ends with %q, before %s %q", data.Document.Result.Verdict.Status, event, word)
			}
		}
	}
	until("document", "drawn")
	second := measured(t).Progress
	s.Watch(func() run.Progress { return second })
	until("document", running)
	s.Show(&pagedata.Document{Result: &result.Result{Verdict: result.Verdict{Status: "drawn again"}}})
	s.refresh()
	s.End()
	until("end", "drawn again")
}

// At most so many follow; who leaves makes room.
func TestTooManyFollow(t *testing.T) {
	s, c := listen(t, Options{}), measured(t)
	s.Watch(func() run.Progress { return c.Progress })
	var all []*stream
	for range watchers {
		all = append(all, follow(t, s))
	}
	if got, text := get(t, s.URL()+"events"); got != http.StatusServiceUnavailable {
		t.Errorf("one more: %d %s", got, text)
	}
	for _, f := range all {
		f.body.Close()
	}
	for s.Watched() {
		s.refresh() // a write to a closed connection ends what follows on it
	}
	follow(t, s)
}

// Nobody waits for a browser that does not read: it gets the last of what it missed.
func TestHubDoesNotWait(t *testing.T) {
	var h hub
	w, ok := h.join()
	if !ok {
		t.Fatal("no room")
	}
	for _, text := range []string{"one", "two", "three"} {
		h.send([]byte(text))
	}
	h.close()
	if got := string(<-w.next); got != "three" {
		t.Errorf("got %q", got)
	}
	if _, open := <-w.next; open {
		t.Error("open after the end")
	}
	if _, ok := h.join(); ok {
		t.Error("one joined after the end")
	}
}

func TestOnlyReading(t *testing.T) {
	s := listen(t, Options{})
	for path, want := range map[string]int{"/": 405, "/metrics": 405, "/nothing": 404} {
		resp, err := http.Post(strings.TrimSuffix(s.URL(), "/")+path, "text/plain", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("POST %s: %s", path, resp.Status)
		}
	}
}

// A page that could not be made to its end is not kept.
func TestHalfAPageIsNotKept(t *testing.T) {
	var made shown
	half := func(w io.Writer, _ *pagedata.Document) error {
		_, _ = io.WriteString(w, "<html>")
		return errors.New("no more")
	}
	if page, err := made.html(half); err == nil || page != nil {
		t.Errorf("%q, %v", page, err)
	}
	whole := func(w io.Writer, _ *pagedata.Document) error {
		_, err := io.WriteString(w, "<html></html>")
		return err
	}
	for range 2 {
		if page, err := made.html(whole); err != nil || string(page) != "<html></html>" {
			t.Errorf("%q, %v", page, err)
		}
		whole = half // it is made once
	}
}

// A page that fails says so once, to the user and to browsers, and ends as ever.
func TestPageThatFails(t *testing.T) {
	told := make(chan string, 10)
	s := listen(t, Options{Warn: func(text string) { told <- text }})
	s.Watch(func() run.Progress { panic("no snapshot") })
	s.Watch(func() run.Progress { panic("again") })
	s.Show(nil)
	if n := len(told); n != 1 {
		t.Fatalf("told %d times", n)
	}
	if text := <-told; !strings.HasPrefix(text, "The live page has failed by a mistake of this program: no snapshot (live.") {
		t.Errorf("told %q", text)
	}
	for _, path := range []string{"", "events", "metrics"} {
		if status, text := get(t, s.URL()+path); status != http.StatusInternalServerError || !strings.Contains(text, "the run goes on") {
			t.Errorf("/%s: %d %s", path, status, text)
		}
	}
	if s.End() {
		t.Error("there is a run to show")
	}
	s.Close()
	if len(told) > 0 {
		t.Errorf("told once more: %s", <-told)
	}
}

// So does one that fails while a browser asks for it.
func TestPageThatFailsForABrowser(t *testing.T) {
	told := make(chan string, 10)
	s := listen(t, Options{Warn: func(text string) { told <- text }})
	s.mu.Lock()
	s.progress = run.Progress{Plan: new(plan.Plan), Times: make([]record.StageTimes, 3)} // stages that are not there
	s.history = NewHistory(mostBins)
	s.mu.Unlock()
	for range 2 {
		if status, text := get(t, s.URL()); status != http.StatusInternalServerError || !strings.Contains(text, "the run goes on") {
			t.Errorf("%d %s", status, text)
		}
	}
	if n := len(told); n != 1 {
		t.Fatalf("told %d times", n)
	}
	if text := <-told; !strings.HasPrefix(text, "The live page has failed") {
		t.Errorf("told %q", text)
	}
}
