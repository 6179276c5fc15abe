package orderedjson

import "testing"

func TestObject(t *testing.T) {
	o := Object{{"z", 1}, {"a", Object{{"text", "<&>\n"}, {"none", nil}}}}
	o.Set("m", []any{true, Object{}})
	o.Set("z", 2.5) // in its place
	got, err := Compact(o)
	if want := `{"z":2.5,"a":{"text":"<&>\n","none":null},"m":[true,{}]}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	for _, bad := range []any{func() {}, Object{{"f", func() {}}}, []any{Object{{"c", make(chan int)}}}} {
		if got, err := Compact(bad); err == nil {
			t.Errorf("%v became %s", bad, got)
		}
	}
}
