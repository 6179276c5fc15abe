package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/endpoint/body"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// boundary separates the fields of a form. It is long enough to be in no sound.
const boundary = "inferometer-4f2c9a7be01d5836-c3a1f0e2b7d49586"

// formType is the media type of a form's body.
const formType = "multipart/form-data; boundary=" + boundary

// formEncoder builds the forms that sounds are sent in to be written down.
type formEncoder struct {
	shared []byte // fields of all requests, but for the model
	model  string
	limits bool // output lengths may be asked for
}

// newFormEncoder encodes the shared fields: our own, then those of the target's Body, which
// win over ours; a null there takes one of ours away.
func newFormEncoder(t plan.Target) (*formEncoder, error) {
	e := &formEncoder{model: t.Model, limits: true}
	fields := map[string]any{}
	if t.Streaming {
		fields["stream"], fields["stream_include_usage"] = true, true
	}
	maps.Copy(fields, t.Body)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch value := fields[name]; {
		case name == "file":
			return nil, errors.New(`the extra body field "file" would replace the sound: use a prompt file instead`)
		case name == "max_completion_tokens":
			e.limits = false
			fallthrough
		default:
			text, err := formText(value)
			if err != nil {
				return nil, fmt.Errorf("the extra body field %q cannot be written as JSON: %w", name, err)
			}
			if name == "model" && value != nil {
				e.model = text
			} else if value != nil {
				e.shared = appendField(e.shared, name, text)
			}
		}
	}
	return e, nil
}

// formText is a value as a form has it: a text as it stands, all else as JSON.
func formText(value any) (string, error) {
	if text, ok := value.(string); ok {
		return text, nil
	}
	text, err := json.Marshal(value)
	return string(text), err
}

// quoted is a name between the quotes of a header.
var quoted = strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A")

func appendField(b []byte, name, value string) []byte {
	b = append(b, "--"+boundary+"\r\nContent-Disposition: form-data; name=\""+quoted.Replace(name)+"\"\r\n\r\n"...)
	return append(append(b, value...), "\r\n"...)
}

func (e *formEncoder) encode(p *prompt.Prompt) ([]byte, error) {
	media := body.Media(p)
	i := slices.IndexFunc(media, func(part *prompt.Part) bool { return part.Kind == prompt.Audio && part.URL == "" })
	if i < 0 {
		return nil, errors.New("the prompt has no sound to write down: set data.media.audio")
	}
	sound := media[i]
	b := make([]byte, 0, len(e.shared)+len(sound.Data)+1024)
	b = append(b, e.shared...)
	model := p.Model
	if model == "" {
		model = e.model
	}
	if model != "" {
		b = appendField(b, "model", model)
	}
	if e.limits && p.Output > 0 {
		b = appendField(b, "max_completion_tokens", strconv.Itoa(p.Output))
	}
	for _, f := range p.Fields {
		var value any
		if err := json.Unmarshal(f.Value, &value); err != nil {
			return nil, fmt.Errorf("the field %q of the prompt is no JSON: %w", f.Name, err)
		}
		text, err := formText(value)
		if err != nil {
			return nil, err
		}
		b = appendField(b, f.Name, text)
	}
	b = append(b, "--"+boundary+"\r\nContent-Disposition: form-data; name=\"file\"; filename=\"audio."+sound.Format()+"\"\r\nContent-Type: "+sound.Type+"\r\n\r\n"...)
	b = append(b, sound.Data...)
	return append(b, "\r\n--"+boundary+"--\r\n"...), nil
}

// unsent takes back the count of a prompt's text, where only its sound was sent and the server has not counted it.
func (d *Decoder) unsent(x *record.Exchange) {
	if d.kind == Transcriptions && x.In.Source != record.FromServer {
		x.In = record.Tokens{Local: -1}
	}
}

// parseSpoken reads a field of a transcription that no other response has: its text, in one piece or bit by bit, and
// the event that ends it.
func (c *chunk) parseSpoken(key []byte) {
	s := &c.Scan
	switch string(key) {
	case "delta":
		c.transcript = true
		c.AppendString(record.Content)
	case "text":
		c.transcript = true
		if c.streamed { // all of it once more
			s.Skip()
			return
		}
		c.AppendString(record.Content)
	case "type":
		if s.Peek() != '"' {
			s.Skip()
			return
		}
		if string(s.Quoted()) == "transcript.text.done" {
			c.finish = []byte("stop")
		}
	default:
		s.Skip()
	}
}
