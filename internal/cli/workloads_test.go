package cli

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/tool"
)

// seen is a request as the mock got it.
type seen struct {
	truthfile.Request
	model    string
	messages []said
	fields   map[string]json.RawMessage
}

// said is a message; text is all of its text.
type said struct {
	role, text string
	images     []string
}

// words is how many the messages of a request have, by which the mock counts.
func (s *seen) words(from int) (n int) {
	for _, m := range s.messages[from:] {
		n += len(strings.Fields(m.text))
	}
	return n
}

// goesOn reports whether a request is the turn after another.
func (s *seen) goesOn(other *seen) bool {
	n := len(other.messages)
	return len(s.messages) == n+2 && slices.EqualFunc(s.messages[:n], other.messages, func(a, b said) bool { return a.text == b.text })
}

// before is the turn before a request; nil: it is the first.
func before(all []seen, i int) *seen {
	for k := range all {
		if all[i].goesOn(&all[k]) {
			return &all[k]
		}
	}
	return nil
}

// readSeen reads what a mock saw, but for the request that tries it out, in the order of arrival.
func readSeen(t *testing.T, file string) []seen {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := truthfile.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []seen
	for _, r := range lines {
		s := seen{Request: r}
		if strings.HasPrefix(r.Path, "/v1/audio") {
			all = append(all, s)
			continue
		}
		if !strings.HasPrefix(r.Path, "/v1/chat") && !strings.HasPrefix(r.Path, "/v1/completions") {
			continue
		}
		var body struct {
			Model    string
			Messages []struct {
				Role    string
				Content json.RawMessage
			}
		}
		err := json.Unmarshal(r.Body, &body)
		if err == nil {
			err = json.Unmarshal(r.Body, &s.fields)
		}
		if err != nil {
			t.Fatalf("%s: %v", r.Body, err)
		}
		s.model = body.Model
		for _, m := range body.Messages {
			one := said{role: m.Role}
			var parts []struct {
				Type, Text string
				Image      struct{ URL string } `json:"image_url"`
			}
			if json.Unmarshal(m.Content, &one.text) != nil && json.Unmarshal(m.Content, &parts) != nil && string(m.Content) != "null" {
				t.Fatalf("content %s", m.Content)
			}
			for _, p := range parts {
				if one.text += p.Text; p.Type == "image_url" {
					one.images = append(one.images, p.Image.URL)
				}
			}
			s.messages = append(s.messages, one)
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b seen) int { return int(a.Read - b.Read) })
	return all
}

