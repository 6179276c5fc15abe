package clidoc

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPage(t *testing.T) {
	const source = `# A page
Text with ` + "`code`" + `, **strong** and *soft* words, [a link](gates.md#x), [the same](gates.md), [one outside](https://example.com/a),
[a file](../deploy/x.md) and snake_case_names. <!-- hidden -->
![a picture](images/a.png)

## Part
- one item that is so long that it must go on in a second line of the page
  and in a third
  - within
1. first
` + "```" + `
as it   stands | here and   longer than the page is wide
` + "```" + `
> quoted

| name | what it is |
|---|---|
| a\|b | short |
| second | a cell that takes more than one line<br>and a break |
`
	const want = `A page
======

Text with code, strong and soft words, a
link (help gates), the same, one outside
<https://example.com/a>, a file
(deploy/x.md) and snake_case_names.
[picture: a picture]

Part
----

  - one item that is so long that it
    must go on in a second line of the
    page and in a third
    - within
  1. first

    as it   stands | here and   longer than the page is wide

  | quoted

name    what it is
------  --------------------------------
a|b     short
second  a cell that takes more than one
        line
        and a break
`
	if got := renderPage(source, 40, false); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	coloured := renderPage("# A\n**two words** more\n", 24, true)
	if want := "\x1b[1mA\x1b[0m\n\n\x1b[1mtwo words\x1b[0m more\n"; coloured != want {
		t.Errorf("%q, want %q", coloured, want)
	}
	narrow := renderPage("|aaaaaaaaaaaaaaa|bbbbbbbbbbbbbbb|\n|--|--|\n|x|y|\n", 24, false)
	if want := "x\n    bbbbbbbbbbbbbbb: y\n"; narrow != want {
		t.Errorf("%q, want %q", narrow, want)
	}
}

// Every page can be read: it fits, but for what is shown as it stands, and no mark of ours is left.
func TestEveryPageFits(t *testing.T) {
	t.Parallel()
	n := 0
	for _, c := range Chapters() {
		for _, topic := range c.Topics {
			n++
			text := Page(topic.Name, 80, false)
			if text == "" || topic.Summary == "" || strings.ContainsAny(text, "\x00\x01\x02\x1b") {
				t.Errorf("%s: empty, without a summary, or with control characters", topic.Name)
			}
			for line := range strings.Lines(text) {
				if w := utf8.RuneCountInString(strings.TrimRight(line, "\n")); w > 80 && !strings.HasPrefix(line, "    ") && len(strings.Fields(line)) > 3 {
					t.Errorf("%s: %d columns: %s", topic.Name, w, line)
				}
			}
		}
	}
	if n != len(Topics()) || n < 30 {
		t.Errorf("%d topics in chapters, %d pages", n, len(Topics()))
	}
}

func TestFindTopic(t *testing.T) {
	for typed, want := range map[string]string{"gates": "gates", "GATES": "gates", "docs/gates.md": "gates!", "gates.md": "gates!", "gate": "", "": "", "README": "", "../plan": "", "docs/": ""} {
		name, certain := FindTopic(typed)
		if certain {
			name += "!"
		}
		if name != want {
			t.Errorf("%q: %q, want %q", typed, name, want)
		}
	}
}

func TestMan(t *testing.T) {
	c := entriesOf()[0].Describe()
	c.Summary, c.About, c.Text = "paint a wall", "Paint it.", ".dots and 'quotes' at the beginning, back\\slashes and “more” – all of it…"
	c.Usage, c.Examples = []Usage{{"house paint [flags]", ""}}, []string{"house paint 'a b'"}
	got := c.Man("house", Release{"v1", "2026-11-17"})
	for _, want := range []string{
		`.TH "HOUSE\-PAINT" 1 "2026\-11\-17" "inferometer v1"`, "house-paint \\- paint a wall\n", `.B "\-c, \-\-colour NAME"`, `.B "\-\-watch [PORT]"`,
		"\n\\&.dots and \\(aqquotes\\(aq", `back\eslashes and \[u201C]more\[u201D] \[u2013] all of it...`, "house paint \\(aqa b\\(aq\n.EE",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %s:\n%s", want, got)
		}
	}
}
