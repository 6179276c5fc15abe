package planfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// FuzzDecode: no file makes the decoder panic, every fault can be printed, and a
// plan that is valid reads back as itself once its secrets are out.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(`{"stages": [{"rate": 5, "duration": "2s"}]}`))
	f.Add([]byte("a: &a [*a]\ntarget: {body: *a, headers: *a, urls: *a}"))
	f.Add([]byte("goodput: ttft:200ms,itl:30ms\nmax_errors: 5%\ndata: {input: 100-200}"))
	f.Add([]byte("? [x]\n: 1\n<<: {seed: 1}\n"))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		p, err := load("fuzz", data)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error that says nothing")
			}
			return
		}
		out, err := Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode("again", out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		safe := plan.Redacted(p)
		if diff := cmp.Diff(Echo(&safe), Echo(again)); diff != "" {
			t.Fatalf("%s\n%s", diff, out)
		}
	})
}

// FuzzParse: no text makes the parsers of short forms panic.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"128", "100-200", "normal:mean=550,stddev=50", "ttft:200ms,itl:30ms", "5%", "1m30s"} {
		f.Add(s)
	}
	mutate.Fuzz(f, func(_ *testing.T, s string) {
		_, _ = plan.ParseLength(s)
		_, _ = ParseGoodput(s)
		_, _ = plan.ParseMaxErrors(s)
		_, _ = plan.ParseWarmup(s)
		_ = plan.SafeURL(s)
	})
}
