package dataset

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	pictures "image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/remote/hub/hubtest"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token"
)

// said is a turn as these data sets have it.
type said struct {
	From  string `json:"from" parquet:"from"`
	Value string `json:"value" parquet:"value"`
}

type talk struct {
	ID            string `json:"id" parquet:"id"`
	Conversations []said `json:"conversations" parquet:"conversations,list"`
}

// talks are conversations of one to four turns; every fifth is empty.
func talks(n int) []talk {
	var list []talk
	for i := range n {
		t := talk{ID: fmt.Sprint(i)}
		for k := range i % 5 {
			who := []string{"human", "gpt"}[k%2]
			t.Conversations = append(t.Conversations, said{who, strings.TrimSpace(strings.Repeat(fmt.Sprintf("%s%d ", who, i), 1+(i+k)%17))})
		}
		list = append(list, t)
	}
	return list
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func asParquet[T any](t *testing.T, list []T) string {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, list); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func none(string) string { return "" }

func open(t *testing.T, d plan.Data, chat bool, env func(string) string) (*Source, error) {
	t.Helper()
	d.Source = plan.SourceDataset
	s, err := New(d, token.Words{}, 1, env)
	if err != nil {
		return nil, err
	}
	return s, s.Open(context.Background(), prompt.Use{Chat: chat})
}

func must(t *testing.T, d plan.Data, chat bool) *Source {
	t.Helper()
	s, err := open(t, d, chat, none)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func of(kind, path string) plan.Data {
	return plan.Data{Dataset: plan.Dataset{Kind: kind, Path: path}}
}

func TestConformance(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "talks.json", asJSON(t, talks(300)))
	for name, d := range map[string]plan.Data{
		"all":     {},
		"output":  {Output: plan.Length{Dist: plan.DistUniform, Min: 1, Max: 17}},
		"salted":  {Salt: plan.SaltRequest},
		"bounded": {Dataset: plan.Dataset{Input: plan.Bounds{Min: 3, Max: 40}, Output: plan.Bounds{Max: 12}}},
		"few":     {Prompts: 7},
	} {
		for _, kind := range []string{plan.DatasetShareGPT, plan.DatasetBillsum, plan.DatasetInfinity} {
			for _, chat := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/chat=%v", name, kind, chat), func(t *testing.T) {
					d.Dataset.Kind, d.Dataset.Path = kind, path
					prompttest.Run(t, prompttest.Case{
						New:       func(t *testing.T, _ uint64) prompt.Source { return must(t, d, chat) },
						Tokenizer: token.Words{}, MinOutput: 1, MaxOutput: 17,
					})
				})
			}
		}
	}
}

