package genaiperf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Requests in Triton's own form are sent with all that they say, or not at all.
func TestInputsOfTritonsForm(t *testing.T) {
	s := serve(t, nil)
	const trtllm = "--backend tensorrtllm --streaming"
	for _, tt := range []struct{ name, file, flags, want string }{
		{"inputs of its own", `{"data": [{"text_input": ["a"], "max_tokens": [3]},` + "\n" + `{"text_input": ["b"], "max_tokens": [3], "temperature": [0.5]}]}`, trtllm, ""},
		{"an input that the model does not have", `{"data": [{"text_input": ["a"], "warmth": [3]}]}`, trtllm, "a request has the input warmth, which model gpt2 does not have: its inputs are "},
		{"another value", `[{"text_input": "a", "max_tokens": 3, "stream": false}]`, trtllm, ":1: stream: is false, but true is sent (change one of the two"},
		{"sent with all", `[{"text_input": "a", "max_tokens": 3, "temperature": [0.50]}]`, trtllm + " --extra-inputs temperature:0.5", ""},
		{"as genai-perf writes it", `{"data": [{"model": "m", "text_input": ["a"], "max_tokens": [3], "exclude_input_in_output": [true], "stream": [true]}]}`, trtllm, ""},
		{"to OpenAI's protocol", `{"data": [{"text_input": ["a"], "max_tokens": [3], "exclude_input_in_output": [true], "stream": [true]}]}`, "--endpoint-type chat", ""},
		{"what OpenAI's protocol has too", `{"data": [{"text_input": ["a"], "max_tokens": [3], "temperature": [0.5]}]}`, "--endpoint-type chat", "temperature: is 0.5, but is not sent (if it is the same in all requests, give --extra-inputs temperature:VALUE)"},
		{"lines are no requests", `{"text": "a", "note": "mine"}`, trtllm, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "in.json")
			if err := os.WriteFile(file, []byte(tt.file), 0o644); err != nil {
				t.Fatal(err)
			}
			a := parse(t, s, dir, strings.Fields("profile -m gpt2 --request-count 2 --tokenizer builtin:gpt2 --input-file "+file+" "+tt.flags)...)
			_, err := Profile(t.Context(), a, world(offline, t.Output()))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %s", err, tt.want)
			}
			if strings.Contains(tt.file, `"temperature"`) && tt.want == "" {
				for name, most := range map[string]int{"inputs.json": 1, "profile_export.json": 2} { // two requests are sent
					text, err := os.ReadFile(filepath.Join(a.Settings.Dir, name))
					if n := strings.Count(string(text), "temperature"); err != nil || n < 1 || n > most {
						t.Errorf("%s: %v\n%s", name, err, text)
					}
				}
			}
		})
	}
}
