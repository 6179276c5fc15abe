package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/run/registry"
)

// Every kind of file that a plan can name is opened, and what is wrong with it is said as a
// run would say it.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	broken, text := write("broken.jsonl", "{\"prompt\": \"fine\"}\n{\"prompt\": \n"), write("text", "fine\n")
	for name, c := range map[string]struct {
		plan string
		want string // in the error; empty: there is none
	}{
		"nothing":            {`seed: 1`, ``},
		"a good file":        {`data: {file: "` + text + `"}`, ``},
		"prompts":            {`data: {file: "` + broken + `"}`, broken + `:2:12: is not valid JSON`},
		"no prompts":         {`data: {file: nowhere}`, `nowhere`},
		"corpus":             {`data: {corpus: nowhere}`, `data.corpus: open nowhere`},
		"passages":           {`{target: {endpoint: rankings, protocol: http}, data: {passages: {file: nowhere}}}`, `nowhere`},
		"payload":            {`data: {source: payload, file: nowhere}`, `nowhere`},
		"trace of lengths":   {`data: {source: random, trace: {lengths: nowhere}}`, `nowhere`},
		"trace of arrivals":  {`{data: {trace: {arrivals: nowhere}}, stages: [{arrival: trace}]}`, `nowhere`},
		"no arrivals":        {`{data: {file: "` + text + `"}, stages: [{arrival: trace}]}`, `give an input file whose lines have a timestamp`},
		"data set":           {`data: {source: dataset, dataset: {kind: sharegpt, path: nowhere}}`, `data.dataset.path: there is no nowhere`},
		"spans":              {`data: {source: otel_trace, replay: {files: [nowhere]}}`, `data.replay.files: there is no file nowhere`},
		"blocks":             {`data: {source: weka_trace, replay: {files: [nowhere]}}`, `nowhere`},
		"tensors":            {`{target: {protocol: triton, urls: ['grpc://127.0.0.1:1'], model: m}, data: {tensors: {files: ["` + text + `"]}}}`, text},
		"tokenizer":          {`tokenizer: {name: "` + broken + `"}`, broken},
		"key":                {`target: {api_key: {file: nowhere}}`, `reading the API key: open nowhere`},
		"authority":          {`target: {tls: {ca: nowhere}}`, `reading the CA certificates: open nowhere`},
		"certificate":        {`target: {tls: {cert: nowhere, key: nowhere}}`, `reading the client certificate: open nowhere`},
		"template":           {`target: {protocol: http, endpoint: template, template: nowhere}`, `reading the template of request bodies: open nowhere`},
		"malformed template": {`target: {protocol: http, endpoint: template, template: "` + write("jinja", "{% if %}") + `"}`, `the template of request bodies, `},
		"breakers":           {`breakers: [{name: b, matches: ['a.['], triggers: [{kind: consecutive, threshold: 1}]}]`, `breakers[0].matches[0]`},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := planfile.Decode("plan.yaml", []byte(c.plan))
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Target.URLs) == 0 {
				p.Target.URLs = []string{"http://127.0.0.1:1"}
			}
			notes, err := Check(t.Context(), p, registry.Offline(os.Getenv))
			if len(notes) > 0 {
				t.Errorf("notes %q", notes)
			}
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%v, want no fault", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want a fault with %q", err, c.want)
			}
		})
	}
}

// What only the hub knows is noted, and the rest is looked at all the same.
func TestCheckAsksNoHub(t *testing.T) {
	t.Setenv("HF_HOME", t.TempDir())
	t.Setenv("HF_ENDPOINT", "http://127.0.0.1:1")
	p, err := planfile.Decode("plan.yaml", []byte(`{tokenizer: {name: some/model}, data: {file: nowhere}}`))
	if err != nil {
		t.Fatal(err)
	}
	notes, err := Check(t.Context(), p, registry.Offline(os.Getenv))
	if len(notes) != 1 || !strings.Contains(notes[0], "the model some/model is not in the local cache") {
		t.Errorf("notes %q", notes)
	}
	if err == nil || strings.Contains(err.Error(), "hub") || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("error %v, want that of the file", err)
	}
}
