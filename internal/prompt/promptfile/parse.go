package promptfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// mostFaults is how many faults of one file are listed; the rest are counted.
const mostFaults = 20

// read reads all prompts of the file, or lists what is wrong with it. Blank lines
// are skipped; lines end with LF or CRLF; a byte order mark is allowed.
func (f *file) read(data []byte) ([]chat, error) {
	name := f.name
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if fault := foreign(name, data); fault != nil {
		return nil, plan.Faults{*fault}
	}
	switch {
	case !isJSON(name, data):
		f.each(data, f.plain)
	case isDocument(data) && utf8.Valid(data):
		f.document(data)
	default:
		f.each(data, f.object)
	}
	chats := f.chats()
	if f.more > 0 {
		f.faults = append(f.faults, plan.Fault{Where: name, Text: fmt.Sprintf("and %d more faults", f.more)})
	}
	if len(f.faults) == 0 && len(chats) == 0 {
		f.faults = plan.Faults{{Where: name, Text: "the file has no prompts", Hint: "write one prompt on each line"}}
	}
	if len(f.faults) > 0 {
		return nil, f.faults
	}
	return chats, nil
}

// isJSON goes by the name's extension and, where that says nothing, by the first
// character.
func isJSON(name string, data []byte) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson", ".json":
		return true
	case ".txt", ".text":
		return false
	}
	data = bytes.TrimSpace(data)
	return bytes.HasPrefix(data, []byte("{")) || bytes.HasPrefix(data, []byte("[")) && json.Valid(data)
}

type file struct {
	name    string
	limit   limitio.Limit  // of the files that it names
	all     bool           // what means nothing to us is sent, too
	line    []byte         // the present one, without its end
	lineNo  int            // its number, from 1
	request []byte         // that stands whole in it, or nil
	tensors []prompt.Field // that stand beside its text, in Triton's own form
	entries []entry
	faults  plan.Faults
	more    int      // faults beyond those listed
	unsent  []string // fields of lines that are no part of a request, in the order of their first line
}

// each hands every line that is not blank to take, and refuses lines that are not text.
func (f *file) each(data []byte, take func()) {
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		f.line, data = bytes.TrimSuffix(line, []byte("\r")), rest
		f.lineNo++
		if off := invalid(f.line); off >= 0 {
			f.fault(off, "", "is not valid UTF-8", "save the file as UTF-8, uncompressed")
			continue
		}
		if len(bytes.TrimSpace(f.line)) > 0 {
			take()
		}
	}
}

// invalid is the offset of the first byte that is not UTF-8; -1: all is.
func invalid(line []byte) int {
	if utf8.Valid(line) {
		return -1
	}
	off := 0
	for {
		r, size := utf8.DecodeRune(line[off:])
		if r == utf8.RuneError && size == 1 {
			return off
		}
		off += size
	}
}

func (f *file) plain() {
	f.add(entry{prompt: prompt.Prompt{Text: string(f.line)}, due: -1, line: f.lineNo})
}

// fault notes what is wrong at a byte of the present line. Columns count characters, as editors do.
func (f *file) fault(off int, path, text, hint string, named ...any) {
	if len(f.faults) >= mostFaults {
		f.more++
		return
	}
	before := f.line[:min(off, len(f.line))]
	line := f.lineNo + bytes.Count(before, []byte("\n")) // a document's parts may have several
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	where := fmt.Sprintf("%s:%d:%d", f.name, line, column)
	f.faults = append(f.faults, plan.Fault{Where: where, Path: path, Text: text, Hint: hint, Args: named})
}

func tooFew(name string, want, have int) plan.Fault {
	return plan.Fault{
		Where: name, Path: "data.prompts",
		Text: fmt.Sprintf("%d prompts are asked for and the file has %d", want, have),
		Hint: "leave %v out to use all of them", Args: []any{message.Prompts},
	}
}