// Every form of a file gives the same prompts.
func TestForms(t *testing.T) {
	dir := t.TempDir()
	list := talks(40)
	lines := ""
	for _, r := range list {
		lines += asJSON(t, r) + "\n"
	}
	split := filepath.Join(dir, "split")
	if err := os.Mkdir(split, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, split, "b.parquet", asParquet(t, list[10:]))
	write(t, split, "a.jsonl", asJSON(t, list[:10]))
	write(t, split, "README.md", "no rows")
	var want []prompt.Prompt
	for _, path := range []string{
		write(t, dir, "list.json", asJSON(t, list)), write(t, dir, "lines.jsonl", lines),
		write(t, dir, "rows.parquet", asParquet(t, list)), split,
	} {
		got := prompttest.FirstPrompts(t, must(t, of(plan.DatasetShareGPT, path), true), 50)
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if want[0].Hash != want[24].Hash || want[0].Hash == want[1].Hash {
		t.Errorf("24 of 40 rows have an answer, and come again after that: %v", want[24])
	}
}

func TestRows(t *testing.T) {
	say := func(list ...string) map[string]any {
		var out []map[string]string
		for i := 0; i < len(list); i += 2 {
			out = append(out, map[string]string{"from": list[i], "value": list[i+1]})
		}
		return map[string]any{"conversations": out}
	}
	for _, tc := range []struct {
		name, kind string
		row        any
		chat       bool
		text       string // "role: content" of each message, or the text
		output     int
	}{
		{"first exchange", plan.DatasetShareGPT, say("human", "a b", "gpt", "c d e", "human", "f", "gpt", "g"), false, "a b", 3},
		{"whole chat", plan.DatasetShareGPT, say("human", "a b", "gpt", "c d e", "human", "f", "gpt", "g"), true, "user: a b|assistant: c d e|user: f", 1},
		{"unanswered end", plan.DatasetShareGPT, say("human", "a b", "gpt", "c d e", "human", "f"), true, "user: a b", 3},
		{"begins with an answer", plan.DatasetShareGPT, say("gpt", "z", "human", "a", "gpt", "c d"), true, "user: a", 2},
		{"system first", plan.DatasetShareGPT, say("system", "s", "gpt", "z", "human", "a", "gpt", "c d"), true, "system: s|user: a", 2},
		{"two in a row", plan.DatasetShareGPT, say("human", "a", "human", "b", "gpt", "c d", "gpt", "e"), true, "user: a\n\nb", 3},
		{"one turn", plan.DatasetShareGPT, say("human", "a"), true, "", 0},
		{"no answer", plan.DatasetShareGPT, say("human", "a", "human", "b"), true, "", 0},
		{"empty prompt", plan.DatasetShareGPT, say("human", "", "gpt", "b"), false, "", 0},
		{"empty answer", plan.DatasetShareGPT, say("human", "a", "gpt", ""), false, "", 0},
		{"text in place of an object", plan.DatasetShareGPT, map[string]any{"conversations": []string{`{"from":"human","value":"a b"}`, `{"from":"gpt","value":"c"}`}}, false, "a b", 1},
		{"text that is not an object", plan.DatasetShareGPT, map[string]any{"conversations": []string{"a", "b"}}, false, "", 0},
		{"other names", plan.DatasetShareGPT, map[string]any{"conversations": []any{map[string]string{"role": "user", "content": "a"}, map[string]string{"role": "assistant", "content": "b"}}}, true, "user: a", 1},
		{"null", plan.DatasetShareGPT, map[string]any{"conversations": nil}, true, "", 0},
		{"number", plan.DatasetShareGPT, map[string]any{"conversations": 7}, true, "", 0},
		{"other row", plan.DatasetShareGPT, map[string]any{"article": "x"}, true, "", 0},
		{"bill", plan.DatasetBillsum, say("human", "a b", "gpt", "c d"), true, "user: a b", 2},
		{"instruction", plan.DatasetInfinity, say("human", "a b", "gpt", "c d e", "human", "f", "gpt", "g h"), false, "a b\nc d e\nf", 2},
		{"instruction, chat", plan.DatasetInfinity, say("human", "a b", "gpt", "c d e", "human", "f", "gpt", "g h"), true, "user: a b|assistant: c d e|user: f", 2},
		{"instruction without answer", plan.DatasetInfinity, say("human", "a b", "gpt", "c d e", "human", "f"), false, "", 0},
		{"news", plan.DatasetCNN, map[string]any{"article": "a b c", "highlights": "d e"}, false, "a b c", 2},
		{"news, chat", plan.DatasetCNN, map[string]any{"article": "a b c", "highlights": "d e"}, true, "a b c", 2},
		{"no news", plan.DatasetCNN, map[string]any{"article": nil, "highlights": "d e"}, true, "", 0},
		{"question", plan.DatasetOpenOrca, map[string]any{"system_prompt": "", "question": "a b", "response": "c"}, true, "a b", 1},
		{"question and system", plan.DatasetOpenOrca, map[string]any{"system_prompt": "s", "question": "a b", "response": "c"}, true, "system: s|user: a b", 1},
		{"question and system as text", plan.DatasetOpenOrca, map[string]any{"system_prompt": "s", "question": "a b", "response": "c"}, false, "s\n\na b", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := open(t, of(tc.kind, write(t, t.TempDir(), "x.json", asJSON(t, []any{tc.row}))), tc.chat, none)
			if tc.text == "" {
				if err == nil || !strings.Contains(err.Error(), "data.dataset: no row of "+tc.kind+" can be used: of 1 rows, 1 have no request") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			p := prompttest.FirstPrompts(t, s, 1)[0]
			got := []string{}
			for _, m := range p.Messages {
				got = append(got, m.Role+": "+m.Content)
			}
			if text := p.Text + strings.Join(got, "|"); text != tc.text || p.Output != tc.output {
				t.Errorf("%q and %d tokens, want %q and %d", text, p.Output, tc.text, tc.output)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	d := of(plan.DatasetShareGPT, write(t, t.TempDir(), "talks.json", asJSON(t, talks(300))))
	d.Dataset.Input, d.Dataset.Output = plan.Bounds{Min: 4, Max: 9}, plan.Bounds{Min: 5}
	n := map[uint64]bool{}
	for _, p := range prompttest.FirstPrompts(t, must(t, d, false), 300) {
		if p.Tokens < 4 || p.Tokens > 9 || p.Output < 5 {
			t.Errorf("a prompt of %d tokens with an answer of %d", p.Tokens, p.Output)
		}
		n[p.Hash] = true
	}
	if len(n) < 20 {
		t.Errorf("%d distinct prompts", len(n))
	}
	d.Dataset.Input.Min, d.Dataset.Input.Max = 500, 600
	if _, err := open(t, d, false, none); err == nil || !strings.Contains(err.Error(), "300 rows, 120 have no request or no response, 180 have a prompt and 0 a response of another length") {
		t.Errorf("%v", err)
	}
}

type vision struct {
	Conversation [][]struct {
		Role    string `parquet:"role"`
		Content string `parquet:"content"`
	} `parquet:"conversation,list"`
	Images []picture `parquet:"images,list"`
}

type picture struct {
	Bytes []byte `parquet:"bytes"`
	Path  string `parquet:"path"`
}

func TestImages(t *testing.T) {
	var p, j bytes.Buffer
	canvas := pictures.NewRGBA(pictures.Rect(0, 0, 5, 3))
	if err := errors.Join(png.Encode(&p, canvas), jpeg.Encode(&j, canvas, nil)); err != nil {
		t.Fatal(err)
	}
	webp := "RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x02\x00\x00"
	rows := make([]vision, 3)
	for i := range rows {
		rows[i].Conversation = make([][]struct {
			Role    string `parquet:"role"`
			Content string `parquet:"content"`
		}, 2)
		for k, s := range []string{"user", "assistant"} {
			rows[i].Conversation[k] = append(rows[i].Conversation[k], struct {
				Role    string `parquet:"role"`
				Content string `parquet:"content"`
			}{s, fmt.Sprint(s, i, " ünd më")})
		}
	}
	rows[0].Images = []picture{{Bytes: p.Bytes()}, {Bytes: j.Bytes()}, {Bytes: []byte(webp)}, {Bytes: []byte("GIF89a")}}
	rows[2].Images = []picture{{Bytes: p.Bytes()}}
	d := of(plan.DatasetVisionArena, write(t, t.TempDir(), "v.parquet", asParquet(t, rows)))
	d.Dataset.Images = 9
	for name, at := range map[string]plan.Spot{
		"anywhere": {}, "first": {Dist: plan.DistFixed}, "last": {Dist: plan.DistFixed, Mean: 1}, "middle": {Dist: plan.DistFixed, Mean: 0.5},
		"normal": {Dist: plan.DistNormal, Mean: 0.5, Stddev: 0.2}, "uniform": {Dist: plan.DistUniform, Min: 0.1, Max: 0.9}, "poisson": {Dist: plan.DistPoisson, Mean: 0.5},
	} {
		d.Dataset.At = at
		list := prompttest.FirstPrompts(t, must(t, d, true), 2)
		var text string
		var types []string
		for _, part := range list[0].Parts {
			if part.Kind == prompt.Text {
				text += part.Text
				continue
			}
			types = append(types, part.Type)
			if part.Width != 5 || part.Height != 3 {
				t.Errorf("%s: %s of %d × %d", name, part.Type, part.Width, part.Height)
			}
		}
		slices.Sort(types)
		if text != "user0 ünd më" || text != list[0].Text || !slices.Equal(types, []string{"image/jpeg", "image/png", "image/webp"}) {
			t.Errorf("%s: %q with %q", name, text, types)
		}
		parts := list[0].Parts
		if name == "first" && parts[0].Type != "image/png" || name == "last" && parts[0].Kind != prompt.Text || name == "middle" && len(parts) != 5 {
			t.Errorf("%s: %d parts, %v first", name, len(parts), parts[0].Kind)
		}
		if list[1].Text != "user2 ünd më" || list[0].Hash == list[1].Hash {
			t.Errorf("the row without images is not left out: %q", list[1].Text)
		}
	}
	if p := prompttest.FirstPrompts(t, must(t, d, false), 1)[0]; p.Parts != nil || p.Text == "" {
		t.Error("a text prompt has images")
	}
	line := fmt.Sprintf(`{"conversation": [[{"role": "user", "content": "What?"}], [{"role": "assistant", "content": "A square."}]], "images": [{"bytes": %q}, {"bytes": "no picture"}]}`, base64.StdEncoding.EncodeToString(p.Bytes()))
	if list := prompttest.FirstPrompts(t, must(t, of(plan.DatasetVisionArena, write(t, t.TempDir(), "v.jsonl", line)), true), 1); !slices.ContainsFunc(list[0].Parts, func(p prompt.Part) bool { return p.Type == "image/png" && p.Width == 5 }) {
		t.Errorf("%d parts of a line of JSON, and none is its image", len(list[0].Parts))
	}
	d.Dataset.Images = 0
	if p := prompttest.FirstPrompts(t, must(t, d, true), 1)[0]; len(p.Parts) > 3 {
		t.Errorf("%d parts with one image", len(p.Parts))
	}
	d.Salt = plan.SaltRequest
	if p := prompttest.FirstPrompts(t, must(t, d, true), 1)[0]; p.Parts[0].Kind != prompt.Text || len(p.Parts[0].Text) != 14 {
		t.Error("the salt is not in front")
	}
}

func settings(m map[string]string) func(string) string {
	return func(name string) string { return m[name] }
}

type news struct {
	Article    string `parquet:"article"`
	Highlights string `parquet:"highlights"`
	ID         string `parquet:"id"`
}

func TestHub(t *testing.T) {
	const commit = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	s := hubtest.New(t)
	file := func(text string) map[string]hubtest.FakeFile {
		data := asParquet(t, []news{{Article: text + " article", Highlights: "a b"}})
		return map[string]hubtest.FakeFile{"3.0.0/train-00000-of-00003.parquet": {Data: data, Large: true}, "3.0.0/train-00001-of-00003.parquet": {Data: data},
			"3.0.0/train-00002-of-00003.parquet": {Data: data}, "3.0.0/test-00000-of-00001.parquet": {Data: asParquet(t, []news{{Article: text + " test", Highlights: "a"}})},
			"README.md": {Data: "x"}}
	}
	gated := s.Add("datasets/abisee/cnn_dailymail", commit, file("real"))
	gated.Gated, gated.Token = true, "hf_sesame"
	s.Add("datasets/me/mirror", commit, file("mirrored"))
	s.Add("datasets/anon8231489123/ShareGPT_Vicuna_unfiltered", commit, map[string]hubtest.FakeFile{"ShareGPT_V3_unfiltered_cleaned_split.json": {Data: asJSON(t, talks(10)), Large: true}})
	home := t.TempDir()
	login := write(t, t.TempDir(), "token", "hf_sesame\n")
	env := map[string]string{"HF_ENDPOINT": s.URL, "HF_HOME": home}
	set := func(more ...string) func(string) string {
		m := map[string]string{}
		for k, v := range env {
			m[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return settings(m)
	}
	for _, tc := range []struct {
		name string
		d    plan.Dataset
		env  func(string) string
		want string // the text of the first prompt, or a part of the error
	}{
		{"no token", plan.Dataset{Kind: plan.DatasetCNN}, set(), "is gated"},
		{"offline, not there", plan.Dataset{Kind: plan.DatasetCNN}, set("HF_HUB_OFFLINE", "1"), "is not in the local cache"},
		{"token in a file", plan.Dataset{Kind: plan.DatasetCNN}, set("HF_TOKEN_PATH", login), "real article"},
		{"from the cache", plan.Dataset{Kind: plan.DatasetCNN}, set("HF_HUB_OFFLINE", "1"), "real article"},
		{"another split", plan.Dataset{Kind: plan.DatasetCNN, Hub: plan.Hub{Split: "test"}}, set("HF_TOKEN", "hf_sesame"), "real test"},
		{"no such split", plan.Dataset{Kind: plan.DatasetCNN, Hub: plan.Hub{Split: "tset"}}, set("HF_TOKEN", "hf_sesame"), "has no file 3.0.0/tset"},
		{"a mirror", plan.Dataset{Kind: plan.DatasetCNN, Hub: plan.Hub{Name: "me/mirror", Config: "3.0.0"}}, set(), "mirrored article"},
		{"a mirror's split", plan.Dataset{Kind: plan.DatasetCNN, Hub: plan.Hub{Name: "me/mirror", Split: "test"}}, set(), "mirrored test"},
		{"a pattern", plan.Dataset{Kind: plan.DatasetCNN, Hub: plan.Hub{Name: "me/mirror"}, Files: "*/test-*.parquet"}, set(), "mirrored test"},
		{"a deep pattern", plan.Dataset{Kind: plan.DatasetCNN, Hub: plan.Hub{Name: "me/mirror"}, Files: "**/test-*.parquet"}, set(), "mirrored test"},
		{"a file", plan.Dataset{Kind: plan.DatasetCNN, Hub: plan.Hub{Name: "me/mirror"}, Files: "3.0.0/test-00000-of-00001.parquet"}, set(), "mirrored test"},
		{"nothing fits", plan.Dataset{Kind: plan.DatasetCNN, Hub: plan.Hub{Name: "me/mirror"}, Files: "*.csv"}, set(), "it has 3.0.0/test-00000-of-00001.parquet, "},
		{"no such data set", plan.Dataset{Kind: plan.DatasetBillsum, Hub: plan.Hub{Name: "me/none"}}, set(), "has no dataset me/none"},
		{"nowhere", plan.Dataset{Kind: plan.DatasetBillsum}, set(), "no usual place"},
		{"another kind", plan.Dataset{Kind: plan.DatasetShareGPT}, set(), "human2 human2 human2"},
		{"rows of another kind", plan.Dataset{Kind: plan.DatasetInfinity, Hub: plan.Hub{Name: "me/mirror"}}, set(), "none of the columns"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ""
			src, err := open(t, plan.Data{Dataset: tc.d}, false, tc.env)
			if err != nil {
				got = err.Error()
			} else {
				got = prompttest.FirstPrompts(t, src, 1)[0].Text
			}
			if !strings.Contains(got, tc.want) || strings.Contains(got, "hf_sesame") {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

// A fetch, which may take long, is told of before it begins; what is in the cache is not.
func TestFetchIsToldOf(t *testing.T) {
	s := hubtest.New(t)
	s.Add("datasets/me/talks", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", map[string]hubtest.FakeFile{"train.json": {Data: asJSON(t, talks(10))}})
	env := settings(map[string]string{"HF_ENDPOINT": s.URL, "HF_HOME": t.TempDir()})
	for _, want := range []int{1, 0} {
		src, err := New(plan.Data{Dataset: plan.Dataset{Kind: plan.DatasetBillsum, Hub: plan.Hub{Name: "me/talks"}}}, token.Words{}, 1, env)
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		if err := src.Open(context.Background(), prompt.Use{Tell: func(text string) { told = append(told, text) }}); err != nil {
			t.Fatal(err)
		}
		if len(told) != want || want == 1 && !strings.Contains(told[0], "train.json of the data set me/talks") {
			t.Errorf("%q", told)
		}
	}
}

func TestFaults(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct{ path, want string }{
		{filepath.Join(dir, "none.json"), "data.dataset.path: there is no "},
		{dir, "has no .json, .jsonl or .parquet files"},
		{write(t, t.TempDir(), "x.json", ""), "the file is empty"},
		{write(t, t.TempDir(), "x.json", `[{"conversations":`), "row 1: "},
	} {
		if _, err := open(t, of(plan.DatasetShareGPT, tc.path), true, none); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.path, err, tc.want)
		}
	}
	if _, err := open(t, of("nonsense", dir), true, none); err == nil || !strings.Contains(err.Error(), "data.dataset.kind") {
		t.Errorf("%v", err)
	}
}

// What is read after the first prompts comes in the same order, and once.
func TestLongFile(t *testing.T) {
	const n = 3 * readFirst
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"article":"article %d","highlights":"x"}`+"\n", i)
	}
	path := write(t, t.TempDir(), "news.jsonl", b.String())
	s := must(t, of(plan.DatasetCNN, path), false)
	for i, p := range prompttest.FirstPrompts(t, s, n+10) {
		if p.Text != fmt.Sprint("article ", i%n) {
			t.Fatalf("prompt %d is %q", i, p.Text)
		}
	}
	d := of(plan.DatasetCNN, path)
	d.Dataset.Rows = 5
	if p := prompttest.FirstPrompts(t, must(t, d, false), 7); p[6].Text != "article 1" {
		t.Errorf("%q after five rows", p[6].Text)
	}
}

func FuzzTurns(f *testing.F) {
	f.Add(`[{"from":"human","value":"a"},{"from":"gpt","value":"b"}]`)
	f.Add(`[[{"role":"user","content":"a"}],"{\"from\":1}"]`)
	mutate.Fuzz(f, func(t *testing.T, text string) {
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			return
		}
		list, ok := turns(v)
		if !ok {
			return
		}
		if e, ok := toChat(list); ok {
			for i, m := range e.messages {
				if m.Content == "" || i > 0 && m.Role == e.messages[i-1].Role {
					t.Errorf("%+v", e.messages)
				}
			}
			if e.answer == "" || e.messages[len(e.messages)-1].Role != "user" {
				t.Errorf("%+v", e)
			}
		}
	})
}

func FuzzImage(f *testing.F) {
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8L\x0a\x00\x00\x00\x2f\x00\x00\x00\x04\x00\x00\x02\x00\x00"))
	f.Add([]byte("\x89PNG\r\n\x1a\n"))
	mutate.Fuzz(f, func(t *testing.T, data []byte) { image(data) })
}
