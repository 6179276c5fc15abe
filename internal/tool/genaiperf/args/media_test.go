package args

import (
	"reflect"
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
