package args

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

// Media of an endpoint that has none are left out, with a note, as the original does.
func TestMediaWithoutAPlace(t *testing.T) {
	a, err := Parse(strings.Fields("profile -m m --endpoint-type chat --image-width-mean 10 --image-height-mean 10 --audio-length-mean 3"))
	if err != nil || len(a.Notes) != 3 || !reflect.DeepEqual(a.Plan.Data.Media, plan.Media{}) {
		t.Errorf("%+v, %v", a, err)
	}
}

// Requests of a file have the media that stand there, and no others, as in the original.
func TestMediaBesideAFile(t *testing.T) {
	const media = " --image-width-mean 10 --image-height-mean 10 --audio-length-mean 3"
	for _, line := range []string{"multimodal --input-file in.jsonl", "vision --input-file in.jsonl"} {
		a, err := Parse(strings.Fields("profile -m m --endpoint-type " + line + media))
		if err != nil || len(a.Notes) != 3 || !reflect.DeepEqual(a.Plan.Data.Media, plan.Media{}) {
			t.Errorf("%s: %q, %+v, %v", line, a.Notes, a.Plan.Data.Media, err)
		}
	}
	if a, err := Parse(strings.Fields("profile -m m --endpoint-type multimodal" + media)); err != nil || a.Plan.Data.Media.Audio.Clips == nil {
		t.Errorf("%+v, %v", a, err)
	}
}

// The original reads the method of a gRPC service where it calls one, and nowhere else.
func TestGRPCMethodHasNoEffect(t *testing.T) {
	for _, kind := range []string{"chat", "kserve"} {
		a, err := Parser{Analyzer: analyzer}.Parse(strings.Fields("profile -m m --grpc-method a.b/c --endpoint-type " + kind))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(a.Notes, func(n string) bool { return strings.HasPrefix(n, "--grpc-method has no effect") }) {
			t.Errorf("%s: notes %q", kind, a.Notes)
		}
	}
}

// Sessions are made up where nothing else has prompts: a file keeps its own.
func TestSessionsBesideAFile(t *testing.T) {
	for line, want := range map[string]string{
		"--input-file in.jsonl --num-sessions 2":   plan.SourceFile,
		"--num-sessions 2 --session-concurrency 1": plan.SourceSessions,
	} {
		a, err := Parse(strings.Fields("profile -m m --endpoint-type chat " + line))
		if err != nil || a.Plan.Data.Source != want {
			t.Errorf("%s: %+v, %v; want %s", line, a, err, want)
		}
	}
}

// Settings of output that have no effect on merged runs are repeated in their report alone.
func TestMergeTakesOutputSettings(t *testing.T) {
	a, err := Parse(strings.Fields("process-export-files -d runs --checkpoint-dir c --enable-checkpointing --generate-plots -v"))
	if err != nil {
		t.Fatal(err)
	}
	if s := a.Settings; s.CheckpointDir != "c" || s.Checkpoint != "c" || !s.Plots || !s.Verbose {
		t.Errorf("%+v", s)
	}
}
