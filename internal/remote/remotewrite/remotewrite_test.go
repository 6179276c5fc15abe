package remotewrite

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/snappy"
	"google.golang.org/protobuf/encoding/protowire"
)

// field is a field of a message as a receiver reads it: its number, and what it holds.
type field struct {
	number  protowire.Number
	value   uint64
	content []byte
}

func fields(t *testing.T, b []byte) (list []field) {
	t.Helper()
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			t.Fatalf("no tag in %x", b)
		}
		b = b[size:]
		f := field{number: n}
		switch kind {
		case protowire.VarintType:
			f.value, size = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			f.value, size = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			f.content, size = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d is of kind %d", n, kind)
		}
		if size < 0 {
			t.Fatalf("field %d is cut", n)
		}
		list, b = append(list, f), b[size:]
	}
	return list
}

// stand is a receiver that remembers what it got.
type stand struct {
	t      *testing.T
	got    []string // "labels: times"
	asked  int
	header http.Header
	answer func(n int) (status int, text string)
}

func (s *stand) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	packed, _ := io.ReadAll(r.Body)
	body, err := snappy.Decode(nil, packed)
	if err != nil {
		s.t.Error(err)
	}
	s.asked, s.header = s.asked+1, r.Header
	status, text := http.StatusNoContent, ""
	if s.answer != nil {
		status, text = s.answer(s.asked)
	}
	if status/100 == 2 {
		s.read(body)
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

func (s *stand) read(body []byte) {
	for _, series := range fields(s.t, body) {
		if series.number != 1 {
			continue
		}
		var labels, times []string
		for _, f := range fields(s.t, series.content) {
			in := fields(s.t, f.content)
			switch f.number {
			case 1:
				labels = append(labels, string(in[0].content)+"="+string(in[1].content))
			case 2:
				times = append(times, fmt.Sprint(in[1].value))
			case 4:
				times = append(times, fmt.Sprintf("histogram %d", in[len(in)-1].value))
			}
		}
		s.got = append(s.got, strings.Join(labels, ",")+": "+strings.Join(times, " "))
	}
}

func one(samples ...int64) Series {
	s := Series{Name: "a", Kind: Gauge, Labels: map[string]string{"z": "1", "b": "2", "empty": ""}}
	for _, at := range samples {
		s.Samples = append(s.Samples, Sample{At: at, Value: 1})
	}
	return s
}

func TestWrite(t *testing.T) {
	s := &stand{t: t}
	server := httptest.NewServer(s)
	defer server.Close()
	c := &Client{URL: strings.Replace(server.URL, "//", "//me:secret@", 1) + "/api/v1/write", Headers: map[string]string{"X-Scope-OrgID": "lab"}, Agent: "inferometer/1"}
	h := Series{Name: "h", Kind: Native, Histograms: []Histogram{{At: 7, Count: 3, Sum: 1, Schema: 3, Buckets: map[int]uint64{-2: 1, -1: 1, 5: 1}}}}
	out, err := c.Write(t.Context(), []Series{one(1, 2), h, one(3)})
	if err != nil || out.Sent != 4 || out.Lost != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	want := []string{"__name__=a,b=2,z=1: 1 2", "__name__=a,b=2,z=1: 3", "__name__=h: histogram 7"}
	if d := cmp.Diff(want, s.got); d != "" {
		t.Error(d)
	}
	for name, want := range map[string]string{
		"X-Scope-OrgID": "lab", "User-Agent": "inferometer/1", "Content-Encoding": "snappy", "Content-Type": "application/x-protobuf",
		"X-Prometheus-Remote-Write-Version": "0.1.0", "Authorization": "Basic bWU6c2VjcmV0",
	} {
		if got := s.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// What is older goes first, whichever series it is of.
func TestOrderOfTime(t *testing.T) {
	s := &stand{t: t}
	server := httptest.NewServer(s)
	defer server.Close()
	var a, b Series
	a.Name, b.Name = "a", "b"
	for i := range int64(1500) {
		a.Samples, b.Samples = append(a.Samples, Sample{At: i}), append(b.Samples, Sample{At: i})
	}
	out, err := (&Client{URL: server.URL}).Write(t.Context(), []Series{a, b})
	if err != nil || out.Sent != 3000 || len(s.got) != 4 {
		t.Fatalf("%+v in %d series, %v", out, len(s.got), err)
	}
	for i, want := range []string{"a: 0 1 ", "b: 0 1 ", "a: 1000 ", "b: 1000 "} {
		if !strings.HasPrefix(s.got[i], "__name__="+want) {
			t.Errorf("%d begins with %.30s", i, s.got[i])
		}
	}
}

func TestRefused(t *testing.T) {
	always := func(status int, text string) func(int) (int, string) {
		return func(int) (int, string) { return status, text }
	}
	var long Series
	long.Name = "a"
	for i := range int64(2 * batchSize) {
		long.Samples = append(long.Samples, Sample{At: i})
	}
	h := Series{Name: "h", Kind: Native, Histograms: []Histogram{{At: 1}}}
	for _, c := range []struct {
		name   string
		answer func(n int) (int, string)
		want   WriteResult
		asked  int
		says   string
	}{
		{"old samples", always(400, "out of order sample"), WriteResult{Lost: 4001}, 2, "out_of_order_time_window"},
		{"the first batch is too old", func(n int) (int, string) {
			if n == 1 {
				return 400, "out of bounds"
			}
			return 200, ""
		}, WriteResult{Sent: 2001, Lost: 2000}, 3, "out of bounds"},
		{"no right", always(401, "who are you"), WriteResult{Lost: 4001}, 1, "INFEROMETER_REMOTE_WRITE_TOKEN"},
		{"no receiver", always(404, "remote write receiver needs to be enabled with --web.enable-remote-write-receiver"), WriteResult{Lost: 4001}, 1, "/api/v1/write"},
		{"busy once", func(n int) (int, string) {
			if n == 1 {
				return 503, "not now"
			}
			return 204, ""
		}, WriteResult{Sent: 4001}, 4, ""},
		{"no native histograms", func(n int) (int, string) {
			if n == 3 {
				return 500, "native histograms are disabled"
			}
			return 204, ""
		}, WriteResult{Sent: 4000, NoHistograms: true}, 3, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // what is tried again waits
			s := &stand{t: t, answer: c.answer}
			server := httptest.NewServer(s)
			defer server.Close()
			out, err := (&Client{URL: server.URL}).Write(t.Context(), []Series{long, h})
			if out != c.want || s.asked != c.asked || (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v in %d requests: %v", out, s.asked, err)
			}
		})
	}
}

// Nobody there: it is tried a few times, and then no more for all the rest; no password is told.
func TestNobodyThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		begin := time.Now()
		out, err := (&Client{URL: "http://user:secret@127.0.0.1:1/w?key=secret"}).Write(ctx, []Series{one(1), {Name: "h", Histograms: []Histogram{{}}}})
		if out.Lost != 2 || err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "http://127.0.0.1:1/w") {
			t.Errorf("%+v: %v", out, err)
		}
		if took := time.Since(begin); took != 7*pause {
			t.Errorf("it took %v", took)
		}
	})
}

func TestCheck(t *testing.T) {
	for address, ok := range map[string]bool{"http://h:9090/api/v1/write": true, "https://u:p@h/w": true, "h:9090": false, "ftp://h": false, "http://": false, "": false, "http://\x00": false} {
		if err := Check(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestSpans(t *testing.T) {
	spans, deltas := (&Histogram{Buckets: map[int]uint64{-2: 4, -1: 1, 5: 3, 6: 3}}).spans()
	if d := cmp.Diff([]span{{-2, 2}, {5, 2}}, spans, cmp.AllowUnexported(span{})); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int64{4, -3, 2, 0}, deltas); d != "" {
		t.Error(d)
	}
}
