package mock

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strconv"

	"github.com/inferometer/inferometer/internal/mock/body"
)

// This file is endpoints that answer at once and write no text: beside embeddings, ranking
// passages by how well they fit a query, scores and classes, finding things in images, and making them.

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
	case body.Documents:
		c.documents()
	case body.Score:
		c.results("score", func(i int) { c.put(`"score":`); c.float(c.fit(i)) })
	case body.Classify:
		c.results("", c.classes)
	case body.Pooling:
		c.results("pooling", func(i int) {
			c.str(`"data":`)
			c.vector(c.dimensions(), c.p.PerInput[i], i)
		})
	case body.Images:
		c.images()
	case body.Retrieval:
		c.boxes()
	}
	c.finishBody("stop", 0, first)
}

// rankings writes the passages, best first.
func (c *call) rankings(field string) {
	c.str(`[`)
	for k, i := range c.ranked() {
		c.comma(k)
		c.put(`{"index":`, i, `,"`, field, `":`)
		c.float(c.fit(i))
		c.str(`}`)
	}
	c.str(`]`)
}

// ranked are the places of the passages, best first: as many as are asked for.
func (c *call) ranked() []int {
	order := make([]int, len(c.p.PerInput))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.fit(b), c.fit(a)) })
	if top := c.p.Top; top > 0 && top < len(order) {
		order = order[:top]
	}
	return order
}

// fit is how well a passage fits. It follows from length and place: a repeat gets the same
// response.
func (c *call) fit(i int) float64 {
	words := c.p.PerInput[i]
	return float64((uint64(words+1)*0x9e3779b97f4a7c15^uint64(i)<<32*0xbf58476d1ce4e5b9)>>40) / (1 << 24)
}

func (c *call) float(v float64) { c.buf = strconv.AppendFloat(c.buf, v, 'g', 8, 64) }

// documents writes a ranking of documents, as Cohere does or as vLLM does.
func (c *call) documents() {
	cohere := c.req.path == cohereRerank
	c.put(`{"id":"`, c.id, `",`)
	if !cohere {
		c.put(`"model":"`, c.p.Model, `",`)
		c.usage(0, 0)
		c.str(`,`)
	}
	c.str(`"results":[`)
	for k, i := range c.ranked() {
		c.comma(k)
		c.put(`{"index":`, i, `,"relevance_score":`)
		c.float(c.fit(i))
		switch document := c.p.Documents[i]; {
		case cohere:
		case document[0] == '"':
			c.put(`,"document":{"text":`, document, `}`)
		default:
			c.put(`,"document":`, document)
		}
		c.str(`}`)
	}
	c.str(`]`)
	if cohere {
		c.str(`,"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":1}}`)
	}
	c.str(`}`)
}

// results writes a list with a result for each text, as vLLM does.
func (c *call) results(object string, value func(i int)) {
	c.buf = c.appendHead(c.buf, "list")
	c.str(`"data":[`)
	for i := range c.p.PerInput {
		c.comma(i)
		c.put(`{"index":`, i, `,`)
		if object != "" {
			c.put(`"object":"`, object, `",`)
		}
		value(i)
		c.str(`}`)
	}
	c.str(`],`)
	c.usage(0, 0)
	c.str(`}`)
}

func (c *call) classes(i int) {
	p, label := c.fit(i), "LABEL_0"
	if p >= 0.5 {
		label = "LABEL_1"
	}
	c.put(`"label":"`, label, `","probs":[`)
	c.float(1 - p)
	c.str(`,`)
	c.float(p)
	c.str(`],"num_classes":2`)
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

// usualSide is that of images whose size is not asked for.
const usualSide = 256

// images writes images of one colour each.
func (c *call) images() {
	width, height := c.p.Width, c.p.Height
	if width == 0 {
		width, height = usualSide, usualSide
	}
	c.put(`{"created":`, int(c.req.read.Unix()), `,"data":[`)
	for i := range c.p.N {
		c.comma(i)
		if c.p.URLs {
			c.put(`{"url":"http://127.0.0.1/`, c.id, `-`, i, `.png"}`)
			continue
		}
		c.str(`{"b64_json":"`)
		c.buf = base64.StdEncoding.AppendEncode(c.buf, onePicture(width, height, i))
		c.str(`"}`)
	}
	c.put(`],"usage":{"input_tokens":`, c.seq.Prompt, `,"output_tokens":0,"total_tokens":`, c.seq.Prompt,
		`,"input_tokens_details":{"text_tokens":`, c.seq.Prompt, `,"image_tokens":0}}}`)
}

// onePicture is a PNG of one colour, the i-th.
func onePicture(width, height, i int) []byte {
	colours := color.Palette{color.RGBA{uint8(40 * i), 120, 200, 255}}
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, width, height), colours)); err != nil {
		return nil // a buffer takes all
	}
	return b.Bytes()
}