// workloads say what the mock sees of the commands of docs/workloads.md, by a part of the command.
var workloads = []struct {
	flags string
	check func(t *testing.T, all []seen)
}{
	{"--concurrency 8 --duration 60s|--turns 4 --think-time 2s-10s --input-tokens 200", checkChats},
	{"--concurrency 1,2,4", func(t *testing.T, all []seen) {
		checkThinking(t, all, 20*time.Millisecond)
	}},
	{"--sessions 20", func(t *testing.T, all []seen) {
		first, last := 0, map[int]int{}
		for i := range all {
			if before(all, i) == nil {
				first++
			}
			if !slices.ContainsFunc(all, func(s seen) bool { return s.goesOn(&all[i]) }) {
				last[(len(all[i].messages)+1)/2]++
			}
		}
		for turns := range last {
			if turns < 2 || turns > 6 {
				t.Errorf("conversations of so many turns: %v", last)
			}
		}
		if first != 20 || len(last) < 3 {
			t.Errorf("%d conversations, of so many turns: %v", first, last)
		}
		checkThinking(t, all, 20*time.Millisecond)
	}},
	{"--system-prompt-tokens 1000", func(t *testing.T, all []seen) {
		for i := range all {
			s := &all[i]
			if len(s.messages) != 2 || s.messages[0].role != "system" || s.messages[0].text != all[0].messages[0].text || s.words(0)-s.words(1) != 1000 || s.words(1) != 100 || s.Max != 100 {
				t.Fatalf("%d messages, %d words, of them %d behind the first, asks for %d", len(s.messages), s.words(0), s.words(1), s.Max)
			}
			if i > 8 && s.Cached < 1000-16 {
				t.Errorf("request %d: %d cached", i, s.Cached)
			}
		}
	}},
	{"--shared-prefix 800 --prefix-groups 10", func(t *testing.T, all []seen) {
		groups, whole := map[string]int{}, map[string]bool{}
		for _, s := range all {
			fields := strings.Fields(s.messages[0].text)
			if len(fields) != 850 {
				t.Fatalf("%d words, want 850", len(fields))
			}
			groups[strings.Join(fields[:800], " ")]++
			whole[s.messages[0].text] = true
		}
		if len(groups) < 6 || len(groups) > 10 || len(whole) != len(all) {
			t.Errorf("%d beginnings, want up to 10; %d prompts of %d differ", len(groups), len(whole), len(all))
		}
	}},
	{"--cache-hit 70% --reset-cache", func(t *testing.T, all []seen) {
		prompts, cached := 0, 0
		for i, s := range all {
			if s.Prompt != 1000 || i == 0 && s.Cached > 0 {
				t.Errorf("request %d: %d tokens, %d cached", i, s.Prompt, s.Cached)
			}
			if i >= 20 {
				prompts, cached = prompts+s.Prompt, cached+s.Cached
			}
		}
		if share := float64(cached) / float64(prompts); share < 0.68 || share > 0.7 {
			t.Errorf("%.3f of the prompts' tokens are cached", share)
		}
	}},
	{"--lora sql=0.5,tweets=0.3,law=0.2", func(t *testing.T, all []seen) {
		models := map[string]int{}
		for _, s := range all {
			models[s.model]++
		}
		if models["sql"] != 20 || models["tweets"] != 12 || models["law"] != 8 {
			t.Errorf("models %v", models)
		}
	}},
	{"--dataset examples/data/sharegpt.json", func(t *testing.T, all []seen) {
		text, err := os.ReadFile("examples/data/sharegpt.json")
		var rows []struct {
			Conversations []struct{ From, Value string }
		}
		if err == nil {
			err = json.Unmarshal(text, &rows)
		}
		if err != nil {
			t.Fatal(err)
		}
		asked := map[string]bool{}
		for _, r := range rows {
			asked[r.Conversations[0].Value] = true
		}
		for _, s := range all {
			if last := s.messages[len(s.messages)-1]; !asked[s.messages[0].text] || last.role != "user" || s.Max < 1 {
				t.Fatalf("%+v, asks for %d", s.messages, s.Max)
			}
		}
	}},
	{"--trace examples/data/mooncake.jsonl", func(t *testing.T, all []seen) {
		text, err := os.ReadFile("examples/data/mooncake.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		blocks, n := map[int]string{}, 0
		for line := range strings.Lines(string(text)) {
			var row struct {
				Input  int   `json:"input_length"`
				Output int   `json:"output_length"`
				Hashes []int `json:"hash_ids"`
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(all, func(s seen) bool { return s.words(0) == row.Input && s.Max == row.Output })
			if n++; i < 0 {
				t.Errorf("no request has %d tokens and asks for %d", row.Input, row.Output)
				continue
			}
			words := strings.Fields(all[i].messages[0].text)
			for k := 0; k+1 < len(row.Hashes); k++ { // the last is no whole block
				block := strings.Join(words[k*512:(k+1)*512], " ")
				if known := blocks[row.Hashes[k]]; known != "" && known != block {
					t.Errorf("hash %d is two texts", row.Hashes[k])
				}
				blocks[row.Hashes[k]] = block
			}
		}
		if len(all) != n || len(blocks) < 2 {
			t.Errorf("%d requests of %d, %d blocks", len(all), n, len(blocks))
		}
	}},
	{"--audio-length 5s,30s", func(t *testing.T, all []seen) {
		lengths := map[int]int{} // a second is 10 tokens, and the sounds are a hundredth as long here
		for _, s := range all {
			lengths[s.Prompt]++
		}
		if len(lengths) != 2 || lengths[1] == 0 || lengths[3] == 0 || lengths[1]+lengths[3] != len(all) {
			t.Errorf("tokens of sounds: %v", lengths)
		}
	}},
	{"--trace examples/data/tracelab.jsonl", func(t *testing.T, all []seen) {
		text, err := os.ReadFile("examples/data/tracelab.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		last, n := map[string]*seen{}, 0
		for line := range strings.Lines(string(text)) {
			var row struct {
				Session string `json:"session_id"`
				Input   int    `json:"input_tokens_total"`
				Prefix  int    `json:"prefix_tokens"`
				Output  int    `json:"output_tokens"`
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(all, func(s seen) bool { return s.words(0) == row.Input && s.Max == row.Output })
			if n++; i < 0 {
				t.Errorf("no request has %d tokens and asks for %d", row.Input, row.Output)
				continue
			}
			s, before := &all[i], last[row.Session]
			if before != nil && (s.Read < before.End || s.Cached != row.Prefix/16*16) {
				t.Errorf("a call of %s comes at %d, the response before it ended at %d; %d tokens are in the cache, %d were", row.Session, s.Read, before.End, s.Cached, row.Prefix)
			}
			last[row.Session] = s
		}
		if len(all) != n {
			t.Errorf("%d requests of %d", len(all), n)
		}
	}},
	{"--cancel 10%@500ms", func(t *testing.T, all []seen) {
		left := 0
		for _, s := range all {
			if s.Finish == "abort" {
				left++
			}
		}
		if len(all) != 40 || left < 1 || left > 10 {
			t.Errorf("%d of %d requests were cancelled", left, len(all))
		}
	}},
	{"--images 2 --image-size 640x480", func(t *testing.T, all []seen) {
		for _, s := range all {
			if s.Media != 2 || len(s.messages[0].images) != 2 || !strings.HasPrefix(s.messages[0].images[0], "data:image/png;base64,") {
				t.Fatalf("%d media, images %.60q", s.Media, s.messages[0].images)
			}
		}
	}},
	{"--input-file examples/data/agent.jsonl", func(t *testing.T, all []seen) {
		text, err := os.ReadFile("examples/data/agent.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		var rows []map[string]json.RawMessage
		for line := range strings.Lines(string(text)) {
			var row map[string]json.RawMessage
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			delete(row, "id") // no API has it
			rows = append(rows, row)
		}
		for _, s := range all {
			row := rows[0]
			if len(s.messages) == 1 {
				row = rows[1]
			}
			for name, value := range row {
				if !sameJSON(s.fields[name], value) {
					t.Errorf("%s is %s at the server, and %s in the file", name, s.fields[name], value)
				}
			}
		}
	}},
	{"--tools examples/data/tools.json", func(t *testing.T, all []seen) {
		text, err := os.ReadFile("examples/data/tools.json")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			if !sameJSON(s.fields["tools"], text) {
				t.Fatalf("tools %s", s.fields["tools"])
			}
		}
	}},
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x) // what was read can be written
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

// checkChats: eight users, each with conversations of four turns of 200 words.
func checkChats(t *testing.T, all []seen) {
	first := 0
	for i := range all {
		s := &all[i]
		last := s.messages[len(s.messages)-1]
		if n := len(s.messages); n > 7 || last.role != "user" || s.words(n-1) != 200 || s.Max != 100 {
			t.Errorf("%d messages, the last from %s with %d words, asks for %d", n, last.role, s.words(n-1), s.Max)
		}
		if before(all, i) == nil {
			first++
		}
	}
	if first < len(all)/4 || first > len(all)/4+8 {
		t.Errorf("%d of %d requests begin a conversation", first, len(all))
	}
	checkThinking(t, all, 20*time.Millisecond)
}

// checkThinking: a turn comes that much after the answer before it had gone, at the earliest.
func checkThinking(t *testing.T, all []seen, least time.Duration) {
	t.Helper()
	turns := 0
	for i := range all {
		if b := before(all, i); b != nil {
			turns++
			if pause := time.Duration(all[i].Read - b.Events[len(b.Events)-1].At); pause < least {
				t.Errorf("a turn came %v after the answer, want %v and more", pause, least)
			}
		}
	}
	if turns == 0 {
		t.Error("no turn comes after another")
	}
}

// shorter has the commands of a page take less time: forty requests in place of a minute, and a hundredth of all pauses.
var shorter = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`--duration 60s`), "--requests 40"},
	{regexp.MustCompile(`(\d+)s\b`), "${1}0ms"},
	{regexp.MustCompile(`@500ms`), "@0s"},
	{regexp.MustCompile(`--rate \d+`), "--rate 500"},
}

// Every command of docs/workloads.md sends what it says.
func TestWorkloads(t *testing.T) {
	text, err := os.ReadFile("../../docs/workloads.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	used := map[int]bool{}
	for line := range strings.Lines(string(text)) {
		for _, args := range documented(line) {
			command := strings.Join(args, " ")
			i := slices.IndexFunc(workloads, func(w struct {
				flags string
				check func(t *testing.T, all []seen)
			}) bool {
				return !slices.ContainsFunc(strings.Split(w.flags, "|"), func(part string) bool { return !strings.Contains(command, part) })
			})
			if i < 0 {
				t.Errorf("nothing says what a server should see of inferometer %s", command)
				continue
			}
			used[i] = true
			t.Run(workloads[i].flags, func(t *testing.T) { workloads[i].check(t, sentBy(t, command)) })
		}
	}
	for i, w := range workloads {
		if !used[i] {
			t.Errorf("no command of the page has %s", w.flags)
		}
	}
}

// sentBy runs a command with a mock of its own, and gives what that saw.
func sentBy(t *testing.T, command string) []seen {
	t.Helper()
	c := config.Default()
	c.Truth, c.TruthBody, c.Strict = filepath.Join(t.TempDir(), "truth.jsonl"), true, true
	c.Models = []string{"mock", "sql", "tweets", "law"}
	c.Latency.PrefixCache = true
	c.Latency.TTFT = 2 * time.Millisecond
	s, err := mock.New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	for _, r := range shorter {
		command = r.from.ReplaceAllString(command, r.to)
	}
	args := strings.Fields(strings.ReplaceAll(command, "http://localhost:8000", "http://"+l.Addr().String()))
	code, out := call(append(args, "--no-preflight", "--quiet")...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if code == tool.ExitUsage || !strings.Contains(out, "none failed") {
		t.Fatalf("exit %d: %s", code, out)
	}
	return readSeen(t, c.Truth)
}
