package cluster

import (
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/inferometer/inferometer/internal/lib/cond"
)

// feed hands the records of a worker to a reader, frame by frame, and knows up to which frame
// they have been read.
type feed struct {
	z *zstd.Decoder

	state  cond.Cond // guards the following
	text   []byte    // not yet read
	frames uint64    // put
	read   uint64    // read to their last line
	ended  bool
}

func newFeed() (*feed, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	return &feed{z: z}, err
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
	f.state.Update(func() { f.text, f.frames = text, number })
	return nil
}

// end says that there are no more frames.
func (f *feed) end() { f.state.Update(func() { f.ended = true }) }

// Read implements io.Reader. A reader that asks for more has taken in every whole line, and
// frames end with a line.
func (f *feed) Read(p []byte) (n int, err error) {
	f.state.Update(func() {
		if len(f.text) == 0 {
			f.read = f.frames
		}
	})
	if err := f.state.Wait(context.Background(), func() bool { return len(f.text) > 0 || f.ended }); err != nil {
		return 0, err
	}
	f.state.Lock()
	defer f.state.Unlock()
	if len(f.text) == 0 {
		return 0, io.ErrUnexpectedEOF // what is under way by now has no end any more
	}
	n = copy(p, f.text)
	f.text = f.text[n:]
	return n, nil
}

// await waits until so many frames were read, or there will be no more.
func (f *feed) await(ctx context.Context, frames uint64) error {
	return f.state.Wait(ctx, func() bool { return f.read >= frames || f.ended })
}
