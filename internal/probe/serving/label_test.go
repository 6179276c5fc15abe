package serving

import "testing"

func TestLabel(t *testing.T) {
	for _, tt := range []struct{ labels, name, want string }{
		{`handle="a",le="5"`, "le", "5"},
		{`le="5",handle="a"`, "le", "5"},
		{`le="+Inf"`, "le", "+Inf"},
		{`handle="a",scale="7"`, "le", ""},
		{`handle="x,le=\"9\"",le="5"`, "le", "5"},
		{`path="/a=b",le="1"`, "le", "1"},
		{`handle="le=",le="2"`, "le", "2"},
		{`gpu_uuid="GPU-1",gpu="0"`, "gpu", "0"},
		{`model="a\\b\nc"`, "model", "a\\b\nc"},
		{`a="1", le="3"`, "le", "3"},
		{`le=5`, "le", ""},
		{`le="5`, "le", ""},
		{`nonsense`, "le", ""},
		{"", "le", ""},
	} {
		if got := label(tt.labels, tt.name); got != tt.want {
			t.Errorf("label(%s, %s) is %q, want %q", tt.labels, tt.name, got, tt.want)
		}
	}
}
