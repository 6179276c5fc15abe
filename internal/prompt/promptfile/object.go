package promptfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/prompt"
)

// textFields are the fields that can hold a prompt's text.
func textFields() []string { return []string{"prompt", "text", "text_input", "input"} }

// outputFields are the fields that can hold the output length.
func outputFields() []string {
	return []string{"output_tokens", "max_tokens", "max_completion_tokens", "output_length", "osl"}
}

// The fields that say a line's conversation, when it is due, and what else is its own.
const (
	sessionField   = "session_id"
	delayField     = "delay"     // milliseconds between a response and this turn
	timestampField = "timestamp" // milliseconds, of the first turn
	modelField     = "model"
)

const (
	messagesField = "messages"
	mostOutput    = 10_000_000
)

// object takes the line as a JSON object with a prompt in it. Other fields than
// those that it knows may be there: they are told of, and not sent.
func (f *file) object() {
	if !f.valid() {
		return
	}
	if first := bytes.TrimSpace(f.line); first[0] != '{' {
		f.fault(bytes.IndexByte(f.line, first[0]), "", "is not a JSON object", `write a prompt as {"prompt": "…"}`)
		return
	}
	o := line{file: f, due: -1}
	members(f.line, 0, o.member)
	if o.from == "" && !o.faulty && !o.row() && len(o.images) > 0 {
		o.from = imageField
	}
	o.leaveOut()
	o.illustrate()
	switch {
	case o.faulty:
	case o.from == "":
		known := append(textFields(), messagesField)
		hint := message.New("it needs one of %s%s", strings.Join(known, ", "), o.others())
		if slices.Contains(o.extra, `"hash_ids"`) || slices.Contains(o.extra, `"input_length"`) {
			hint = message.New("this is a trace of lengths%v", message.New(": read it with %v", message.Payload).Or(""))
		}
		f.fault(0, "", "has no prompt", "%v", hint)
	default:
		if f.request != nil {
			o.prompt.Fields = f.ownFields()
		}
		o.own = slices.DeleteFunc(o.own, func(own prompt.Field) bool {
			return slices.ContainsFunc(o.prompt.Fields, func(sent prompt.Field) bool { return sent.Name == own.Name })
		})
		o.prompt.Tensors = f.tensors
		f.add(entry{prompt: o.prompt, own: o.own, think: o.think, due: o.due, line: f.lineNo})
	}
}

// leaveOut notes the fields of the line that are no part of its request. Those of a request
// that stands whole in it go with that, and so do tensors.
func (l *line) leaveOut() {
	f := l.file
	if f.request != nil || f.tensors != nil {
		return
	}
	for _, field := range l.rest {
		name, quoted := field.Name, strconv.Quote(field.Name)
		used := l.from != "" && l.columns[name] != nil && (name == l.from || name == systemField && l.from == questionField)
		switch {
		case used:
		case f.all:
			l.own = append(l.own, field)
		case !slices.Contains(f.unsent, quoted):
			f.unsent = append(f.unsent, quoted)
		}
	}
}

func (f *file) valid() bool {
	var raw json.RawMessage
	err := json.Unmarshal(f.line, &raw)
	if err == nil {
		return true
	}
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		f.fault(0, "", err.Error(), "")
		return false
	}
	off := int(syntax.Offset) - 1 // the fault is in the last byte that was read
	if strings.HasPrefix(syntax.Error(), "unexpected end") {
		off = len(f.line)
	}
	f.fault(off, "", "is not valid JSON: "+syntax.Error(), "one whole object on each line")
	return false
}

// line is a JSON object being read.
type line struct {
	file   *file
	prompt prompt.Prompt
	from   string         // field that the prompt came from
	output string         // field that the output length came from
	extra  []string       // fields that mean nothing
	own    []prompt.Field // that go with the request
	rest   []prompt.Field // that mean nothing
	images []prompt.Part
	// columns are those that rows of data sets have, by name.
	columns map[string]json.RawMessage
	faulty  bool

	think, due time.Duration // due is prompt's own time; negative: none
}

