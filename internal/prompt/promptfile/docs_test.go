package promptfile

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/token"
)

// block is a fenced part of a page.
type block struct{ language, text string }

func page(t *testing.T, name string) (string, []block) {
	t.Helper()
	data, err := os.ReadFile("../../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(string(data), -1) {
		blocks = append(blocks, block{m[1], m[2]})
	}
	return string(data), blocks
}

func TestExamplesOfThePage(t *testing.T) {
	plans, files := 0, 0
	for _, name := range []string{"docs/prompts.md", "docs/conversations.md", "docs/datasets.md", "docs/traces.md", "docs/lora.md", "docs/load.md"} {
		p, f := examples(t, name)
		plans, files = plans+p, files+f
	}
	if plans < 12 || files < 4 {
		t.Errorf("the pages have %d plans and %d prompt files", plans, files)
	}
}

// examples reads the plans and prompt files of a page, and counts them.
func examples(t *testing.T, name string) (plans, files int) {
	t.Helper()
	_, blocks := page(t, name)
	for _, b := range blocks {
		switch b.language {
		case "yaml":
			plans++
			if _, err := planfile.Read(name, []byte(b.text)).Finish(); err != nil {
				t.Errorf("%v\nin\n%s", err, b.text)
			}
		case "jsonl":
			files++
			s, err := New(plan.Data{File: name}, token.Words{}, 1, with(b.text))
			if err != nil {
				t.Errorf("%v\nin\n%s", err, b.text)
			} else if lines := strings.Count(b.text, "\n"); turns(s.chats) != lines {
				t.Errorf("%d prompts in %d lines of\n%s", turns(s.chats), lines, b.text)
			}
		}
	}
	return plans, files
}

func turns(chats []chat) int {
	n := len(chats)
	for _, c := range chats {
		n += len(c.rest)
	}
	return n
}

// The page names every field there is, and its faults are real ones.
func TestPageIsComplete(t *testing.T) {
	text, blocks := page(t, "docs/prompts.md")
	for _, field := range slices.Concat(textFields(), outputFields(),
		[]string{messagesField, sessionField, delayField, timestampField, modelField}) {
		if !strings.Contains(text, `"`+field+`"`) && !strings.Contains(text, "`"+field+"`") {
			t.Errorf("the page does not mention %s", field)
		}
	}
	good := `{"prompt": "x"}` + "\n"
	_, err := parse("questions.jsonl", []byte(good+good+`{"prompt": 1}`+"\n"+strings.Repeat(good, 4)+`{"question": "x", "answer": "y"}`))
	if want := blocks[slices.IndexFunc(blocks, func(b block) bool { return b.language == "" })].text; err.Error()+"\n" != want {
		t.Errorf("the page shows the faults\n%swhere they are\n%v", want, err)
	}
}

// Every length in the table is read the same from a plan and from the command line.
func TestLengthsOfThePage(t *testing.T) {
	text, _ := page(t, "docs/prompts.md")
	rows := regexp.MustCompile("(?m)^\\| (\\w+) \\| `(.*?)` \\| `(.*?)` \\|").FindAllStringSubmatch(text, -1)
	if len(rows) != 6 {
		t.Fatalf("%d rows of lengths", len(rows))
	}
	for _, row := range rows {
		p, err := planfile.Read("docs/prompts.md", []byte("data: {input: "+row[2]+"}")).Finish()
		if err != nil {
			t.Errorf("%s: %v", row[1], err)
			continue
		}
		flag, err := plan.ParseLength(row[3])
		if err != nil || flag != p.Data.Input || flag.Dist != row[1] {
			t.Errorf("%s is %+v in a plan and %+v (%v) as a flag", row[1], p.Data.Input, flag, err)
		}
		if prompt.NewLengths(flag, 1).At(0) < 1 {
			t.Errorf("%s draws nothing", row[1])
		}
	}
}
