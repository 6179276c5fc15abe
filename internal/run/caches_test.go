package run

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
)

// caching has the mock remember prompts by blocks of 16 tokens.
func caching(c *config.Server) { c.Latency.PrefixCache, c.Latency.BlockSize = true, 16 }

// cachedOf is how many tokens the mock found of the requests of two stages.
func cachedOf(t *testing.T, s *server, first int64) (stages [2]int) {
	for seq, truth := range s.truths(t) {
		if seq < first {
			stages[0] += truth.Cached
		} else {
			stages[1] += truth.Cached
		}
	}
	return stages
}

// The same prompts in two stages are in the cache the second time, unless it is emptied between them.
func TestResetCache(t *testing.T) {
	for _, reset := range []string{"", plan.ResetAuto, "/flush_cache"} {
		s := serve(t, caching)
		p := closedPlan(t, s.url, 1, 5)
		p.Target.ResetCache = reset
		p.Data.Input.Mean, p.Data.Prompts = 64, 5
		p.Stages = []plan.Stage{{Concurrency: 1, Requests: 5}, {Concurrency: 1, Requests: 5}}
		var log bytes.Buffer
		res, err := Run(t.Context(), p, options(&log))
		if err != nil {
			t.Fatal(err)
		}
		cached := cachedOf(t, s, 5)
		if want := reset == ""; cached[0] != 0 || cached[1] > 0 != want {
			t.Errorf("%q: %v cached tokens", reset, cached)
		}
		if told := strings.Contains(log.String(), "emptied the prefix cache"); told != (reset != "") {
			t.Errorf("%q: the log says %s", reset, log.String())
		}
		if noted := strings.Contains(strings.Join(res.Notes, "\n"), "prefix caches were emptied"); noted != (reset != "") {
			t.Errorf("%q: notes %q", reset, res.Notes)
		}
	}
}

// gatewayTo is a server in front of another, which answers some paths by itself.
func gatewayTo(t *testing.T, s *server, own func(w http.ResponseWriter, r *http.Request) bool) (address string, seen func() []string) {
	t.Helper()
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var posts []string
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "cache") {
			mu.Lock()
			posts = append(posts, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Authorization"))
			mu.Unlock()
		}
		if !own(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	return front.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(posts)
	}
}

func TestResetCacheOfOtherServers(t *testing.T) {
	busy := 2
	for _, tt := range []struct {
		name, reset string
		own         func(w http.ResponseWriter, r *http.Request) bool
		want        string // of the error; empty: none
		posts       []string
	}{
		{"SGLang", plan.ResetAuto, func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/reset_prefix_cache" {
				http.NotFound(w, r)
				return true
			}
			return false
		}, "", []string{"POST /reset_prefix_cache Bearer sesame", "POST /flush_cache?timeout=30 Bearer sesame", "POST /flush_cache?timeout=30 Bearer sesame"}},
		{"neither", plan.ResetAuto, func(w http.ResponseWriter, r *http.Request) bool {
			if strings.Contains(r.URL.Path, "cache") {
				http.NotFound(w, r)
				return true
			}
			return false
		}, "it has neither /reset_prefix_cache (vLLM, started with VLLM_SERVER_DEV_MODE=1) nor /flush_cache (SGLang): name its path with target.reset_cache",
			[]string{"POST /reset_prefix_cache Bearer sesame", "POST /flush_cache?timeout=30 Bearer sesame"}},
		{"another path", "/cache/clear", func(w http.ResponseWriter, r *http.Request) bool { return false }, "it has no /cache/clear",
			[]string{"POST /cache/clear Bearer sesame"}},
		{"not allowed", plan.ResetAuto, func(w http.ResponseWriter, r *http.Request) bool {
			if strings.Contains(r.URL.Path, "cache") {
				http.Error(w, "no admin: sesame", http.StatusForbidden)
				return true
			}
			return false
		}, "HTTP status 403: no admin: (secret)", []string{"POST /reset_prefix_cache Bearer sesame"}},
		{"blocks are held", plan.ResetAuto, func(w http.ResponseWriter, r *http.Request) bool {
			if strings.Contains(r.URL.Path, "cache") && busy > 0 {
				busy--
				_, _ = io.WriteString(w, `{"success": false}`)
				return true
			}
			return false
		}, "", slices.Repeat([]string{"POST /reset_prefix_cache Bearer sesame"}, 4)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(c *config.Server) { c.APIKey = "sesame" })
			address, seen := gatewayTo(t, s, tt.own)
			p := closedPlan(t, address, 1, 2)
			p.Target.ResetCache, p.Target.APIKey.Env = tt.reset, "KEY"
			p.Stages = []plan.Stage{{Concurrency: 1, Requests: 2}, {Concurrency: 1, Requests: 2}}
			o := options(io.Discard)
			o.Kit.Getenv = func(name string) string { return map[string]string{"KEY": "sesame"}[name] }
			_, err := Run(t.Context(), p, o)
			if tt.want == "" && err != nil {
				t.Fatal(err)
			}
			var early *PrepareError
			if tt.want != "" && (err == nil || !errors.As(err, &early) || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if got := seen(); !slices.Equal(got, tt.posts) {
				t.Errorf("the server saw %q, want %q", got, tt.posts)
			}
		})
	}
}

// The server finds the share of prompts that is asked for, whatever their lengths.
func TestCacheHit(t *testing.T) {
	for _, length := range []plan.Length{{Dist: plan.DistFixed, Mean: 400}, {Dist: plan.DistUniform, Min: 300, Max: 600}} {
		s := serve(t, caching)
		p := closedPlan(t, s.url, 2, 60)
		p.Stages[0].Warmup.Requests = 10
		p.Tokenizer.Name = plan.TokenizerWords
		p.Data.Input = length
		p.Data.Prefixes = plan.Prefixes{Count: 1, Share: 0.7}
		res := mustRun(t, p)
		prompts, cached := 0, 0
		for seq, truth := range s.truths(t) {
			if truth.Prompt < 300 || truth.Prompt > 600 {
				t.Errorf("a prompt of %d tokens", truth.Prompt)
			}
			if seq >= 10 {
				prompts, cached = prompts+truth.Prompt, cached+truth.Cached
			}
		}
		if share := float64(cached) / float64(prompts); share < 0.64 || share > 0.7 { // it finds whole blocks
			t.Errorf("the server found %.3f of the prompts' tokens", share)
		}
		if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes, "came from the server's prefix cache, 70 % were to be found there") {
			t.Errorf("notes %q", notes)
		}
	}
}

// A server that finds less than it could is told of.
func TestCacheHitFarOff(t *testing.T) {
	s := serve(t, func(c *config.Server) {
		caching(c)
		c.Latency.KVBlocks = 4 // there is room for so many
	})
	p := closedPlan(t, s.url, 1, 20)
	p.Data.Input.Mean = 400
	p.Data.Prefixes = plan.Prefixes{Count: 1, Share: 0.7}
	res := mustRun(t, p)
	if reasons := strings.Join(res.Verdict.Reasons, "\n"); !strings.Contains(reasons, "70 % were to be found there (budget 10 % apart)") {
		t.Errorf("reasons %q", reasons)
	}
}
