// Package html writes a run, or a comparison of runs, as a page: one file that needs nothing
// else, with the figures and what is drawn of them inside it.
//
// The page is built elsewhere, and this package puts two data elements into it. Whatever a
// server or a user has put into a text stays data: JSON without any character that HTML
// would take for its own, which the page's script shows as text.
package html

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"

	"github.com/inferometer/inferometer/internal/pagedata"
)

//go:embed page.html
var page []byte

// marker stands in the page where the data go.
const marker = "<!--data-->"

// Write writes the page of a document.
func Write(w io.Writer, d *pagedata.Document) error {
	// Marshal writes <, > and & as \u003c and so on, and U+2028 and U+2029 too.
	text, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encode the data of the page: %w", err)
	}
	planes, err := d.Planes.Text()
	if err != nil {
		return err
	}
	of := page
	if d.Live { // it listens to the server that it came from
		of = bytes.Replace(page, []byte("connect-src 'none'"), []byte("connect-src 'self'"), 1)
	}
	return write(w, of, text, []byte(planes))
}

func write(w io.Writer, page, text, planes []byte) error {
	head, tail, ok := bytes.Cut(page, []byte(marker))
	if !ok {
		return fmt.Errorf("the page has no place for its data: %s is missing", marker)
	}
	for _, part := range [][]byte{
		head,
		[]byte(`<script type="application/json" id="document">`), text, []byte("</script>\n"),
		[]byte(`<script type="application/octet-stream" id="planes">`), planes, []byte("</script>\n"),
		tail,
	} {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("write the page: %w", err)
		}
	}
	return nil
}

// mostBytes is what the data of a comparison may take of the page's two megabytes.
const mostBytes = 1_600_000

// Side is one side of a comparison.
type Side struct {
	Name string
	Runs []*pagedata.Document // in the order of the comparison's; nil means there is nothing to draw of it
}

type comparison struct {
	Version    int             `json:"version"`
	Comparison json.RawMessage `json:"comparison"`
	Sides      []sideOnPage    `json:"sides"`
}

type sideOnPage struct {
	Name string `json:"name"`
	Of   int    `json:"of"` // runs that the side has
	Runs []run  `json:"runs"`
}

// run is what is drawn of a run of a side.
type run struct {
	Index    int                `json:"index"` // among the runs of the side
	Document *pagedata.Document `json:"document"`
}

// WriteComparison writes the page of a comparison, which is its document or the JSON of it.
// What is drawn of the runs is reduced until the page has two megabytes at most: curves have
// fewer points, and then fewer runs of a side are drawn, which the page says.
func WriteComparison(w io.Writer, of any, sides []Side) error {
	text, err := json.Marshal(of)
	if err != nil {
		return fmt.Errorf("encode the comparison for the page: %w", err)
	}
	points, runs := 240, 0
	for _, s := range sides {
		runs = max(runs, len(s.Runs))
	}
	for {
		data, planes, err := comparisonData(text, sides, points, runs)
		if err != nil {
			return err
		}
		if len(data)+len(planes) <= mostBytes || runs == 0 {
			return write(w, page, data, planes)
		}
		if points /= 2; points < 60 {
			points, runs = 60, runs/2
		}
	}
}

// comparisonData is what the page of a comparison is given, with so many runs of each side
// and points of each curve. The planes of the runs are lines of one text.
func comparisonData(text json.RawMessage, sides []Side, points, runs int) (data, planes []byte, err error) {
	c := comparison{Version: pagedata.Version, Comparison: text, Sides: []sideOnPage{}}
	var lines bytes.Buffer
	for _, s := range sides {
		side := sideOnPage{Name: s.Name, Of: len(s.Runs), Runs: []run{}}
		for i, d := range s.Runs {
			if d == nil || len(side.Runs) >= runs {
				continue
			}
			out := d.Outline(points)
			line, err := out.Planes.Text()
			if err != nil {
				return nil, nil, err
			}
			lines.WriteString(line)
			lines.WriteByte('\n')
			side.Runs = append(side.Runs, run{Index: i, Document: out})
		}
		c.Sides = append(c.Sides, side)
	}
	// Marshal escapes what HTML would take for its own in the comparison's JSON too.
	data, err = json.Marshal(c)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the data of the page: %w", err)
	}
	return data, lines.Bytes(), nil
}
