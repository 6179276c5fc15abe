package inputdata

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// The members of a step for an OpenAI server, where a request is given whole.
const (
	PayloadMember   = "payload"    // the request's body
	TimestampMember = "timestamp"  // when it is due, in milliseconds from the start
	DelayMember     = "delay"      // pause after its response, in milliseconds
	SessionMember   = "session_id" // the conversation that it is a turn of
)

// find is the value of a step by its name; nil where there is none.
func find(item *tensor.Item, name string) *tensor.Value {
	at := slices.IndexFunc(item.Values, func(v tensor.Value) bool { return v.Name == name })
	if at < 0 {
		return nil
	}
	return &item.Values[at]
}

func faultOf(v *tensor.Value, text, hint string) error {
	return plan.Faults{faultAt(v.File, v.Line, v.Name, text, hint)}
}

// single is the text of a value's only element.
func single(v *tensor.Value) ([]byte, error) {
	fault := func(text string) error { return faultOf(v, text, "write it as [ … ] with one element") }
	if v.Form != tensor.FormJSON {
		return nil, fault("is not given as JSON")
	}
	var s jsonscan.Scanner
	s.Reset(v.Text)
	if s.Peek() != '[' {
		return v.Text, nil
	}
	s.Array()
	var only []byte
	n := 0
	for ; s.More(); n++ {
		s.Peek()
		start := s.Pos()
		s.Skip()
		only = v.Text[start:s.Pos()]
	}
	if n != 1 {
		return nil, fault(fmt.Sprintf("has %d elements, not 1", n))
	}
	return only, nil
}

// Payload is the whole request body that a step gives, without the spaces between its
// parts: files are often indented, requests are not. It is nil where the step gives none.
func Payload(item *tensor.Item) ([]byte, error) {
	v := find(item, PayloadMember)
	if v == nil {
		return nil, nil
	}
	text, err := single(v)
	if err != nil {
		return nil, err
	}
	if text[0] != '{' {
		return nil, faultOf(v, "is not a JSON object", `write it as [{"model": …}]`)
	}
	var body bytes.Buffer
	if err = json.Compact(&body, text); err == nil && v.Exact {
		text, err = rewrite(text)
		return text, err
	}
	if err != nil {
		return nil, faultOf(v, "is not valid JSON: "+err.Error(), "")
	}
	return body.Bytes(), nil
}

// Session is the name of the conversation that a step is a turn of; empty where it says
// none.
func Session(item *tensor.Item) (string, error) {
	v := find(item, SessionMember)
	if v == nil {
		return "", nil
	}
	text, err := single(v)
	if err != nil {
		return "", err
	}
	var name string
	if json.Unmarshal(text, &name) != nil {
		name = string(text) // a number
	}
	if name == "" || len(name) > mostName {
		return "", faultOf(v, "is not a session name", `such as ["a"]`)
	}
	return name, nil
}

// mostName is how long the name of a session may be.
const mostName = 200

// Milliseconds is a timestamp or a delay; ok is false where the step has none.
func Milliseconds(item *tensor.Item, name string) (ms int64, ok bool, err error) {
	v := find(item, name)
	if v == nil {
		return 0, false, nil
	}
	text, err := single(v)
	if err != nil {
		return 0, false, err
	}
	const most = 1 << 40 // more than 30 years
	ms, err = strconv.ParseInt(string(text), 10, 64)
	if err != nil || ms < 0 || ms > most {
		return 0, false, faultOf(v, "must be a whole number of milliseconds, is "+string(text[:min(len(text), 40)]), "")
	}
	return ms, true, nil
}
