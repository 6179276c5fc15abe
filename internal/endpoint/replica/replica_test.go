package replica

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

type truth struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *truth) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// A session's requests carry its id, and the token that the server gave it once it
// did, also where they were prepared before that.
func TestSessions(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP/2 %v", http2), func(t *testing.T) {
			c := config.Default()
			c.HTTP2, c.SessionID, c.SessionToken = http2, "X-Session", "X-Token"
			w := new(truth)
			s, err := mock.New(c, mock.WithTruth(w))
			if err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			go func() { _ = s.Serve(l) }()
			target := plan.Default().Target
			target.URLs, target.HTTP2 = []string{"http://" + l.Addr().String()}, http2
			target.Session = plan.SessionHeaders{ID: "x-session", Token: "x-token"}
			set, err := New(target, endpoint.Options{Clock: timedconn.NewClock(), TLS: new(tls.Config), RunID: "run"}, Protocol{Path: "/v1/chat/completions"})
			if err != nil {
				t.Fatal(err)
			}
			var calls []endpoint.Call
			for i, session := range []string{"a", "b\n", "a", "", "a"} {
				calls = append(calls, set.Call(&prompt.Prompt{Seq: int64(i), Session: session}, []byte(`{"messages":[{"role":"user","content":"x"}],"max_tokens":1}`)))
			}
			for i, call := range calls {
				var rec record.Exchange
				if call.Do(context.Background(), &rec); rec.Status != 200 {
					t.Fatalf("request %d: %+v", i, rec.Failure)
				}
			}
			_ = set.Close()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			lines, err := truthfile.Read(&w.b)
			if err != nil {
				t.Fatal(err)
			}
			first := ""
			for i, want := range []struct{ session, token string }{{"a", ""}, {"b", ""}, {"a", "its own"}, {"", ""}, {"a", "its own"}} {
				got := lines[i]
				if strings.TrimSpace(got.Session) != want.session || (got.Token != "") != (want.token != "") {
					t.Errorf("request %d came with session %q and token %q, want %q", i, got.Session, got.Token, want)
				}
				if want.token != "" && first != "" && got.Token != first {
					t.Errorf("request %d has the token %q, the one before %q", i, got.Token, first)
				}
				first = got.Token
				if want.token == "" {
					first = ""
				}
			}
			if lines[2].Token != lines[4].Token {
				t.Errorf("the session's token changed from %q to %q", lines[2].Token, lines[4].Token)
			}
		})
	}
}

// TestOwnBodies: a body that a prompt brings is sent as it is, and others are made.
func TestOwnBodies(t *testing.T) {
	target := plan.Default().Target
	target.URLs = []string{"http://localhost:1"}
	set, err := New(target, endpoint.Options{Clock: timedconn.NewClock()}, Protocol{Path: "/x", Verb: ":y", Encode: func(p *prompt.Prompt) ([]byte, error) {
		if p.Text == "" {
			return nil, errors.New("no text")
		}
		return []byte(p.Text), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if url := set.Endpoint().URLs[0]; url != "http://localhost:1/x:y" {
		t.Errorf("requests go to %s", url)
	}
	for want, p := range map[string]prompt.Prompt{"made": {Text: "made"}, `{"own":1}`: {Text: "made", Body: []byte(`{"own":1}`), Model: "m", Output: 9}} {
		c, err := set.Prepare(&p)
		if err != nil || string(c.(*call).request.Body()) != want {
			t.Errorf("%v, %v, want %s", c, err, want)
		}
	}
	if _, err := set.Prepare(&prompt.Prompt{}); err == nil {
		t.Error("a prompt that cannot be encoded")
	}
}

func TestFields(t *testing.T) {
	u, _ := url.Parse("http://user:pass@h/")
	plain := fields(plan.Target{Client: plan.ClientPlain}, "k", u, Protocol{Streamed: true})
	if want := (http1.Field{Name: "Accept", Value: "*/*"}); !slices.Contains(plain, want) {
		t.Errorf("a plain client has the fields %v", plain)
	}
	target := plan.Target{Headers: map[string]string{"ACCEPT": "x", "zeta": "1"}}
	key := func(k string) []http1.Field { return []http1.Field{{Name: "x-api-key", Value: k}} }
	for _, tt := range []struct {
		key  string
		p    Protocol
		want string
	}{
		{"", Protocol{}, "User-Agent:inferometer Content-Type:application/json Authorization:Basic dXNlcjpwYXNz ACCEPT:x zeta:1"},
		{"k", Protocol{}, "User-Agent:inferometer Content-Type:application/json Authorization:Bearer k ACCEPT:x zeta:1"},
		{"k", Protocol{Auth: key, Fields: []http1.Field{{Name: "Zeta", Value: "2"}, {Name: "v", Value: "3"}}}, "User-Agent:inferometer Content-Type:application/json x-api-key:k v:3 ACCEPT:x zeta:1"},
	} {
		var got []string
		for _, f := range fields(target, tt.key, u, tt.p) {
			got = append(got, f.Name+":"+f.Value)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s\nwant\n%s", s, tt.want)
		}
	}
}

// A path may bring a query of its own, as that of Azure does.
func TestQueryOfAPath(t *testing.T) {
	for _, tt := range []struct{ base, path, want string }{
		{"http://h", "/x/y?api-version=2", "http://h/x/y?api-version=2"},
		{"http://h?a=1", "/x?b=2", "http://h/x?a=1&b=2"},
		{"http://h?a=1", "", "http://h/usual?a=1"},
		{"http://h", "/x?", "http://h/x"},
	} {
		if u, err := URL(tt.base, tt.path, "/usual"); err != nil || u.String() != tt.want {
			t.Errorf("%s and %s make %v (%v), want %s", tt.base, tt.path, u, err, tt.want)
		}
	}
}
