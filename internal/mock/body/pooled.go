package body

import (
	"fmt"
	"strconv"
	"strings"
)

// IsDocuments reports whether a body asks for a ranking as Cohere, Jina and vLLM have it, and not as Text Embeddings
// Inference, which has the same path.
func IsDocuments(b []byte) bool { return hasField(b, "documents") }

// hasField reports whether an object has one of the fields.
func hasField(b []byte, names ...string) bool {
	s, found := scanner{b: b}, false
	_ = s.object(func(key []byte) error { // what is broken is found when it is read
		for _, name := range names {
			found = found || string(key) == name
		}
		_, err := s.skip()
		return err
	})
	return found
}

// query is the body field of what texts are held against.
func (a API) query() string {
	if a == Score {
		return "text_1"
	}
	return "query"
}

// pooledField reads a body field of the endpoints that pool: documents and scores are held against a query.
func (r *Reader) pooledField(raw []byte) (taken bool, err error) {
	name := string(raw)
	switch {
	case r.api.Ranks() && (name == r.api.query() || r.api == Score && name == "queries"):
		r.p.query = true
		if r.peek() == '[' {
			return true, r.array(r.content)
		}
		return true, r.content()
	case r.api == Documents && name == "documents", r.api == Score && (name == "text_2" || name == "documents"):
		return true, r.passages(raw)
	case r.api == Documents && name == "top_n":
		return true, r.integer(raw, &r.p.Top)
	case !r.api.Ranks() && name == "input":
		return true, r.texts(raw, &r.p.PerInput)
	case r.api == Pooling && name == "messages":
		err := r.messages()
		r.p.PerInput = append(r.p.PerInput, r.p.Words.N)
		return true, err
	case name == "stream", name == "stream_options", name == "max_tokens", name == "n":
		if r.strict {
			r.p.unknown = append(r.p.unknown, name)
		}
		return true, r.skipElement()
	}
	return false, nil
}

// mostPixels bounds each side of an image.
const mostPixels = 4096

// imageField reads a body field of a request for images.
func (r *Reader) imageField(raw []byte) (taken bool, err error) {
	switch string(raw) {
	case "prompt":
		return true, r.texts(raw, nil)
	case "n":
		if err := r.integer(raw, &r.p.N); err != nil || r.p.N >= 1 && r.p.N <= 10 {
			return true, err
		}
		return true, fmt.Errorf("n must be from 1 to 10, got %d", r.p.N)
	case "size":
		return true, r.imageSize(raw)
	case "response_format":
		var format []byte
		if err := r.text(raw, &format); err != nil {
			return true, err
		}
		r.p.URLs = string(format) == "url"
		if !r.p.URLs && format != nil && string(format) != "b64_json" {
			return true, fmt.Errorf("response_format: must be url or b64_json")
		}
		return true, nil
	case "stream":
		stream := false
		if err := r.boolean(raw, &stream); err != nil || !stream {
			return true, err
		}
		return true, fmt.Errorf("stream: this server sends images in one piece")
	}
	return false, nil
}

func (r *Reader) imageSize(name []byte) error {
	var size []byte
	if err := r.text(name, &size); err != nil || size == nil || string(size) == "auto" {
		return err
	}
	width, height, _ := strings.Cut(string(size), "x")
	w, wrong := strconv.Atoi(width)
	h, wrongToo := strconv.Atoi(height)
	if wrong != nil || wrongToo != nil || min(w, h) < 1 || max(w, h) > mostPixels {
		return fmt.Errorf("size: %q is not WIDTHxHEIGHT of 1 to %d pixels", size, mostPixels)
	}
	r.p.Width, r.p.Height = w, h
	return nil
}