func (l *line) fault(off int, path, text, hint string) {
	l.faulty = true
	l.file.fault(off, path, text, hint)
}

// others names the fields of a line that has no prompt.
func (l *line) others() string {
	if len(l.extra) == 0 {
		return ""
	}
	const most = 5
	if len(l.extra) > most {
		l.extra = append(l.extra[:most], "…")
	}
	return "; it has " + strings.Join(l.extra, ", ")
}

// member takes one field; off is where its value begins. A null is as good as no field.
func (l *line) member(key string, value []byte, off int) {
	isText, isOutput := slices.Contains(textFields(), key), slices.Contains(outputFields(), key)
	switch {
	case string(value) == "null":
	case l.takeOwn(key, value, off):
	case slices.Contains(requestFields(), key):
		l.own = append(l.own, prompt.Field{Name: key, Value: slices.Clone(value)})
	case !isText && !isOutput && key != messagesField:
		l.extra = append(l.extra, strconv.Quote(key))
		l.rest = append(l.rest, prompt.Field{Name: key, Value: slices.Clone(value)})
	case isOutput:
		l.takeOutput(key, value, off)
	case l.from != "":
		l.fault(off, key, fmt.Sprintf("the line already has a prompt, in %q", l.from), "keep one of them")
	case isText:
		l.from = key
		l.prompt.Text = l.text(key, value, off, true)
	default:
		l.from = key
		l.takeMessages(value, off)
	}
}

// text is the value as a string; where it must not be blank, that is checked too.
func (l *line) text(path string, value []byte, off int, needed bool) string {
	var s string
	switch {
	case json.Unmarshal(value, &s) != nil:
		l.fault(off, path, "must be a string, is "+jsonscan.Kind(value[0]), "")
	case needed && strings.TrimSpace(s) == "":
		l.fault(off, path, "is empty", "")
	}
	return s
}

func (l *line) takeOutput(key string, value []byte, off int) {
	n, err := strconv.Atoi(string(value))
	switch {
	case err != nil || n < 1 || n > mostOutput:
		l.fault(off, key, fmt.Sprintf("must be a whole number from 1 to %d, is %s", mostOutput, short(value)), "")
	case l.output != "" && n != l.prompt.Output:
		l.fault(off, key, fmt.Sprintf("is %d, and %q says %d", n, l.output, l.prompt.Output), "keep one of them")
	default:
		l.output, l.prompt.Output = key, n
	}
}

// takeOwn takes the fields of a line's conversation, time and model.
func (l *line) takeOwn(key string, value []byte, off int) bool {
	switch key {
	case sessionField:
		l.prompt.Session = l.text(key, value, off, true)
	case modelField:
		l.prompt.Model = l.text(key, value, off, true)
	case delayField:
		l.think = l.milliseconds(key, value, off)
	case timestampField:
		l.due = l.milliseconds(key, value, off)
	case imageField:
		l.takeImages(value, off)
	case systemField, questionField, articleField:
		if l.columns == nil {
			l.columns = map[string]json.RawMessage{}
		}
		l.columns[key] = value
		return false
	default:
		return false
	}
	return true
}

// milliseconds is a number of them, with fractions down to a nanosecond.
func (l *line) milliseconds(key string, value []byte, off int) time.Duration {
	const most = 1e12 // thirty years
	ms, err := strconv.ParseFloat(string(value), 64)
	if err != nil || ms < 0 || ms > most {
		l.fault(off, key, "must be a number of milliseconds, is "+short(value), "")
		return 0
	}
	return time.Duration(math.Round(ms * float64(time.Millisecond)))
}

func (l *line) takeMessages(value []byte, off int) {
	if value[0] != '[' {
		l.fault(off, messagesField, "must be an array, is "+jsonscan.Kind(value[0]), "")
		return
	}
	blank := true
	elements(value, off, func(i int, value []byte, off int) {
		path := fmt.Sprintf("%s[%d]", messagesField, i)
		if value[0] != '{' {
			l.fault(off, path, "must be an object, is "+jsonscan.Kind(value[0]), "")
			return
		}
		m := l.message(path, value, off)
		blank = blank && m.Raw == nil && strings.TrimSpace(m.Content) == ""
		l.prompt.Messages = append(l.prompt.Messages, m)
	})
	if blank && !l.faulty {
		l.fault(off, messagesField, "is empty", "")
	}
}

