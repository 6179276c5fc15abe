package bus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

func TestFramesComeInOrder(t *testing.T) {
	b := dial(t, serve(t, ServerOptions{}).URL(), "run")
	o, f := outbox(t, b, "w1")
	in := inbox(t, b, "w1")
	const frames = 100
	for i := 1; i <= frames; i++ {
		f.add(o, frame("w1", i))
	}
	closing := closes(t, o)
	receive(t, in, 1, -1)
	closing.Wait()
	if n := o.Acknowledged(); n != frames || in.frames != frames {
		t.Errorf("of %d frames %d came and %d are acknowledged", frames, in.frames, n)
	}
	if err := o.Err(); err != nil {
		t.Errorf("the outbox ended with %v", err)
	}
	for name := range b.js.StreamNames(limited(t)).Name() {
		t.Errorf("stream %s is left", name)
	}
}

// closes ends an outbox while somebody else reads.
func closes(t *testing.T, o *Outbox) *sync.WaitGroup {
	var w sync.WaitGroup
	w.Go(func() {
		if err := o.Close(limited(t)); err != nil {
			t.Error(err)
		}
	})
	return &w
}

func TestLargeFramesAreSplitAndJoined(t *testing.T) {
	b := dial(t, serve(t, ServerOptions{}).URL(), "run")
	o, f := outbox(t, b, "w1")
	in := inbox(t, b, "w1")
	var sent [][]byte
	for i, size := range []int{0, 1, partSize - 1, partSize, partSize + 1, 1 << 20, 3<<20 + 5, 7} {
		data := bytes.Repeat([]byte{byte('a' + i)}, size)
		for j := 0; j < size; j += 1000 {
			data[j] = byte(j / 1000)
		}
		sent = append(sent, data)
		f.add(o, data)
	}
	closing := closes(t, o)
	for i, want := range sent {
		got, err := in.Next(limited(t))
		if err != nil || !bytes.Equal(got.Data, want) || got.Number != uint64(i+1) {
			t.Fatalf("frame %d: %d bytes, number %d, error %v; want %d bytes as they were sent", i+1, len(got.Data), got.Number, err, len(want))
		}
	}
	if _, err := in.Next(limited(t)); !errors.Is(err, io.EOF) {
		t.Errorf("after the last frame: %v", err)
	}
	in.Acknowledge(uint64(len(sent)))
	closing.Wait()
}

func TestWorkerWithoutFrames(t *testing.T) {
	b := dial(t, serve(t, ServerOptions{}).URL(), "run")
	o, _ := outbox(t, b, "w1")
	in := inbox(t, b, "w1")
	closing := closes(t, o)
	receive(t, in, 1, -1)
	closing.Wait()
}

func TestEightSendersIntoOneReceiver(t *testing.T) {
	s := serve(t, ServerOptions{})
	coordinator := dial(t, s.URL(), "run")
	var all sync.WaitGroup
	const frames = 100
	for i := range 8 {
		name := fmt.Sprintf("worker %d", i)
		o, f := outbox(t, dial(t, s.URL(), "run"), name)
		in := inbox(t, coordinator, name)
		all.Go(func() {
			for n := 1; n <= frames; n++ {
				f.add(o, frame(name, n))
			}
			if err := o.Close(limited(t)); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			receive(t, in, 1, -1)
			if in.frames != frames {
				t.Errorf("%s: %d frames of %d", name, in.frames, frames)
			}
		})
	}
	all.Wait()
}

func TestTwoRunsDoNotMix(t *testing.T) {
	s := serve(t, ServerOptions{})
	// Names that would meet, if they were just put together.
	for _, run := range []string{"a", "a+w", "a.w", "a w", "a=2ew"} {
		b := dial(t, s.URL(), run)
		for _, worker := range []string{"w", "w+w", "w.w"} {
			o, f := outbox(t, b, worker)
			in := inbox(t, b, worker)
			f.add(o, frame(worker, 1))
			receive(t, in, 1, 1)
		}
	}
}

