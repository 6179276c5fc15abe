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
