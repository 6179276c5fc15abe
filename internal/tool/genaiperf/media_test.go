package genaiperf

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	frontend "github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// Pictures and sound are what their names say.
func TestMultimodal(t *testing.T) {
	s := serve(t, nil)
	a := parse(t, s, t.TempDir(), strings.Fields("profile -m gpt2 --endpoint-type vision --streaming --isl 10 --osl 4 --num-prompts 3 --tokenizer builtin:gpt2 --image-width-mean 20 --image-height-mean 10 --image-format jpeg --batch-size-image 2 --audio-length-mean 0.1 --audio-depths 24 --audio-sample-rates 8 --audio-num-channels 2")...)
	out := profile(t, a, world(offline, t.Output()))
	if n := avg(t, out.Summary, dialect.InputSequenceLength); n != 10 {
		t.Errorf("%v tokens of text, want 10", n)
	}
	if out.Report.Endpoint != "vision" || !strings.HasSuffix(a.Settings.Dir, "gpt2-openai-vision-concurrency1") {
		t.Errorf("the endpoint is %s, in %s", out.Report.Endpoint, a.Settings.Dir)
	}
	doc := exportOf(t, a)
	payload, _ := doc.Experiments[0].Requests[0].Inputs.Text("payload")
	var body struct {
		Messages []struct {
			Content []struct {
				Type  string
				Image struct{ URL string }          `json:"image_url"`
				Audio struct{ Data, Format string } `json:"input_audio"`
			}
		}
	}
	if err := json.Unmarshal([]byte(payload), &body); err != nil {
		t.Fatal(err)
	}
	parts := body.Messages[0].Content
	if len(parts) != 4 || parts[0].Type != "text" || parts[2].Type != "image_url" || parts[3].Type != "input_audio" {
		t.Fatalf("the parts of a message: %+v", parts)
	}
	text, ok := strings.CutPrefix(parts[1].Image.URL, "data:image/jpeg;base64,")
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !ok {
		t.Fatal(err)
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil || format != "jpeg" || config.Width != 20 || config.Height != 10 {
		t.Errorf("a picture %+v of format %s, %v", config, format, err)
	}
	wav, err := base64.StdEncoding.DecodeString(parts[3].Audio.Data)
	if err != nil || parts[3].Audio.Format != "wav" || string(wav[:4])+string(wav[8:12]) != "RIFFWAVE" {
		t.Fatalf("%q, %v", wav[:12], err)
	}
	if size := binary.LittleEndian.Uint32(wav[40:]); int(size) != len(wav)-44 || size != 800*2*3 ||
		binary.LittleEndian.Uint32(wav[24:]) != 8000 {
		t.Errorf("%d bytes of samples in %d", size, len(wav))
	}
}

// What is ranked comes as each server takes it.
func TestRankings(t *testing.T) {
	var mu sync.Mutex
	var bodies []string
	ranker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/v1/ranking" || r.URL.Path == "/rerank" {
			mu.Lock()
			bodies = append(bodies, string(text))
			mu.Unlock()
			if r.URL.Path == "/rerank" {
				io.WriteString(w, `[{"index":0,"score":1.5}]`)
			} else {
				io.WriteString(w, `{"rankings":[{"index":0,"logit":1.5}]}`)
			}
			return
		}
		http.NotFound(w, r)
	}))
	defer ranker.Close()
	files := t.TempDir()
	for name, text := range map[string]string{"queries.jsonl": `{"text":"which?"}`, "passages.jsonl": `{"text":"this"}`} {
		if err := os.WriteFile(filepath.Join(files, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ args, want string }{
		{"--input-file " + files + " --batch-size-text 2", `{"query":{"text":"which?"},"passages":[{"text":"this"},{"text":"this"}],"model":"m"}`},
		{"--input-file " + files + " --extra-inputs rankings:tei --endpoint rerank", `{"query":"which?","texts":["this"]}`},
		{"--input-file synthetic:queries,passages --num-prompts 2 --isl 5", `{"query":{"text":"`},
	} {
		bodies = nil
		s := &mockServer{http: strings.TrimPrefix(ranker.URL, "http://")}
		a := parse(t, s, t.TempDir(), append(strings.Fields("profile -m m --endpoint-type rankings --tokenizer builtin:gpt2"), strings.Fields(tt.args)...)...)
		env := world(offline, t.Output())
		out := profile(t, a, env)
		if out.Summary.Failed != 0 || out.Summary.Requests != 10 {
			t.Errorf("%s: %d failed, %d succeeded: %v", tt.args, out.Summary.Failed, out.Summary.Requests, out.Summary.Failures)
		}
		if !strings.HasPrefix(bodies[0], tt.want) {
			t.Errorf("%s: sent %s", tt.args, bodies[0])
		}
		again, err := Report(t.Context(), a.Settings.Dir, frontend.Settings{}, env)
		if err != nil || avg(t, again.Summary, dialect.RequestLatency) != avg(t, out.Summary, dialect.RequestLatency) {
			t.Errorf("%s: read again: %v", tt.args, err)
		}
	}
}

func TestBatches(t *testing.T) {
	s := serve(t, nil)
	a := parse(t, s, t.TempDir(), strings.Fields("profile -m gpt2 --endpoint-type embeddings --isl 5 --num-prompts 3 --batch-size 4 --tokenizer builtin:gpt2")...)
	profile(t, a, world(offline, t.Output()))
	payload, _ := exportOf(t, a).Experiments[0].Requests[0].Inputs.Text("payload")
	var body struct{ Input []string }
	if err := json.Unmarshal([]byte(payload), &body); err != nil || len(body.Input) != 4 || body.Input[0] == body.Input[3] {
		t.Errorf("a batch of %q, %v", body.Input, err)
	}
}

func TestBatchesOfTooFewTexts(t *testing.T) {
	s := serve(t, nil)
	name := filepath.Join(t.TempDir(), "two.jsonl")
	if err := os.WriteFile(name, []byte("{\"text\":\"a\"}\n{\"text\":\"b\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	a := parse(t, s, t.TempDir(), "profile", "-m", "gpt2", "--endpoint-type", "embeddings", "--batch-size", "5", "--tokenizer", "builtin:gpt2", "--input-file", name)
	if _, err := Profile(t.Context(), a, world(offline, t.Output())); err == nil || !strings.Contains(err.Error(), "a request holds 5 texts, and there are 2") {
		t.Error(err)
	}
}
