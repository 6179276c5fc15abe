package html

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/result"
)

// hostile is a text that would be more than text to a careless page.
const hostile = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> & \" ' \x00\x1b[31m \u2028\u2029 \xff"

func TestTextsAreInert(t *testing.T) {
	var out bytes.Buffer
	err := Write(&out, &pagedata.Document{Result: &result.Result{Version: hostile, Notes: []string{hostile}}, Plan: hostile})
	if err != nil {
		t.Fatal(err)
	}
	text := out.String()
	begin := strings.Index(text, `id="document">`) + len(`id="document">`)
	data, _, _ := strings.Cut(text[begin:], "</script>")
	if i := strings.IndexAny(data, "<>&\u2028\u2029\x00\x1b"); i >= 0 {
		t.Errorf("the data hold %q", data[max(0, i-20):min(len(data), i+20)])
	}
	var back struct {
		Result struct{ Version string }
		Plan   string
	}
	if err := json.Unmarshal([]byte(data), &back); err != nil {
		t.Fatal(err)
	}
	want := strings.ToValidUTF8(hostile, "\ufffd")
	if back.Result.Version != want || back.Plan != want {
		t.Errorf("the text reads %q, want %q", back.Plan, want)
	}
	if n := strings.Count(text, hostile[:9]); n != strings.Count(string(page), hostile[:9])+2 {
		t.Errorf("%d elements end, of which two are data", n)
	}
}

func TestOnlyALivePageListens(t *testing.T) {
	for _, live := range []bool{false, true} {
		var out bytes.Buffer
		if err := Write(&out, &pagedata.Document{Live: live}); err != nil {
			t.Fatal(err)
		}
		if listens := strings.Contains(out.String(), "connect-src 'self'"); listens != live {
			t.Errorf("live %v: it may connect: %v", live, listens)
		}
	}
}