func TestNameIsTaken(t *testing.T) {
	b := dial(t, serve(t, ServerOptions{}).URL(), "run")
	outbox(t, b, "w1")
	if _, err := b.Outbox(limited(t), "w1", &file{}); !errors.Is(err, ErrTaken) {
		t.Errorf("a second outbox of the same name: %v", err)
	}
	if _, err := b.Inbox(limited(t), "w2"); err == nil || !strings.Contains(err.Error(), "w2") {
		t.Errorf("an inbox of a worker that is not there: %v", err)
	}
	if err := b.RemoveRecords(limited(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Inbox(limited(t), "w1"); err == nil {
		t.Error("an inbox after the streams were removed")
	}
}

func TestWorkerIsGivenUp(t *testing.T) {
	b := dial(t, serve(t, ServerOptions{}).URL(), "run")
	o, f := outbox(t, b, "w1")
	in := inbox(t, b, "w1")
	for i := 1; i <= 5; i++ {
		f.add(o, frame("w1", i))
	}
	receive(t, in, 1, 2)
	eventually(t, "5 frames in the stream", func() bool {
		i, err := b.state(limited(t), "w1")
		return err == nil && i.State.LastSeq == 5
	})
	if err := in.Lost(limited(t)); err != nil {
		t.Fatal(err)
	}
	f.add(o, frame("w1", 6)) // too late
	receive(t, in, 3, 3)
	if _, err := in.Next(limited(t)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("after the last frame of a lost worker: %v", err)
	}
	<-o.Done()
	if err := o.Err(); !errors.Is(err, ErrLost) {
		t.Errorf("the outbox ended with %v", err)
	}
	if err := o.Close(limited(t)); !errors.Is(err, ErrLost) {
		t.Errorf("Close returned %v", err)
	}
}

func TestLossIsSeen(t *testing.T) {
	b := dial(t, serve(t, ServerOptions{}).URL(), "run")
	o, f := outbox(t, b, "w1")
	for i := 1; i <= 5; i++ {
		f.add(o, frame("w1", i))
	}
	eventually(t, "5 frames in the stream", func() bool {
		i, err := b.state(limited(t), "w1")
		return err == nil && i.State.LastSeq == 5
	})
	stream, err := b.js.Stream(limited(t), b.stream("w1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.DeleteMsg(limited(t), 3); err != nil {
		t.Fatal(err)
	}
	in := inbox(t, b, "w1")
	receive(t, in, 1, 2)
	if _, err := in.Next(limited(t)); err == nil || !strings.Contains(err.Error(), "frame 4 follows on frame 2") {
		t.Errorf("a frame is missing: %v", err)
	}
}

func TestUnreadableFile(t *testing.T) {
	b := dial(t, serve(t, ServerOptions{}).URL(), "run")
	o, err := b.Outbox(limited(t), "w1", brokenFile{})
	if err != nil {
		t.Fatal(err)
	}
	o.Add(17, 100)
	<-o.Done()
	if err := o.Close(limited(t)); !errors.Is(err, iotest.ErrTimeout) || !strings.Contains(err.Error(), "frame 1 at byte 17") {
		t.Errorf("Close returned %v", err)
	}
}

type brokenFile struct{}

func (brokenFile) ReadAt([]byte, int64) (int, error) { return 0, iotest.ErrTimeout }

func TestFrameIsTooLarge(t *testing.T) {
	b := dial(t, serve(t, ServerOptions{}).URL(), "run")
	o, _ := outbox(t, b, "w1")
	o.Add(0, maxFrame+1)
	<-o.Done()
	if err := o.Err(); err == nil || !strings.Contains(err.Error(), "frame 1 of worker w1 has 4194305 bytes") {
		t.Errorf("the outbox ended with %v", err)
	}
}

func TestNobodyReads(t *testing.T) {
	b := dial(t, serve(t, ServerOptions{}).URL(), "run")
	o, f := outbox(t, b, "w1")
	f.add(o, frame("w1", 1))
	ctx, cancel := context.WithCancelCause(limited(t))
	cancel(errors.New("no time left"))
	if err := o.Close(ctx); err == nil || !strings.Contains(err.Error(), "has 0 frames of 1: no time left") {
		t.Errorf("Close returned %v", err)
	}
	if err := o.Abandon(limited(t)); err != nil {
		t.Error(err)
	}
	if _, err := b.Inbox(limited(t), "w1"); err == nil {
		t.Error("the stream is left")
	}
}

// A coordinator that is behind costs NATS a window, and the worker nothing.
func TestWindow(t *testing.T) {
	b := dial(t, serve(t, ServerOptions{}).URL(), "run")
	const size = 1 << 20
	frames := window/size + 4
	o := loaded(t, b, frames, size)
	var held uint64
	eventually(t, "a full window", func() bool {
		i, err := b.state(limited(t), "w1")
		if err == nil {
			held = i.State.Bytes
		}
		return held > window-size
	})
	if held > window+window/100 {
		t.Errorf("NATS holds %d bytes, more than %d", held, window)
	}
	in := inbox(t, b, "w1")
	closing := closes(t, o)
	for i := range frames {
		f, err := in.Next(limited(t))
		if err != nil || len(f.Data) != size {
			t.Fatalf("frame %d: %d bytes, %v", i+1, len(f.Data), err)
		}
		in.Acknowledge(f.Number)
	}
	receive(t, in, frames+1, -1)
	closing.Wait()
}

// Frames that wait for room in the window get it while others are added all the time.
func TestWindowMovesOnWhileFramesCome(t *testing.T) {
	b := dial(t, serve(t, ServerOptions{}).URL(), "run")
	const size = 1 << 20
	frames := 3 * window / size
	o := loaded(t, b, frames, size)
	ctx, enough := context.WithCancel(limited(t))
	var adding sync.WaitGroup
	adding.Go(func() {
		for tick := time.NewTicker(time.Millisecond); ctx.Err() == nil; <-tick.C {
			o.Add(0, 1)
		}
	})
	defer adding.Wait()
	defer enough()
	in := inbox(t, b, "w1")
	for range frames {
		f, err := in.Next(limited(t))
		if err != nil || len(f.Data) != size {
			t.Fatalf("frame %d: %d bytes, %v", f.Number, len(f.Data), err)
		}
		in.Acknowledge(f.Number)
	}
}

// loaded is the outbox of w1 with so many frames of a size to send.
func loaded(t *testing.T, b *Bus, frames, size int) *Outbox {
	t.Helper()
	o, err := b.Outbox(limited(t), "w1", zeros{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.end)
	for range frames {
		o.Add(0, size)
	}
	return o
}

type zeros struct{}

func (zeros) ReadAt(p []byte, _ int64) (int, error) { return len(p), nil }
