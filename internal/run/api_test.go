package run

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/record"
)

// Runs over the APIs beside OpenAI's, held against the server's truth.
func TestOtherAPIs(t *testing.T) {
	image := plan.Media{Image: plan.Images{Count: plan.Length{Dist: plan.DistFixed, Mean: 2}, Sizes: []plan.Size{{Width: 16, Height: 8}}}}
	for _, tt := range []struct {
		name   string
		server func(c *config.Server)
		change func(p *plan.Plan)
		media  int
		text   bool // answers are text
	}{
		{"Anthropic", func(c *config.Server) {
			c.Latency.TTFT, c.Latency.ITL, c.APIKey = 3*time.Millisecond, time.Millisecond, "secret"
		}, func(p *plan.Plan) {
			p.Target.Protocol, p.Target.Endpoint = plan.ProtocolAnthropic, plan.EndpointMessages
			p.Target.APIKey.Env = "INFEROMETER_TEST_KEY"
		}, 0, true},
		{"Anthropic in one piece, with images", nil, func(p *plan.Plan) {
			p.Target.Protocol, p.Target.Endpoint, p.Target.Streaming = plan.ProtocolAnthropic, plan.EndpointMessages, false
			p.Data.Media = image
		}, 2, true},
		{"chat with images, sound and video", nil, func(p *plan.Plan) {
			p.Data.Media = image
			one := plan.Length{Dist: plan.DistFixed, Mean: 1}
			p.Data.Media.Audio.Count, p.Data.Media.Video.Count = one, one
			p.Data.Media.Video.Clips = []plan.Clip{{Width: 20, Height: 10, Frames: 3}}
		}, 4, true},
		{"chat with a response format", nil, func(p *plan.Plan) {
			p.Target.Body = map[string]any{"response_format": map[string]any{"type": "json_object"}}
		}, 0, true},
		{"rankings", nil, func(p *plan.Plan) {
			p.Target.Protocol, p.Target.Endpoint, p.Target.Streaming = plan.ProtocolHTTP, plan.EndpointRankings, false
			p.Data.Batch = 3
		}, 0, false},
		{"rerank", nil, func(p *plan.Plan) {
			p.Target.Protocol, p.Target.Endpoint, p.Target.Streaming = plan.ProtocolHTTP, plan.EndpointRerank, false
		}, 0, false},
		{"image retrieval", nil, func(p *plan.Plan) {
			p.Target.Protocol, p.Target.Endpoint, p.Target.Streaming = plan.ProtocolHTTP, plan.EndpointRetrieval, false
			p.Data.Media = image
		}, 2, false},
		{"Text Generation Inference", nil, func(p *plan.Plan) {
			p.Target.Protocol, p.Target.Endpoint = plan.ProtocolHTTP, plan.EndpointTGI
			p.Data.Output = plan.Length{Dist: plan.DistFixed, Mean: 6}
		}, 0, true},
		{"embeddings of several texts", nil, func(p *plan.Plan) {
			p.Target.Endpoint, p.Target.Streaming, p.Data.Batch = plan.EndpointEmbeddings, false, 4
		}, 0, false},
		{"template", nil, func(p *plan.Plan) {
			p.Target.Protocol, p.Target.Endpoint, p.Target.Streaming = plan.ProtocolHTTP, plan.EndpointTemplate, false
			p.Target.Path, p.Target.Template = "/rerank", filepath.Join(t.TempDir(), "body.j2")
			if err := os.WriteFile(p.Target.Template, []byte(`[{"query": {{ text|tojson }}, "texts": {{ texts|tojson }}}]`), 0o600); err != nil {
				t.Fatal(err)
			}
		}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("INFEROMETER_TEST_KEY", "secret")
			const requests = 12
			s := serve(t, tt.server)
			p := closedPlan(t, s.url, 3, requests)
			tt.change(p)
			if err := planfile.Validate(p); err != nil {
				t.Fatal(err)
			}
			res := mustRun(t, p)
			k, truths := readKept(t, p.Output.Dir), s.truths(t)
			if c := res.Stages[0].Counts; c.OK != requests || len(truths) != requests {
				for _, rec := range k.recs {
					t.Logf("%+v", rec.Failure)
				}
				t.Fatalf("%+v; the server answered %d", c, len(truths))
			}
			for n, truth := range truths {
				rec := k.recs[n]
				if rec.Out.N != truth.Tokens || truth.Media != tt.media || len(rec.Events) != len(truth.Events) {
					t.Errorf("request %d: %+v out, %d events; the server sent %d tokens in %d events and got %d media", n, rec.Out, len(rec.Events), truth.Tokens, len(truth.Events), truth.Media)
				}
				if !tt.text {
					continue
				}
				if rec.In.N != truth.Prompt || rec.In.Source != record.FromServer || rec.Finish != truth.Finish {
					t.Errorf("request %d: %+v in, finish %q; the server got %d, finish %q", n, rec.In, rec.Finish, truth.Prompt, truth.Finish)
				}
				ttft(t, &rec, &truth)
			}
		})
	}
}

// Requests of a conversation are tied together by its id and by the token that the
// server gives.
func TestSessionHeaders(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.SessionID, c.SessionToken = "X-Session", "X-Token" })
	p := closedPlan(t, s.url, 2, 12)
	p.Target.Session = plan.SessionHeaders{ID: "X-Session", Token: "X-Token"}
	p.Data.Source, p.Data.Input, p.Data.File = plan.SourceFile, plan.Length{}, filepath.Join(t.TempDir(), "chats.jsonl")
	lines := ""
	for _, id := range []string{"a", "b", "c", "d"} {
		for _, text := range []string{"one", "two", "three"} {
			lines += `{"session_id":"` + id + `","text":"` + text + `"}` + "\n"
		}
	}
	if err := os.WriteFile(p.Data.File, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, p)
	k, truths := readKept(t, p.Output.Dir), s.truths(t)
	tokens, sessions := map[string]string{}, map[string]int{}
	for _, n := range slices.Sorted(maps.Keys(truths)) {
		truth, rec := truths[n], k.recs[n]
		if truth.Session == "" || truth.Session != rec.Session {
			t.Errorf("request %d came with session %q, its record has %q", n, truth.Session, rec.Session)
		}
		sessions[truth.Session]++
		if (truth.Token == "") != (rec.Turn == 0) {
			t.Errorf("turn %d of %s came with token %q", rec.Turn, rec.Session, truth.Token)
		}
		if last := tokens[truth.Session]; truth.Token != "" && last != "" && last != truth.Token {
			t.Errorf("session %s came with the tokens %q and %q", truth.Session, last, truth.Token)
		}
		if truth.Token != "" {
			tokens[truth.Session] = truth.Token
		}
	}
	// The last turns may be those of a second round, where one slot is ahead of the other.
	if len(truths) != 12 || len(sessions) < 4 || len(tokens) < 3 {
		t.Errorf("sessions %v, tokens %v", sessions, tokens)
	}
}
