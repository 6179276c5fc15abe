package wekatrace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/blocktext"
	"github.com/inferometer/inferometer/internal/prompt/replay"
	"github.com/inferometer/inferometer/internal/remote/hub/hubtest"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token"
)

// differs: ip-config-filter
func TestFaults(t *testing.T) {
	bad := func(from, to string) string { return strings.Replace(agent("a"), from, to, 1) }
	lines := "\n" + strings.ReplaceAll(strings.ReplaceAll(agent("a"), `{"t"`, "\n"+`{"t"`), `"in": 112`, `"in": -1`)
	for name, tc := range map[string]struct {
		file, want string
		replay     plan.Replay
	}{
		"no JSON":            {"{\n\n\"id\": oops}", "trace 1 of FILE: line 3: invalid character 'o'", plan.Replay{}},
		"cut off":            {agent("a") + "\n" + agent("b")[:100], "trace 2 of FILE: line 2: unexpected EOF", plan.Replay{}},
		"a list, cut off":    {"[" + agent("a"), "trace 2 of FILE: line 1: unexpected EOF", plan.Replay{}},
		"no trace":           {`7`, "trace 1 of FILE: line 1: a number is not a trace", plan.Replay{}},
		"no id":              {`{"requests": []}`, "id is missing", plan.Replay{}},
		"another type":       {bad(`"in": 70`, `"in": "70"`), "line 1: requests.in is a string, not a number", plan.Replay{}},
		"no moment":          {bad(`"t": 0`, `"x": 0`), "requests[0]: t is missing", plan.Replay{}},
		"no type":            {bad(`"type": "s"`, `"x": 0`), "requests[0]: type is missing", plan.Replay{}},
		"an unknown type":    {bad(`"type": "s"`, `"type": "q"`), `requests[0]: type is "q", not "n", "s" or "subagent"`, plan.Replay{}},
		"no length":          {bad(`"in": 70`, `"x": 0`), "requests[0]: in or out is missing", plan.Replay{}},
		"nothing in it":      {bad(`"in": 70`, `"in": 0`), "requests[0]: in is 0, which is not a prompt length", plan.Replay{}},
		"a negative answer":  {bad(`"out": 20`, `"out": -1`), "requests[0]: out is -1", plan.Replay{}},
		"in a subagent":      {lines, "line 7: requests[2].requests[1]: in is -1", plan.Replay{}},
		"no agent":           {bad(`"agent_id": "a"`, `"x": 0`), "requests[2]: agent_id is missing", plan.Replay{}},
		"agents of agents":   {aTrace("a", subagent(0, "a", subagent(0, "b"))), "requests[0].requests[0]: a subagent cannot have subagents", plan.Replay{}},
		"calls in a call":    {bad(`"type": "subagent"`, `"type": "n"`), `requests[2]: a request of type "n" has no requests`, plan.Replay{}},
		"a strange block":    {bad(`"block_size": 16`, `"block_size": -16`), "block_size is -16", plan.Replay{}},
		"a strange scope":    {bad(`"models"`, `"hash_id_scope": "galaxy", "models"`), `hash_id_scope is "galaxy"`, plan.Replay{}},
		"strange tokens":     {bad(`"subagent_type"`, `"tool_tokens": -1, "subagent_type"`), "tool_tokens and system_tokens must be", plan.Replay{}},
		"a million years":    {bad(`"t": 20,`, `"t": 9e12,`), "its times are not numbers of seconds", plan.Replay{}},
		"a thousand years":   {bad(`"t": 20,`, `"t": 9e10,`), "too long to be true", plan.Replay{}},
		"the same id":        {agent("a") + agent("a"), `trace 2 of FILE: the id "a" is that of another trace, in FILE, line 1`, plan.Replay{}},
		"no calls":           {aTrace("a"), "no session is left of 1 files", plan.Replay{}},
		"filtered":           {agent("a"), "no session is left of 1 files", plan.Replay{Filter: "x['num_turns'] > 6"}},
		"too long":           {agent("a"), "no session is left of 1 files", plan.Replay{MaxContext: 157}},
		"no filter":          {agent("a"), "data.replay.filter", plan.Replay{Filter: "x["}},
		"a filter's mistake": {agent("a"), "the filter: ", plan.Replay{Filter: "x['no'] > 6", SkipInvalid: true}},
	} {
		dir := write(t, tc.file)
		tc.replay.Dir = dir
		_, err := open2(t, tc.replay, token.Words{}, 1)
		want := strings.ReplaceAll(tc.want, "FILE", filepath.Join(dir, "0.json"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if s, _ := New(plan.Data{}, token.Words{}, 1, os.Getenv); s.Open(context.Background(), prompt.Use{}) == nil {
		t.Error("completions are not refused")
	}
	for _, r := range []plan.Replay{{Files: []string{"none.json"}}, {Files: []string{"[.json"}}, {Dir: t.TempDir()}} {
		if _, err := open2(t, r, token.Words{}, 1); err == nil || !strings.Contains(err.Error(), "data.replay.") {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestReading(t *testing.T) {
	dir := write(t, "{", agent("a"), "\n"+strings.ReplaceAll(agent("b"), "\n", " ")+"\n"+bad("c")+"\n"+agent("d")+"\n", "["+agent("e")+", "+agent("f")+"]", aTrace("g"))
	if err := os.WriteFile(filepath.Join(dir, "z.jsonl"), []byte(agent("h")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	names := func(s *Source) string {
		var out []string
		for _, one := range s.All {
			out = append(out, one.Graph.Origin)
		}
		slices.Sort(out)
		return strings.Join(out, "")
	}
	var told []string
	s, err := New(plan.Data{Replay: plan.Replay{Dir: dir, SkipInvalid: true}}, token.Words{}, 1, os.Getenv)
	if err == nil {
		err = s.Open(context.Background(), prompt.Use{Chat: true, Tell: func(text string) { told = append(told, text) }})
	}
	if err != nil || names(s) != "abdefh" || len(told) != 3 {
		t.Errorf("%s, %q: %v", names(s), told, err)
	}
	for want, r := range map[string]plan.Replay{
		"efh": {Files: []string{filepath.Join(dir, "[3-9].json"), filepath.Join(dir, "z.jsonl")}},
		"h":   {Files: []string{filepath.Join(dir, "z.jsonl")}, Filter: "lambda x: x['max_tokens'] == 158 and x['total_tokens'] == 679 and x['num_turns'] == 6"},
	} {
		if s := mustOpen(t, r, token.Words{}, 1); names(s) != want {
			t.Errorf("%s in place of %s", names(s), want)
		}
	}
}

func TestMaxContext(t *testing.T) {
	var told []string
	s := newSource(plan.Data{Replay: plan.Replay{Dir: write(t, agent("a"), aTrace("b", call(0, 1, 70, 20, 1), call(2, 1, 100, 58, 1)), aTrace("c", call(0, 1, 100, 59, 1))),
		MaxContext: 158}}, lexiconOf(t, token.Words{}), 1, os.Getenv)
	err := s.Open(context.Background(), prompt.Use{Chat: true, Tell: func(text string) { told = append(told, text) }})
	if err != nil || len(s.All) != 2 || len(told) != 1 || told[0] != "Left out: 1 sessions with a call of more than 158 tokens." {
		t.Errorf("%d sessions, %q: %v", len(s.All), told, err)
	}
}

func bad(id string) string { return strings.Replace(agent(id), `"in": 70`, `"in": 0`, 1) }

func TestHub(t *testing.T) {
	many := ""
	for i := range 10 {
		many += agent(fmt.Sprint("t", i)) + "\n"
	}
	table, err := os.ReadFile("testdata/traces.parquet")
	if err != nil {
		t.Fatal(err)
	}
	server := hubtest.New(t)
	commit := strings.Repeat("a", 40)
	server.Add("datasets/own/usual", commit, map[string]hubtest.FakeFile{"traces.jsonl": {Data: many}})
	server.Add("datasets/own/other", commit, map[string]hubtest.FakeFile{"README.md": {}, "data/test-0.jsonl": {Data: "{"}, "data/train-0.jsonl": {Data: agent("x")}, "data/train-1.parquet": {Data: string(table)}})
	server.Add("datasets/own/none", commit, map[string]hubtest.FakeFile{"README.md": {}})
	for name, tc := range map[string]struct {
		replay plan.Replay
		want   int
		err    string
	}{
		"all":       {plan.Replay{Hub: plan.Hub{Name: "own/usual"}}, 10, ""},
		"some":      {plan.Replay{Hub: plan.Hub{Name: "own/usual", Revision: "main"}, Entries: 4}, 4, ""},
		"wanted":    {plan.Replay{Hub: plan.Hub{Name: "own/usual"}, Entries: 4, Filter: "x['id'] in ['t8', 't9']"}, 2, ""},
		"a table":   {plan.Replay{Hub: plan.Hub{Name: "own/other"}}, 3, ""},
		"one file":  {plan.Replay{Hub: plan.Hub{Name: "own/other"}, Entries: 1}, 1, ""},
		"a split":   {plan.Replay{Hub: plan.Hub{Name: "own/other", Split: "test"}}, 0, "own/other/data/test-0.jsonl: line 1"},
		"no traces": {plan.Replay{Hub: plan.Hub{Name: "own/none"}}, 0, "own/none has no files of traces"},
		"nothing":   {plan.Replay{Hub: plan.Hub{Name: "own/nothing"}}, 0, "own/nothing"},
	} {
		env := map[string]string{"HF_ENDPOINT": server.URL, "HF_HUB_CACHE": t.TempDir()}
		s := newSource(plan.Data{Replay: tc.replay}, lexiconOf(t, token.Words{}), 1, func(key string) string { return env[key] })
		err := s.Open(context.Background(), prompt.Use{Chat: true})
		if tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) || tc.err == "" && (err != nil || s.Sessions() != tc.want) {
			t.Errorf("%s: %d sessions, %v", name, len(s.All), err)
		}
	}
}

// agree holds what scan makes of a text against what encoding/json makes of it.
func agree(t *testing.T, text string) {
	t.Helper()
	got, ok := scan([]byte(text))
	if !ok {
		return
	}
	want := new(trace)
	if err := json.Unmarshal([]byte(text), want); err != nil {
		t.Fatalf("%q is read, encoding/json says %v", text, err)
	}
	is, _ := json.Marshal(got)
	should, _ := json.Marshal(want)
	if !bytes.Equal(is, should) {
		t.Fatalf("%q is\n%s\nnot\n%s", text, is, should)
	}
}

func TestScan(t *testing.T) {
	compact := strings.ReplaceAll(agent("a"), ", ", ",")
	for _, text := range []string{agent("a"), compact, strings.ReplaceAll(agent("a"), ",", ",\n\t"), `{"id": "a", "block_size": null, "requests": null}`,
		`{"id": "a", "requests": [{"t": 1e2, "hash_ids": [ 1 ,2, 345678901234 ], "in": 3, "x_1": [{}], "hash_ids": []}]}`} {
		if _, ok := scan([]byte(text)); !ok {
			t.Errorf("%s is not read", text)
		}
		agree(t, text)
	}
	for _, text := range []string{`7`, `{"ID": "a"}`, `{"id": "\u0061"}`, `{"id": "é"}`, `{"requests": [], "requests": []}`, `{"block_size": 1.5}`, `{"id": "a"} x`, `{"requests": [{"in": "1"}]}`} {
		if _, ok := scan([]byte(text)); ok {
			t.Errorf("%s is for encoding/json to tell apart", text)
		}
	}
}

// Files are read side by side, and sessions come in the order of the files nevertheless; the first fault of a file is told.
func TestManyFiles(t *testing.T) {
	var files, names []string
	for i := range 40 {
		text := ""
		for k := range 3 {
			text += agent(fmt.Sprintf("%d.json %d", i, k)) + "\n"
			names = append(names, fmt.Sprintf("%d.json %d", i, k))
		}
		files = append(files, text)
	}
	slices.Sort(names)
	s := mustOpen(t, plan.Replay{}, token.Words{}, 1, files...)
	slices.SortFunc(s.All, func(a, b *replay.Session) int { return a.Place - b.Place })
	for i, one := range s.All {
		if want := fmt.Sprintf("wekatrace%d_%s", i, names[i]); one.Name != want {
			t.Fatalf("session %d is %s, want %s", i, one.Name, want)
		}
	}
	if len(s.All) != 120 {
		t.Errorf("%d sessions", len(s.All))
	}
	files[3], files[30] = agent("x")+bad("y")+bad("z"), "{"
	_, err := open2(t, plan.Replay{}, token.Words{}, 1, files...)
	if err == nil || strings.Count(err.Error(), "\n") != 1 || !strings.Contains(err.Error(), "reading trace 2 of ") || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("faults of two files: %v", err)
	}
}

// Whatever a file has, it is read or refused, and what is read can be played with the
// lengths that it says.
func FuzzTraces(f *testing.F) {
	f.Add(agent("a"))
	f.Add(aTrace("a", call(0, 1, 48, 40, 1, 2, 3), call(2, 1, 112, 17, 1, 2, 3, 4, 5, 6, 7), call(4, 1, 96, 5, 1, 2, 3, 4, 8, 9), call(6, 1, 64, 5, 1, 2, 3, 4)))
	f.Add("[" + agent("a") + "," + agent("b") + "]")
	f.Add(`{"id": "a", "requests": [{"t": 1e9, "type": "n", "in": 1, "out": 0}, {"t": 0, "type": "n", "in": 1, "out": 0, "hash_ids": [1]}]}`)
	s, err := New(plan.Data{Replay: plan.Replay{SkipInvalid: true, BlockSize: 2}}, token.Words{}, 1, os.Getenv)
	if err != nil {
		f.Fatal(err)
	}
	mutate.Fuzz(f, func(t *testing.T, text string) {
		agree(t, text)
		one := *s
		one.places, one.All = map[string]string{}, nil
		in := &textReader{io.NopCloser(nil), replay.NewScanner(strings.NewReader(text))}
		for {
			raw, line, err := in.next()
			if err != nil {
				break
			}
			j := &job{line: line}
			if j.session, err = one.read(raw, line); err == nil {
				_ = one.addSession(j, "f")
			}
		}
		for _, sess := range one.All {
			for i, c := range sess.Graph.Calls {
				if c.Wait < 0 || slices.ContainsFunc(c.After, func(a int) bool { return a >= i }) {
					t.Fatalf("call %d after %v waits %v", i, c.After, c.Wait)
				}
				if c.Prompt.Tokens > 10000 {
					continue
				}
				messages, n, err := c.Make("[SESS:x]")
				if err != nil {
					t.Fatal(err)
				}
				count := 0
				for _, m := range messages {
					count += token.Words{}.Count(m.Content)
				}
				if count != n || n < c.Prompt.Tokens || n > c.Prompt.Tokens+1 || messages[len(messages)-1].Role != blocktext.RoleUser {
					t.Fatalf("%d tokens, said to be %d, recorded %d: %+v", count, n, c.Prompt.Tokens, messages)
				}
			}
		}
	})
}
