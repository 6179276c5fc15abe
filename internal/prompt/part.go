package prompt

import (
	"strings"
	"time"
)

// PartKind says what a Part is.
type PartKind uint8

// The kinds of parts.
const (
	Text PartKind = iota
	Image
	Audio
	Video
)

// Part is a piece of a message that holds more than text.
type Part struct {
	Kind PartKind
	Text string // of a Text
	Type string // media type, such as image/png
	Data []byte // the bytes of a medium
	URL  string // in place of Data: where the server finds it

	// What is known of a medium beside its bytes; 0: nothing.
	Width, Height int
	Frames        int // of a video; an Image with a number here is the frame of that number, from 1
	Length        time.Duration
}

// Format is the last half of a media type: png of image/png.
func (p *Part) Format() string { return p.Type[strings.LastIndexByte(p.Type, '/')+1:] }
