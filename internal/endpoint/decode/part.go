package decode

import (
	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/record"
)

// Part is what one JSON object of a response adds to its text: an event of a stream, or
// the whole of a response that was not streamed.
type Part struct {
	Scan     jsonscan.Scanner // over the object's bytes
	Text     []byte           // the response's text so far, to which the object's own is added
	Channels [channels]bool   // what the object carries, by label
	Blank    bool             // it has a text that is empty
	Texts    int              // strings of text that are not empty
	Start    int              // where the body of the last one starts in the object's bytes
	End      int              // where it ends
	// Apart: visible text is also kept on its own, in Visible.
	Apart   bool
	Visible []byte
}

// channels is the number of labels that carry text.
const channels = int(record.Refusal) + 1

// Begin turns to the response's next object, and gives the length of the text before, for Finish.
func (p *Part) Begin(data []byte) (before int) {
	p.Channels, p.Blank, p.Texts, p.Start, p.End = [channels]bool{}, false, 0, 0, 0
	p.Scan.Reset(data)
	return len(p.Text)
}

// Finish ends an object. After an error the text is as it was before.
func (p *Part) Finish(before int) error {
	p.Scan.End()
	if err := p.Scan.Err(); err != nil {
		p.Text = p.Text[:before]
		return err
	}
	return nil
}

// AppendString adds a string to the text. Anything but a string is skipped.
func (p *Part) AppendString(label record.EventKind) {
	s := &p.Scan
	if s.Peek() != '"' {
		s.Skip()
		return
	}
	start, before := s.Pos()+1, len(p.Text)
	body, escaped := s.String()
	if len(body) == 0 {
		p.Blank = true
		return
	}
	p.Channels[label] = true
	p.Texts++
	p.Start, p.End = start, start+len(body)
	if escaped {
		p.Text = jsonscan.AppendUnescaped(p.Text, body)
	} else {
		p.Text = append(p.Text, body...)
	}
	if p.Apart && label == record.Content {
		p.Visible = append(p.Visible, p.Text[before:]...)
	}
}

// Count reads a number of tokens. What is no such number is as good as absent.
func (p *Part) Count(n *int) {
	if v := Count(&p.Scan); v >= 0 {
		*n = v
	}
}
