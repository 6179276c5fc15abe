package genaiperf

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
	frontend "github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/report"
)

// bodyOf is the body of the first request that was sent.
func bodyOf(t *testing.T, a *frontend.Action) string {
	t.Helper()
	text, ok := exportOf(t, a).Experiments[0].Requests[0].Inputs.Text("payload")
	if !ok {
		t.Fatal("there is no payload")
	}
	return text
}

// Each endpoint type has its own requests and rows.
func TestEndpointTypes(t *testing.T) {
	dir := t.TempDir()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("p.png", picture.String())
	lines := write("in.jsonl", `{"text": "what is this?", "image": "`+file+`"}`+"\n"+`{"text_input": "and this?", "image": ["http://there/x.png", "`+file+`"]}`+"\n")
	body := write("body.jinja", `[{"question": {{ texts[0]|tojson }}, "top": 3}]`)
	for _, tt := range []struct {
		args, begins, has string
		metric            string
	}{
		{"image_retrieval --image-width-mean 8 --image-height-mean 8 --batch-size-image 2", `{"input":[{"type":"image_url","url":"data:image/png;base64,`, `},{"type"`, dialect.ImageThroughput},
		{"image_retrieval --input-file " + lines, `{"input":[{"type":"image_url","url":"data:image/png;base64,`, "", dialect.ImageLatency},
		{"nvclip --image-width-mean 8 --image-height-mean 8 --isl 5", `{"model":"gpt2","input":["`, `"data:image/png;base64,`, dialect.RequestLatency},
		{"multimodal --streaming --input-file " + lines, `{"model":"gpt2","messages":[{"role":"user","content":[{"type":"text","text":"what is this?"},{"type":"image_url"`, "", dialect.TimeToFirstToken},
		{"huggingface_generate --isl 5 --osl 7", `{"model":"gpt2","inputs":"`, `"parameters":{"max_new_tokens":7}`, dialect.OutputSequenceLength},
		// differs: genai-streamed-generate
		{"huggingface_generate --streaming --isl 5 --osl 7", `{"model":"gpt2","inputs":"`, `"stream":true`, dialect.InterTokenLatency},
		{"template --endpoint v1/anything --extra-inputs payload_template:" + body + " --isl 5", `{"question":"`, `"top":3}`, ""},
		{"rankings --extra-inputs rankings:tei --endpoint rerank --isl 5 --batch-size 3", `{"query":"`, `"texts":["`, dialect.RequestLatency},
	} {
		t.Run(tt.args, func(t *testing.T) {
			s := serve(t, func(c *config.Server) { c.Latency.ITL = 10 * time.Millisecond }) // tokens that no machine reads all at once
			a := parse(t, s, t.TempDir(), append([]string{"profile", "-m", "gpt2", "--tokenizer", "builtin:gpt2", "--num-prompts", "3", "--request-count", "6", "--endpoint-type"}, strings.Fields(tt.args)...)...)
			out, err := Profile(t.Context(), a, world(offline, t.Output()))
			if err != nil {
				t.Fatal(err)
			}
			if tt.metric == "" { // the mock has nothing at that path
				if out.Summary.Failed != 6 {
					t.Errorf("%d requests failed", out.Summary.Failed)
				}
				return
			}
			if n := avg(t, out.Summary, dialect.RequestCount); n != 6 || out.Summary.Failed > 0 {
				t.Errorf("%v requests, %v failed: %+v", n, out.Summary.Failed, out.Summary.Failures)
			}
			if got := bodyOf(t, a); !strings.HasPrefix(got, tt.begins) || !strings.Contains(got, tt.has) || !json.Valid([]byte(got)) {
				t.Errorf("sent %.300s", got)
			}
			avg(t, out.Summary, tt.metric)
			var b bytes.Buffer
			out.Report.Width = 140
			if err := report.Console(&b, out.Summary, out.Report); err != nil || strings.Contains(b.String(), "Latency (ms) │ N/A") {
				t.Errorf("%v\n%s", err, b.String())
			}
			again, err := Report(t.Context(), a.Settings.Dir, frontend.Settings{}, world(offline, t.Output()))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := avg(t, again.Summary, tt.metric), avg(t, out.Summary, tt.metric); got != want {
				t.Errorf("%s is %v when the files are read again, was %v", tt.metric, got, want)
			}
		})
	}
}
