// Package trace plays recorded traffic again, out of files in the layouts that are public: requests or whole sessions,
// when they were recorded, at any speed.
package trace

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/replay"
)

// Kit makes what is not made here: texts of a length, and recorded sessions of layouts that have a source of their own.
type Kit struct{ Texts, Weka, Otel prompt.Factory }

// layout is how files of a kind are written.
type layout struct {
	name string
	// all are fields that its records have, besides one of any; "turns.messages" is one of the objects in turns. A layout
	// without any is told otherwise: by the columns of a table or by the names of files.
	all, any []string
	// block is how many tokens a hash of a request stands for, unit the unit of its timestamp in nanoseconds.
	block int
	unit  float64
	// read gives the sessions of a layout that has sessions; begun says that their times are those of the file.
	read  func(*reading) ([]*replay.Session, error)
	begun bool
	// inner is the factory of a layout that has a source of its own.
	inner func(*Kit) prompt.Factory
}

// layouts are told apart in this order: a file is of the first one that it fits.
func layouts() []layout {
	lines := []string{"input_length", "text_input", "hash_ids"}
	return []layout{
		{name: plan.TraceBailian, all: []string{"chat_id", "parent_chat_id", "timestamp"}, block: bailianBlock, unit: 1e9},
		{name: plan.TraceMooncake, all: []string{"timestamp"}, any: lines, block: mooncakeBlock, unit: 1e6},
		{name: plan.TraceTimed, all: []string{"timestamp"}, any: lines, block: bailianBlock, unit: 1e9},
		{name: plan.TraceWeka, all: []string{"id", "requests"}, inner: func(k *Kit) prompt.Factory { return k.Weka }},
		{name: plan.TraceOtel, all: []string{"spans"}, inner: func(k *Kit) prompt.Factory { return k.Otel }, begun: true},
		{name: plan.TraceTraceLab, all: []string{"session_id", "round_index", "input_tokens_total"}, read: readTraceLab, begun: true},
		{name: plan.TraceLMCache, all: []string{"session_id", "input", "output_length"}, read: readLMCache},
		{name: plan.TraceDAG, all: []string{"session_id"}, any: []string{"turns.messages", "orchestrator"}, read: readDAG},
		{name: plan.TraceMultiTurn, all: []string{"turns"}, any: []string{"turns.text", "turns.texts"}, read: readMultiTurn, begun: true},
		{name: plan.TraceSGLang, all: []string{"conversations"}, read: readSGLang},
		{name: plan.TraceMLPerf, all: []string{"conversation_id", "turn", "role"}, read: readMLPerf},
		{name: plan.TraceMLPerf, all: []string{"instruction", "input", "tok_input"}, read: readMLPerfArticles},
		{name: plan.TraceMLPerf, all: []string{"system_prompt", "question"}, read: readMLPerfQuestions},
	}
}

// New reads the trace that d names. What is wrong with it is returned as plan.Faults.
func New(d plan.Data, tok prompt.Tokenizer, seed uint64, kit Kit) (prompt.Source, error) {
	f, err := openFile(d)
	if err != nil {
		return nil, plan.Faults{{Path: "data.file", Text: err.Error(), Hint: "it must be a readable trace"}}
	}
	l, err := f.recognise(d.Trace.Format)
	if err != nil {
		return nil, plan.Faults{{
			Where: d.File + ":1", Text: err.Error(), Hint: "--trace-format is one of " + strings.Join(plan.TraceFormats(), ", ") + "; inferometer help traces shows them",
		}}
	}
	switch {
	case l.name == plan.TraceServeGen:
		return newServeGen(d, tok, seed, kit.Texts)
	case l.read != nil || l.inner != nil:
		return newSessions(d, tok, seed, l, &kit)
	}
	return newLines(d, tok, seed, l, kit.Texts)
}

// recognise tells the layout of a file from its beginning. The one that the user names is held against it. The error
// says what the file has instead.
func (f *file) recognise(named string) (layout, error) {
	switch {
	case f.chunks:
		return fitting(named, layout{name: plan.TraceServeGen}, "client chunks")
	case f.table():
		l, err := tableLayout(string(f.lines[0]))
		if err != nil {
			return l, err
		}
		return fitting(named, l, "the columns")
	case len(f.fields) == 0:
		return layout{}, f.nothing()
	}
	var found []layout
	for _, l := range layouts() {
		if l.fits(f.fields) {
			found = append(found, l)
		}
	}
	if len(found) == 0 {
		return layout{}, fmt.Errorf("has records with %s, which are of no trace that is known", names(f.fields))
	}
	if found[0].name == plan.TraceMooncake && f.seconds() {
		found[0], found[1] = found[1], found[0]
	}
	for _, l := range found {
		if l.name == named {
			return l, nil
		}
	}
	return fitting(named, found[0], "records")
}

func fitting(named string, l layout, what string) (layout, error) {
	if named != "" && named != l.name {
		return l, fmt.Errorf("has %s of %s trace, not of %s", what, l.article(), named)
	}
	return l, nil
}

// article is its name with the article that goes with it.
func (l *layout) article() string {
	if strings.ContainsRune("ao", rune(l.name[0])) {
		return "an " + l.name
	}
	return "a " + l.name
}

func (l *layout) fits(fields map[string]bool) bool {
	missing := func(name string) bool { return !fields[name] }
	some := len(l.any) == 0 || slices.ContainsFunc(l.any, func(name string) bool { return fields[name] })
	return some && !slices.ContainsFunc(l.all, missing)
}

// names are a few of the fields of a record.
func names(fields map[string]bool) string {
	const most = 8
	var list []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !strings.Contains(name, ".") {
			list = append(list, fmt.Sprintf("%q", name))
		}
	}
	if len(list) > most {
		list = append(list[:most], "…")
	}
	return strings.Join(list, ", ")
}

var errNoObject = errors.New("is not a JSON object")

func (f *file) nothing() error {
	if len(f.lines) == 0 {
		return errors.New("has no lines")
	}
	return errNoObject
}

// seconds reports whether the hashes of lines of requests only fit their lengths at 16 tokens each, as in a trace whose
// times are seconds.
func (f *file) seconds() bool {
	for _, line := range f.lines {
		if r, err := parseRequest(line, 1); err == nil && len(r.hashes) > 0 && r.fits(bailianBlock) == nil && r.fits(mooncakeBlock) != nil {
			return true
		}
	}
	return false
}

// output is how long a response is asked to be: as recorded, or as the plan has it.
func output(recorded int, planned *prompt.Lengths, i uint64) int {
	return cmp.Or(recorded, planned.At(i))
}
