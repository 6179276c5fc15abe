package body

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // the formats that images may have
	_ "image/png"
	"strings"
)

// part reads one part of a message's content: text is counted, media are counted as
// such and, where the server is strict, looked into.
func (r *Reader) part() error {
	if r.peek() != '{' {
		return r.skipElement()
	}
	var p mediaPart
	if err := r.object(func(key []byte) error { return r.partField(key, &p) }); err != nil {
		return err
	}
	if r.api == Responses && r.strict && !known(itemParts, string(p.kind)) {
		return fmt.Errorf("input: content: type %q is none of%s", p.kind, strings.TrimRight(itemParts, " "))
	}
	if !p.media() {
		return nil
	}
	r.p.Media++
	if r.strict {
		return p.check()
	}
	return nil
}

// mediaPart is what a part says of its medium. Strings are the insides of JSON strings.
type mediaPart struct{ kind, url, data, format []byte }

func (p *mediaPart) media() bool {
	switch string(p.kind) {
	case "image_url", "video_url", "audio_url", "input_audio", "image", "input_image":
		return true
	}
	return false
}

func (r *Reader) partField(key []byte, p *mediaPart) error {
	switch name := string(key); {
	case name == "type":
		return r.text(key, &p.kind)
	case name == "text" && r.peek() == '"':
		return r.count()
	case name == "content": // of a tool's result
		return r.content()
	case name == "url" && r.peek() == '"', name == "image_url" && r.api == Responses && r.peek() == '"':
		return r.text(key, &p.url)
	case (name == "image_url" || name == "video_url" || name == "audio_url" || name == "input_audio" || name == "source") && r.peek() == '{':
		return r.object(func(key []byte) error {
			switch string(key) {
			case "url":
				return r.text(key, &p.url)
			case "data":
				return r.text(key, &p.data)
			case "format", "media_type":
				return r.text(key, &p.format)
			}
			return r.skipElement()
		})
	}
	return r.skipElement()
}

func (p *mediaPart) check() error {
	format, data := p.format, p.data
	if len(p.url) > 0 {
		if bytes.HasPrefix(p.url, []byte("http://")) || bytes.HasPrefix(p.url, []byte("https://")) {
			return nil
		}
		rest, ok := bytes.CutPrefix(p.url, []byte("data:"))
		if !ok {
			return fmt.Errorf("%s: the URL must be http, https or data", p.kind)
		}
		if format, data, ok = bytes.Cut(rest, []byte(";base64,")); !ok {
			return fmt.Errorf("%s: the data URL must be of base64", p.kind)
		}
	}
	raw := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
	n, err := base64.StdEncoding.Decode(raw, bytes.ReplaceAll(data, []byte(`\/`), []byte("/")))
	if err != nil {
		return fmt.Errorf("%s: the data is not base64: %v", p.kind, err)
	}
	if err := looksLike(string(format), raw[:n]); err != nil {
		return fmt.Errorf("%s: %w", p.kind, err)
	}
	return nil
}

// looksLike holds bytes against the format that they should have.
func looksLike(format string, raw []byte) error {
	switch format {
	case "image/png", "image/jpeg", `image\/png`, `image\/jpeg`:
		_, got, err := image.DecodeConfig(bytes.NewReader(raw))
		if err != nil || !bytes.HasSuffix([]byte(format), []byte(got)) {
			return fmt.Errorf("cannot identify image file of %d bytes as %s", len(raw), format)
		}
	case "wav", "audio/wav":
		if len(raw) < 44 || string(raw[:4]) != "RIFF" || string(raw[8:12]) != "WAVE" {
			return errors.New("the data is not a WAV file")
		}
	case "mp3", "audio/mp3":
		if len(raw) < 4 || raw[0] != 0xff || raw[1]&0xe6 != 0xe2 {
			return errors.New("the data is not an MP3 file")
		}
	case "video/mp4":
		if len(raw) < 12 || string(raw[4:8]) != "ftyp" {
			return errors.New("the data is not an MP4 file")
		}
	case "":
		return errors.New("the format is missing")
	}
	return nil
}
