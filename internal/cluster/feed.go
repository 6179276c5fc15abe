package cluster

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// feed hands the records of a worker to a reader, frame by frame, and knows up to which frame
// they have been read.
type feed struct {
	z *zstd.Decoder

	mu      sync.Mutex
	changed chan struct{} // closed and made anew with every change
	text    []byte        // not yet read
	frames  uint64        // put
	read    uint64        // read to their last line
	ended   bool
}

func newFeed() (*feed, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	return &feed{z: z, changed: make(chan struct{})}, err
}

func (f *feed) change() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// put adds a frame. It waits until the one before was read, so that memory holds two.
func (f *feed) put(ctx context.Context, number uint64, frame []byte) error {
	if err := f.await(ctx, number-1); err != nil {
		return err
	}
	text, err := f.z.DecodeAll(frame, nil)
	if err != nil {
		return fmt.Errorf("frame %d of its records: %w", number, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.text, f.frames = text, number
	f.change()
	return nil
}

// end says that there are no more frames.
func (f *feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.change()
}

// Read implements io.Reader. A reader that asks for more has taken in every whole line, and
// frames end with a line.
func (f *feed) Read(p []byte) (int, error) {
	for {
		f.mu.Lock()
		if len(f.text) > 0 {
			n := copy(p, f.text)
			f.text = f.text[n:]
			f.mu.Unlock()
			return n, nil
		}
		if f.read != f.frames {
			f.read = f.frames
			f.change()
		}
		wait, over := f.changed, f.ended
		f.mu.Unlock()
		if over {
			return 0, io.ErrUnexpectedEOF // what is under way by now has no end any more
		}
		<-wait
	}
}

// await waits until so many frames were read, or there will be no more.
func (f *feed) await(ctx context.Context, frames uint64) error {
	for {
		f.mu.Lock()
		wait, done := f.changed, f.read >= frames || f.ended
		f.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
