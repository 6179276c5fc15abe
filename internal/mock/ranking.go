package mock

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// This file is endpoints that answer at once and write no text: beside embeddings, ranking
// passages by how well they fit a query, and finding things in images.

// rankField reads a body field of the two ranking endpoints and of image retrieval.
func (r *bodyReader) rankField(raw []byte) (taken bool, err error) {
	switch {
	case r.api == ranking && string(raw) == "query":
		r.p.query = true
		return true, r.textObject()
	case r.api == rerank && string(raw) == "query":
		r.p.query = true
		return true, r.content()
	case r.api == ranking && string(raw) == "passages", r.api == rerank && string(raw) == "texts":
		return true, r.passages(raw)
	case r.api == retrieval && string(raw) == "input":
		return true, r.pictures()
	}
	return false, nil
}

// textObject reads {"text": …}.
func (r *bodyReader) textObject() error {
	if r.peek() != '{' {
		return fmt.Errorf("query: must be an object with a text")
	}
	return r.part()
}

func (r *bodyReader) passages(name []byte) error {
	r.p.present = true
	if r.peek() != '[' {
		return fmt.Errorf("%s: must be an array", name)
	}
	return r.array(func() error {
		before := r.p.words.n
		var err error
		if r.peek() == '{' {
			err = r.part()
		} else {
			err = r.content()
		}
		r.p.inputs++
		r.p.perInput = append(r.p.perInput, r.p.words.n-before)
		return err
	})
}

func (r *bodyReader) pictures() error {
	r.p.present = true
	if r.peek() != '[' {
		return fmt.Errorf("input: must be an array")
	}
	return r.array(func() error {
		before := r.p.media
		err := r.part()
		if err == nil && r.p.media == before {
			return fmt.Errorf("input: each must be an object of type image_url")
		}
		r.p.inputs++
		return err
	})
}

// answerAtOnce answers when the prompt has been looked at.
func (c *call) answerAtOnce() {
	first := c.due
	if !c.wait(c.due, false) {
		return
	}
	c.prefilled()
	switch c.api {
	case embeddings:
		c.embeddings()
	case ranking:
		c.str(`{"rankings":`)
		c.rankings("logit")
		c.str(`,`)
		c.usage(0, 0)
		c.str(`}`)
	case rerank:
		c.rankings("score")
	case retrieval:
		c.boxes()
	}
	c.finishBody("stop", 0, first)
}

// rankings writes the passages, best first. How well one fits follows from its length
// and place, so that the same request gets the same answer.
func (c *call) rankings(field string) {
	order := make([]int, len(c.p.perInput))
	scores := make([]float64, len(order))
	for i, words := range c.p.perInput {
		order[i] = i
		scores[i] = float64((uint64(words+1)*0x9e3779b97f4a7c15^uint64(i)<<32*0xbf58476d1ce4e5b9)>>40) / (1 << 24)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	c.str(`[`)
	for k, i := range order {
		c.comma(k)
		c.put(`{"index":`, i, `,"`, field, `":`)
		c.buf = strconv.AppendFloat(c.buf, scores[i], 'g', 8, 64)
		c.str(`}`)
	}
	c.str(`]`)
}

// boxes writes what was found in each image.
func (c *call) boxes() {
	c.str(`{"data":[`)
	for i := range c.p.inputs {
		c.comma(i)
		c.put(`{"index":`, i, `,"bounding_boxes":{"table":[],"chart":[{"x_min":0.1,"y_min":0.2,"x_max":0.8,"y_max":0.9,"confidence":0.97}],"title":[]}}`)
	}
	c.put(`],"usage":{"images":`, c.p.inputs, `}}`)
}
