package genaiperf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
)

// mostUnsent is how many inputs of a file are complained of; the rest are counted.
const mostUnsent = 5

// unsent finds inputs that requests in Triton's own form have and this run does not send.
// A Triton server gets all of them, but what the run says of every request must be what
// they say; another server gets the text and its length.
func (t *job) unsent() error {
	if t.plan.Data.Source != plan.SourceFile {
		return nil
	}
	text, err := limitio.Limit{Name: plan.LimitFile, Bytes: int64(t.plan.Limits.File)}.ReadFile(t.plan.Data.File)
	if err != nil {
		return nil // a directory; what cannot be read was told of when it was read
	}
	var faults plan.Faults
	more := 0
	eachElement(text, func(value json.RawMessage, off int) {
		for _, f := range t.unsentOf(value) {
			if len(faults) >= mostUnsent {
				more++
				continue
			}
			f.Where = fmt.Sprintf("%s:%d", t.plan.Data.File, 1+bytes.Count(text[:off], []byte("\n")))
			faults = append(faults, f)
		}
	})
	if more > 0 {
		faults = append(faults, plan.Fault{Where: t.plan.Data.File, Text: fmt.Sprintf("%d more inputs are not sent", more)})
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// unsentOf finds them in one request.
func (t *job) unsentOf(value json.RawMessage) plan.Faults {
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) != nil || fields["text_input"] == nil {
		return nil
	}
	own := t.set.ServiceKind == "triton" || t.set.EndpointType == "generate" // all inputs are sent
	sent := t.sent()
	var faults plan.Faults
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		has := single(fields[name])
		if slices.Contains([]string{"text_input", "max_tokens", "model", "session_id", "delay", "timestamp"}, name) || has == nil {
			continue
		}
		given := short(fields[name])
		switch ours, ok := sent[name]; {
		case own && name != "stream" && name != "exclude_input_in_output":
		case !ok && slices.Contains([]string{"stream", "exclude_input_in_output", "min_length"}, name):
		case !ok:
			faults = append(faults, plan.Fault{Path: name, Text: "is " + given + ", but is not sent", Hint: "if it is the same in all requests, give --extra-inputs " + name + ":VALUE"})
		case canonical(ours) != canonical(has):
			faults = append(faults, plan.Fault{Path: name, Text: "is " + given + ", but " + canonical(ours) + " is sent", Hint: "change one of the two"})
		}
	}
	return faults
}

// sent are the inputs that all requests of this run have.
func (t *job) sent() map[string]any {
	out := map[string]any{}
	if t.set.ServiceKind == "triton" {
		out["exclude_input_in_output"] = true
		if t.set.Streaming {
			out["stream"] = true
		}
	}
	for _, x := range t.set.Extra {
		out[x.Name] = x.Value
	}
	return out
}

// single is a value, without the list of one that Perf Analyzer puts around it.
func single(raw json.RawMessage) any {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	if list, ok := v.([]any); ok && len(list) == 1 {
		return list[0]
	}
	return v
}

// canonical is a value as JSON writes it, whatever it was read from.
func canonical(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// short is a value, cut where it is long.
func short(raw json.RawMessage) string { return truncate.Text(canonical(single(raw)), 60) }

// eachElement gives the elements of a list, or of the member data of an object, and where
// each begins.
func eachElement(text []byte, take func(value json.RawMessage, off int)) {
	d := json.NewDecoder(bytes.NewReader(text))
	open, err := d.Token()
	if err != nil {
		return
	}
	if open == json.Delim('{') {
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return
			}
			if key == "data" {
				break
			}
			var other json.RawMessage
			if d.Decode(&other) != nil {
				return
			}
		}
		open, err = d.Token()
	}
	if err != nil || open != json.Delim('[') {
		return
	}
	for d.More() {
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return
		}
		take(value, int(d.InputOffset())-len(value))
	}
}
