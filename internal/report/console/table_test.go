package console

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/result"
)

func TestTableFits(t *testing.T) {
	tb := table{columns: []column{
		{title: "name", left: true, keep: mustKeep},
		{title: "first", keep: mustKeep},
		{title: "low", keep: 1},
		{title: "upper\nlower", keep: 2},
		{title: "empty", keep: 50},
	}}
	tb.add("a long label", "1.0", "2.0", "3.0", "")
	tb.add("b", "10.0", "20.0", "30.0", "")
	for _, c := range []struct {
		width int
		want  []string
	}{
		{80, []string{
			"                           upper",
			"name          first   low  lower",
			"a long label    1.0   2.0    3.0",
			"b              10.0  20.0   30.0",
		}},
		{26, []string{
			"                     upper",
			"name          first  lower",
			"a long label    1.0    3.0",
			"b              10.0   30.0",
		}},
		{19, []string{
			"name          first",
			"a long label    1.0",
			"b              10.0",
		}},
		{16, []string{
			"name       first",
			"a long l…    1.0",
			"b           10.0",
		}},
	} {
		got := tb.render(c.width, false)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", c.width, diff)
		}
	}
}

func TestTitle(t *testing.T) {
	var got []string
	for _, name := range []string{"request_latency", "slo_attainment", "tls_time", "lag", "", "élan_vital"} {
		got = append(got, title(name))
	}
	want := "Request latency|SLO attainment|TLS time|Lag||Élan vital"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}

// The name of a run stands above all else, and does nothing to the terminal.
func TestName(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, &result.Result{Name: "first \x1b[31mtry", Version: "1"}, Options{}); err != nil {
		t.Fatal(err)
	}
	if first, rest, _ := strings.Cut(b.String(), "\n"); !strings.HasPrefix(first, "first ") || strings.Contains(first, "\x1b") || !strings.HasPrefix(rest, "Inferometer 1") {
		t.Errorf("%q", b.String())
	}
}
