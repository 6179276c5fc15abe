package orderedjson_test

import (
	"testing"

	"github.com/inferometer/inferometer/internal/lib/orderedjson"
)

func TestObject(t *testing.T) {
	o := orderedjson.Object{{"z", 1}, {"a", orderedjson.Object{{"text", "<&>\n"}, {"none", nil}}}}
	o.Set("m", []any{true, orderedjson.Object{}})
	o.Set("z", 2.5) // in its place
	got, err := orderedjson.Compact(o)
	if want := `{"z":2.5,"a":{"text":"<&>\n","none":null},"m":[true,{}]}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	for _, bad := range []any{func() {}, orderedjson.Object{{"f", func() {}}}, []any{orderedjson.Object{{"c", make(chan int)}}}} {
		if got, err := orderedjson.Compact(bad); err == nil {
			t.Errorf("%v became %s", bad, got)
		}
	}
}
