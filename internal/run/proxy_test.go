package run

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/inferometer/inferometer/internal/result"
)

// A run through a proxy says so in its result, now and when it is made again from the
// records, and never says its password.
func TestRunThroughAProxy(t *testing.T) {
	s := serve(t, nil)
	var asked atomic.Int64
	through := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		asked.Add(1)
		r.Out.URL.Scheme, r.Out.URL.Host = "http", strings.TrimPrefix(s.url, "http://")
	}, Transport: new(http.Transport)})
	t.Cleanup(through.Close)
	host := strings.TrimPrefix(through.URL, "http://")
	for name, choice := range map[string]string{"a URL": "http://user:hunter2@" + host, "none": "none", "left out": ""} {
		t.Run(name, func(t *testing.T) {
			for _, v := range []string{"http_proxy", "HTTP_PROXY"} {
				t.Setenv(v, "http://"+host)
			}
			before := asked.Load()
			p := closedPlan(t, s.url, 2, 4)
			p.Target.Proxy = choice
			res, err := Run(t.Context(), p, options(new(bytes.Buffer)))
			if err != nil {
				t.Fatal(err)
			}
			text := readFile(t, p.Output.Dir, "result.json")
			var kept result.Result
			if err := json.Unmarshal([]byte(text), &kept); err != nil {
				t.Fatal(err)
			}
			used := asked.Load() > before
			if used != (name == "a URL") {
				t.Errorf("the proxy was used: %v", used)
			}
			for _, r := range []*result.Result{res, &kept} {
				says := r.Connection != nil && r.Connection.Proxy == "http://"+host
				if says != used || used != strings.Contains(strings.Join(r.Notes, "\n"), "through the proxy http://"+host) {
					t.Errorf("the result says %+v, notes %q", r.Connection, r.Notes)
				}
			}
			if header := readKept(t, p.Output.Dir).header; (header.Proxy != "") != used {
				t.Errorf("the records say %q", header.Proxy)
			}
			if all := text + readFile(t, p.Output.Dir, "plan.yaml"); strings.Contains(all, "hunter2") {
				t.Error("the proxy's password is in the files of the run")
			}
		})
	}
}