// message takes a message. One with more to it than a role and text is sent as it stands.
func (l *line) message(path string, value []byte, off int) prompt.Message {
	var m prompt.Message
	whole, more := value, false
	missing := map[string]bool{"role": true, "content": true}
	members(value, off, func(key string, value []byte, off int) {
		path := path + "." + key
		delete(missing, key)
		switch {
		case key == "role":
			m.Role = l.text(path, value, off, true)
		case key == "content" && value[0] == '[':
			var own bool
			m.Content, own = l.parts(path, value, off)
			more = more || own
		case key == "content":
			m.Content = l.text(path, value, off, false)
		case string(value) != "null":
			more = true
			l.calls(&m, key, value)
		}
	})
	if len(m.ToolCalls) > 0 {
		delete(missing, "content")
	}
	if more {
		m.Raw = slices.Clone(whole)
	}
	for _, key := range []string{"role", "content"} {
		if missing[key] {
			l.fault(off, path+"."+key, "is missing", "")
		}
	}
	return m
}

// calls takes the tool calls of a message, or the call that it has the result of, for counting; what is in another
// form than OpenAI's is only sent.
func (l *line) calls(m *prompt.Message, key string, value []byte) {
	switch key {
	case "tool_call_id":
		_ = json.Unmarshal(value, &m.ToolCallID)
	case "tool_calls":
		var list []struct {
			ID       string
			Function struct{ Name, Arguments string }
		}
		if json.Unmarshal(value, &list) == nil {
			for _, c := range list {
				m.ToolCalls = append(m.ToolCalls, prompt.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
			}
		}
	}
}

// parts joins the text parts of a message's content. more: there are others, or they have more than text.
func (l *line) parts(path string, value []byte, off int) (text string, more bool) {
	var all strings.Builder
	elements(value, off, func(i int, value []byte, off int) {
		path := fmt.Sprintf("%s[%d]", path, i)
		var fields map[string]json.RawMessage
		var kind string
		if json.Unmarshal(value, &fields) != nil || json.Unmarshal(fields["type"], &kind) != nil || kind == "" {
			l.fault(off, path, "is not a part of a message", `such as {"type": "text", "text": "…"}`)
			return
		}
		var text *string
		switch err := json.Unmarshal(fields["text"], &text); {
		case kind == "text" && (err != nil || text == nil):
			l.fault(off, path, "has no text", `such as {"type": "text", "text": "…"}`)
		case kind == "text":
			all.WriteString(*text)
			more = more || len(fields) > 2
		case kind == "image_url" && fields[kind] == nil:
			l.fault(off, path, "has no image_url", `such as {"type": "image_url", "image_url": {"url": "https://…"}}`)
		default:
			more = true
		}
	})
	return all.String(), more
}

// short is a value, cut where it is long.
func short(value []byte) string { return truncate.Text(string(value), 30) }

// members calls take for each member of a valid JSON object, with its value's offset from base.
func members(object []byte, base int, take func(key string, value []byte, off int)) {
	d := json.NewDecoder(bytes.NewReader(object))
	d.Token() // the brace
	for d.More() {
		key, _ := d.Token()
		value, off, err := next(d)
		if err != nil {
			return
		}
		take(key.(string), value, base+off)
	}
}

// elements calls take for each element of a valid JSON array.
func elements(array []byte, base int, take func(i int, value []byte, off int)) {
	d := json.NewDecoder(bytes.NewReader(array))
	d.Token() // the bracket
	for i := 0; d.More(); i++ {
		value, off, err := next(d)
		if err != nil {
			return
		}
		take(i, value, base+off)
	}
}

// next is the value that comes next and its offset.
func next(d *json.Decoder) (value json.RawMessage, off int, err error) {
	err = d.Decode(&value)
	return value, int(d.InputOffset()) - len(value), err
}
