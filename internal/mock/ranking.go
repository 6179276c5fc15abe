package mock

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/inferometer/inferometer/internal/mock/body"
)

// This file is endpoints that answer at once and write no text: beside embeddings, ranking
// passages by how well they fit a query, and finding things in images.

// answerAtOnce answers when the prompt has been looked at.
func (c *call) answerAtOnce() {
	first := c.due
	if !c.wait(c.due, false) {
		return
	}
	c.prefilled()
	switch c.api {
	case body.Embeddings:
		c.embeddings()
	case body.Ranking:
		c.str(`{"rankings":`)
		c.rankings("logit")
		c.str(`,`)
		c.usage(0, 0)
		c.str(`}`)
	case body.Rerank:
		c.rankings("score")
	case body.Retrieval:
		c.boxes()
	}
	c.finishBody("stop", 0, first)
}

// rankings writes the passages, best first. How well one fits follows from its length
// and place, so that the same request gets the same response.
func (c *call) rankings(field string) {
	order := make([]int, len(c.p.PerInput))
	scores := make([]float64, len(order))
	for i, words := range c.p.PerInput {
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
	for i := range c.p.Inputs {
		c.comma(i)
		c.put(`{"index":`, i, `,"bounding_boxes":{"table":[],"chart":[{"x_min":0.1,"y_min":0.2,"x_max":0.8,"y_max":0.9,"confidence":0.97}],"title":[]}}`)
	}
	c.put(`],"usage":{"images":`, c.p.Inputs, `}}`)
}
