package sessionfilter

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func document(t testing.TB) any {
	t.Helper()
	var doc any
	text := `{"id": "a-1", "n": 3, "none": null, "tags": ["x", "y"], "spans": [{"name": "chat m", "attributes": {"tenant": "a"}}, {"name": "tool"}]}`
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestKeeps(t *testing.T) {
	for text, want := range map[string]bool{
		"lambda x: len(x['spans']) > 1":                        true,
		"lambda row: len(row[\"spans\"]) > 2":                  false,
		"x['id'] == 'a-1' and not x['n'] < 3":                  true,
		"x['n'] in [1, 2, 3] and 'y' in x['tags']":             true,
		"x['n'] not in (1, 2)":                                 true,
		"'spans' in x and 'zzz' not in x":                      true,
		"'a-' in x['id']":                                      true,
		"x['spans'][0]['attributes']['tenant'] == 'a'":         true,
		"x['spans'][-1]['name'] != 'tool'":                     false,
		"x.get('missing') == None":                             true,
		"x.get('missing', 7) >= 7 and x.get('n', 7) == 3":      true,
		"1 < x['n'] <= 3":                                      true,
		"1 < x['n'] < 3":                                       false,
		"not not x['tags']":                                    true,
		"not x['none']":                                        true,
		"x['n'] == 1 or x['n'] == 3 and True":                  true,
		"(x['n'] == 3 or True) and False":                      false,
		"x['n'] > -1 and x['n'] > 2.5 and x['n'] < 1e3":        true,
		`x['id'] < "b\n"`:                                      true,
		"x['n'] == 3 or x['missing']":                          true,
		"len('äö') == 2 and len(x) == 5 and len([1, 2,]) == 2": true,
	} {
		f, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := f.Keeps(document(t)); err != nil || got != want {
			t.Errorf("%s is %v, want %v: %v", text, got, want, err)
		}
	}
}

func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "the end where a value should be",
		"lambda: 1":                      "a name after lambda",
		"__import__('os').system('ls')":  `"__import__" where a value`,
		"x.__class__":                    "get(…), the only method",
		"open('f')":                      "len the only function",
		"x['a'] = 1":                     "means nothing here",
		"x['a'":                          `the end where "]" should be`,
		"'abc":                           "a string has no end",
		"1 2":                            "where the end should be",
		"1..2":                           "not a number",
		"len(1":                          `where ")" should be`,
		"x.get()":                        "not 0 of them",
		"a == 1":                         "the session is x",
		strings.Repeat("(", 200):         "levels deep",
		strings.Repeat("x", mostBytes+1): "bytes, more than",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"x['missing'] == 1": "an object has no missing",
		"x['tags'][2]":      "a list has no 2",
		"x['tags'][0.5]":    "a list has no 0.5",
		"len(x['n'])":       "a number has no len",
		"x['n'] < 'a'":      "have no order",
		"1 in x['n']":       "cannot be in a number",
		"x['id'].get('a')":  "a text has no get",
		"x['none'] <= 1":    "nothing and a number have no order",
	} {
		f, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if _, err := f.Keeps(document(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Nothing that can be written ends the program.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"lambda x: len(x['spans']) > 1 and x.get('a', 1) not in (1, 2) or not x['tags'][-1] == \"y\\n\"", "((((", "x[[1]]", "1 < 2 < 3", "{} in x", "x[x]", "x in [x]",
	} {
		f.Add(text)
	}
	doc := document(f)
	mutate.Fuzz(f, func(t *testing.T, text string) {
		filter, err := Parse(text)
		if err != nil {
			return
		}
		_, _ = filter.Keeps(doc)
		_, _ = filter.Keeps(nil)
	})
}
