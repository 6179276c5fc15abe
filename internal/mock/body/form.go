package body

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"strconv"
)

// Form is what a request for a transcription says beyond what others do.
type Form struct {
	Verbose bool    // the response has the length of the sound
	Seconds float64 // of the sound; 0: unknown
	VLLM    bool    // it is asked as vLLM is: a stream is of chunks of a chat
}

// tokensPerSecond is how many tokens a second of sound is.
const tokensPerSecond = 10

// ReadForm fills p from the form of a request for a transcription. The error is meant for the client.
func ReadForm(ctype string, strict bool, body []byte, p *Params) error {
	kind, params, err := mime.ParseMediaType(ctype)
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		return fmt.Errorf("the body must be multipart/form-data, is %q", ctype)
	}
	r := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for {
		part, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("the form is broken: %v", err)
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return fmt.Errorf("the form is broken: %v", err)
		}
		if err := p.readPart(part, value, strict); err != nil {
			return err
		}
	}
	switch {
	case len(p.unknown) > 0:
		return extraFields(p.unknown)
	case !p.present:
		return errors.New("file: field required")
	case p.Max == 0 || p.Max < -1:
		return fmt.Errorf("max_completion_tokens must be at least 1, got %d", p.Max)
	}
	p.Inputs = 1
	return nil
}

func (p *Params) readPart(part *multipart.Part, value []byte, strict bool) error {
	name, text := part.FormName(), string(value)
	flag := func(to *bool) (err error) {
		if *to, err = strconv.ParseBool(text); err != nil {
			return fmt.Errorf("%s: must be true or false", name)
		}
		return nil
	}
	switch name {
	case "file":
		return p.readSound(part, value, strict)
	case "model":
		quoted := AppendQuoted(nil, text)
		p.Model = quoted[1 : len(quoted)-1]
	case "prompt":
		p.Words.AddPlain(value)
	case "stream":
		return flag(&p.Stream)
	case "stream_include_usage":
		p.Form.VLLM = true
		return flag(&p.Usage)
	case "stream_continuous_usage_stats":
		return flag(&p.Continuous)
	case "max_completion_tokens":
		n, err := strconv.Atoi(text)
		if p.Max = n; err != nil {
			return fmt.Errorf("%s: must be an integer", name)
		}
	case "response_format":
		if p.Form.Verbose = text == "verbose_json"; !p.Form.Verbose && text != "json" {
			return fmt.Errorf("response_format: this server answers with json or verbose_json, not %q", text)
		}
	default:
		if strict && !known(knownFields[Transcriptions], name) {
			p.unknown = append(p.unknown, name)
		}
	}
	return nil
}

func (p *Params) readSound(part *multipart.Part, value []byte, strict bool) error {
	if part.FileName() == "" {
		return errors.New("file: must be a file with a name")
	}
	p.present = true
	p.Media++
	p.Form.Seconds = wavSeconds(value)
	p.Words.N += int(math.Ceil(p.Form.Seconds * tokensPerSecond))
	if !strict {
		return nil
	}
	if err := looksLike(part.Header.Get("Content-Type"), value); err != nil {
		return fmt.Errorf("file: %w", err)
	}
	return nil
}

// wavSeconds is the length of a WAV as its head says it; 0: it is none.
func wavSeconds(b []byte) float64 {
	if len(b) < 12 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WAVE" {
		return 0
	}
	rate := uint32(0) // bytes a second
	for b = b[12:]; len(b) >= 8; {
		size := min(int(binary.LittleEndian.Uint32(b[4:])), len(b)-8)
		switch chunk := b[8 : 8+size]; {
		case string(b[:4]) == "fmt " && size >= 12:
			rate = binary.LittleEndian.Uint32(chunk[8:])
		case string(b[:4]) == "data" && rate > 0:
			return float64(size) / float64(rate)
		}
		b = b[min(8+size+size&1, len(b)):]
	}
	return 0
}
