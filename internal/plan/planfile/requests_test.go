package planfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// genaiPlans say all that GenAI-Perf asks for.
func genaiPlans() []string {
	return []string{
		`{target: {form: genai-perf}, data: {prompts: 10, input: 20, pool: true, in_words: 150, prefixes: {count: 3, length: 8}, adapters: [{name: a, share: 0.5}, {name: b, share: 0.5}], model_order: round_robin}}`,
		`{target: {endpoint: rankings, form: genai-perf}, data: {prompts: 10, input: 20, pool: true, batch: 3, passages: {count: 30}}}`,
		`{target: {endpoint: rankings}, data: {file: queries.jsonl, passages: {file: passages.jsonl}}}`,
		`{data: {source: payload, file: trace.jsonl, input: 550, payload: {delay_ratio: 0.5}}, stages: [{arrival: trace}]}`,
		`{data: {source: payload, file: trace.jsonl, pool: true, payload: {alone: true}}}`,
		`{data: {source: sessions, input: 20, sessions: {count: 4, turns: {mean: 3, stddev: 1}, delay_ms: 10, delay_ratio: 2}, prefixes: {count: 1, length: 4}}, stages: [{arrival: sessions, sessions: {concurrent: 2}}]}`,
		`{data: {source: dataset, prompts: 5, pool: true, dataset: {kind: auto, path: rows.parquet, free_output: true}}}`,
		`{data: {media: {image: {count: 1, width: {mean: 20, stddev: 3}, height: 10, noise: true}, audio: {count: 1, noise: true, depths: [8, 16], rates: [8000], channels: 2, clips: [{length: 1s, stddev: 100ms}]}}}}`,
		`{data: {media: {audio: {count: 1, format: mp3, rates: [22050]}}}}`,
	}
}

func TestRequestsSurvivePrinting(t *testing.T) {
	for _, text := range genaiPlans() {
		p, err := load("p.yaml", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		printed, err := Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := load("printed", printed)
		if err != nil {
			t.Fatalf("%v\n%s", err, printed)
		}
		if diff := cmp.Diff(p, again); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRequestFaults(t *testing.T) {
	for text, want := range map[string]string{
		`{target: {form: mine}}`: "target.form: unknown value",
		`{target: {protocol: tfserving, endpoint: predict, form: genai-perf}, data: {tensors: {fill: zero}}}`: "does not apply to protocol",
		`{data: {model_order: round_robin}}`:                                                          "there are no models",
		`{data: {pool: true}}`:                                                                        "data.pool: the number of requests is missing",
		`{data: {pool: true, prompts: 3, salt: request}}`:                                             "cannot be combined with salt",
		`{data: {source: random, in_words: 3}}`:                                                       "data.in_words: only for source: synthetic",
		`{data: {in_words: 3, salt: stage}}`:                                                          "cannot be combined with salt",
		`{data: {prefixes: {count: 3}}}`:                                                              "data.prefixes.length: is missing",
		`{data: {passages: {count: 3}}}`:                                                              "only for rankings, reranks and scores",
		`{target: {endpoint: rankings}, data: {passages: {count: 3, file: x}}}`:                       "cannot be combined",
		`{target: {endpoint: rankings}, data: {file: q, passages: {count: 3}}}`:                       "give a file",
		`{data: {source: payload}}`:                                                                   "data.file: is missing",
		`{data: {source: sessions}, stages: [{arrival: sessions}]}`:                                   "data.sessions.count: is missing",
		`{data: {sessions: {count: 3}}}`:                                                              "cannot be combined with source: synthetic",
		`{data: {source: payload, file: x, salt: stage}}`:                                             "data.salt: does not apply",
		`{data: {source: payload, file: x, payload: {delay_ratio: -1}}}`:                              "must not be negative",
		`{data: {source: dataset, dataset: {kind: auto}}}`:                                            "data.dataset.path: is missing",
		`{data: {media: {image: {count: 1, width: 20}}}}`:                                             "needs a width and a height",
		`{data: {media: {image: {count: 1, width: 20, height: 20, sizes: [{width: 1, height: 1}]}}}}`: "cannot be combined with width and height",
		`{data: {media: {image: {count: 1, width: 16000, height: 16000}}}}`:                           "is too large",
		`{data: {media: {image: {count: 1, width: 20000, height: 2}}}}`:                               "is more than 16384",
		`{data: {media: {audio: {count: 1, depths: [7], rates: [1], channels: 3}}}}`:                  "must be 8, 16, 24 or 32",
		`{data: {media: {audio: {count: 1, format: mp3, rates: [16000, 17000]}}}}`:                    "data.media.audio.rates[1]: an MP3 cannot have 17000 samples per second",
		`{data: {media: {audio: {count: 1, format: ogg}}}}`:                                           "wav, mp3",
	} {
		if _, err := load("p.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
