package jinja

import (
	"strings"
	"testing"
)

// TestLimits: a template that does not end, or writes without bound, is stopped by the limit
// that its error names.
func TestLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		source string
		limits Limits
		want   string
	}{
		"too much work":       {"{% for i in range(1000) %}{% for j in range(1000) %}{% endfor %}{% endfor %}", Limits{Steps: 500}, "more than 500 steps (limits.steps)"},
		"too long a text":     {"{% for i in range(100) %}0123456789{% endfor %}", Limits{Text: 200}, "limits.template"},
		"a text that doubles": {"{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}", Limits{Text: 1000}, "limits.template"},
		"within both":         {"{% for i in range(10) %}{{ i }}{% endfor %}", Limits{Text: 100, Steps: 500}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			template, err := Parse(tt.source)
			if err != nil {
				t.Fatal(err)
			}
			template.Bound(tt.limits)
			_, err = template.Render(nil, now)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}
