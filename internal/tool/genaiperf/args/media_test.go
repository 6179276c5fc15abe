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

// The original reads the method of a gRPC service where it calls one, and nowhere else.
func TestGRPCMethodHasNoEffect(t *testing.T) {
	for _, kind := range []string{"chat", "kserve"} {
		a, err := Reader{Analyzer: analyzer}.Parse(strings.Fields("profile -m m --grpc-method a.b/c --endpoint-type " + kind))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(a.Notes, func(n string) bool { return strings.HasPrefix(n, "--grpc-method has no effect") }) {
			t.Errorf("%s: notes %q", kind, a.Notes)
		}
	}
}
