package jinja

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestErrorsNameLineAndConstruct(t *testing.T) {
	for _, tc := range []struct{ src, want string }{
		{"a\n{% include 'x' %}", "line 2: the tag {% include %} is not supported"},
		{"a\nb\n{{ x | urlize }}", "line 3: the filter urlize is not supported"},
		{"\n{{ x is nosuch }}", "line 2: the test nosuch is not supported"},
		{"{{ f(*a, *b) }}", "line 1: an argument follows those of a list or a mapping"},
		{"{{ dict(**[1]) }}", "line 1: the argument after '**' is a list, not a mapping"},
		{"{% set d = {} %}{{ d[1:] }}", "line 1: only strings and sequences can be sliced: not a dict"},
		{"{{ 'a'.encode() }}", "line 1: the method encode of a str is not supported"},
		{"{% set r = range(3) %}\n{{ 1 + 1 }}\n{{ r }}", "line 3: a range cannot be printed"},
		{"{% macro f(x) %}\n{{ x.y.z }}\n{% endmacro %}\n\n{{ f(1) }}", "line 2: the attribute 'y' of a int is undefined"},
		{"{% with a, b = [1] %}{% endwith %}", "line 1: cannot assign 1 values to 2 names"},
		{"{{ '{:{:{}}}'.format(1, 2, 3) }}", "line 1: formats are nested too deeply"},
		{"{{ lipsum() }}", "line 1: the function lipsum is not supported"},
		{"{% if x %}\n\n", "line 2: the template ends before {% endif %}"},
		{"{% for x in y %}{% endif %}", "line 1: the tag {% endif %} is not supported"},
		{"\n\n{{ '\\N{BULLET}' }}", "line 3: the escape \\N is not supported"},
		{"{% break %}", "line 1: {% break %} outside of a loop"},
		{"{{ 7 ** 99999999 }}", "line 1: the result is too large"},
		{"{{ 10 ** 5000 }}", "more than 4300 digits"},
		{"{% set n = 3 ** 20000 %}{% for a in range(99999) %}{% if n * n %}{% endif %}{% if n + a %}{% endif %}{% endfor %}", "the result is too large"},
		{"{% set n = 3 ** 20000 %}{% for a in range(99999) %}{% if n + a %}{% endif %}{% endfor %}", "the template builds texts of more than"},
		{"{{ a ? b }}", "line 1: unexpected character '?'"},
		{"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "more than 100 levels deep"},
		{"{% for a in range(99999) %}{% for b in range(99999) %}{{ 1 }}{% endfor %}{% endfor %}", "takes more than 1000000 steps"},
		{"{{ 'a' * 999999999 }}", "line 1: the result is too large"},
		{"{{ " + strings.Repeat("(", 500) + "1" + strings.Repeat(")", 500) + " }}", "nests more than 200 levels deep"},
		{strings.Repeat("{% if 1 %}", 300) + strings.Repeat("{% endif %}", 300), "nests more than 200 levels deep"},
		{"{{ 1" + strings.Repeat("|abs", 300) + " }}", "nests more than 200 levels deep"},
		{"{{ a" + strings.Repeat(".a", 300) + " }}", "nests more than 200 levels deep"},
	} {
		tmpl, err := Parse(tc.src)
		if err == nil {
			_, err = tmpl.Render(nil, now)
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.60q: error %v, want %q", tc.src, err, tc.want)
		}
	}
}

func TestRaised(t *testing.T) {
	tmpl, err := Parse("{{ raise_exception('no ' ~ messages[0].role) }}")
	if err != nil {
		t.Fatal(err)
	}
	_, err = tmpl.Render(map[string]any{"messages": NewList(NewDict("role", "system"))}, now)
	var r *Raised
	if !errors.As(err, &r) || r.Message != "no system" {
		t.Errorf("got %v", err)
	}
}

func TestManyGoroutines(t *testing.T) {
	tmpl, err := Parse("{% set ns = namespace(n=0) %}{% set j = joiner() %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{{ j() }}{{ m.content }}{{ ns.n }}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]any{"messages": NewList(NewDict("content", "a"), NewDict("content", "b"))}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if got, err := tmpl.Render(vars, now); err != nil || got != "a1, b2" {
					t.Errorf("got %q, %v", got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func FuzzRender(f *testing.F) {
	in, err := os.Open("testdata/truth.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l truthLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			f.Fatal(err)
		}
		f.Add(l.Template, string(l.Messages))
	}
	mutate.Fuzz(f, func(t *testing.T, src, messages string) {
		tmpl, err := Parse(src)
		if err != nil {
			return
		}
		v, err := FromJSON([]byte(messages))
		if err != nil {
			return
		}
		vars := map[string]any{"messages": v, "add_generation_prompt": true, "bos_token": "<s>"}
		a, errA := tmpl.Render(vars, now)
		b, errB := tmpl.Render(vars, now)
		if a != b || (errA == nil) != (errB == nil) {
			t.Fatalf("two renderings differ: %q, %v and %q, %v", a, errA, b, errB)
		}
	})
}
