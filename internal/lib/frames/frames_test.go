package frames

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// compressed is text as frames of that many bytes, of blocks of at most so many.
func compressed(t testing.TB, text []byte, frame, piece int, options ...zstd.EOption) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, append([]zstd.EOption{zstd.WithEncoderConcurrency(1)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	for part := range slices.Chunk(text, frame) {
		for piece := range slices.Chunk(part, piece) {
			_, err := w.Write(piece)
			if err = errors.Join(err, w.Flush()); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		w.Reset(&out)
	}
	return out.Bytes()
}

// skipped is a frame that readers pass over.
func skipped(size int) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 0x184D2A5D)
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	return append(b, bytes.Repeat([]byte{7}, size)...)
}

// words is text that can be compressed, though not to nothing.
func words(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	list := []string{"request ", "sent ", "read ", "12345 ", "event ", "\n"}
	var b []byte
	for len(b) < n {
		b = append(b, list[rnd.IntN(len(list))]...)
	}
	return b[:n]
}

// inOrder is what a reader gives that goes through a file from its first byte to its last.
func inOrder(src io.Reader) ([]byte, error) {
	z, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(MaxWindow))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return io.ReadAll(z)
}

func onCores(src io.Reader, cores int) ([]byte, error) {
	r, err := NewDecompressor(src, cores, "")
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// alike reports where reading on several cores gives something else than reading in order.
func alike(t *testing.T, what string, src func() io.Reader) {
	t.Helper()
	want, wantErr := inOrder(src())
	got, err := onCores(src(), 3)
	if !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes on several cores, %d in order, or other ones", what, len(got), len(want))
	}
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Errorf("%s: error %v on several cores, %v in order", what, err, wantErr)
	}
}

func TestFilesAreReadAsInOrder(t *testing.T) {
	text := words(300_000)
	noise := make([]byte, 40_000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	tests := map[string][]byte{
		"nothing":                     {},
		"one frame":                   compressed(t, text, len(text), 100_000),
		"many frames":                 compressed(t, text, 10_000, 4_000),
		"what is not compressed":      compressed(t, noise, 9_000, 3_000),
		"one byte, repeated":          compressed(t, bytes.Repeat([]byte("x"), 500_000), 200_000, 200_000),
		"no checksums":                compressed(t, text, 10_000, 4_000, zstd.WithEncoderCRC(false)),
		"single segments":             compressed(t, text, 10_000, 4_000, zstd.WithSingleSegment(true)),
		"frames to pass over":         slices.Concat(skipped(0), compressed(t, text, 50_000, 20_000), skipped(70_000), skipped(5), compressed(t, text, 50_000, 20_000), skipped(3)),
		"an empty frame":              slices.Concat(compressed(t, text, 50_000, 20_000), emptyFrame(t), compressed(t, text, 50_000, 20_000)),
		"a frame of very many blocks": compressed(t, text, len(text), 1_000),
		"no frame":                    []byte("this is text\n"),
		"text behind frames":          append(compressed(t, text, 50_000, 20_000), "and this is text\n"...),
		"a window beyond bounds":      compressed(t, text, len(text), len(text), zstd.WithWindowSize(128<<20)),
	}
	for name, file := range tests {
		alike(t, name, func() io.Reader { return bytes.NewReader(file) })
		alike(t, name+", read byte by byte", func() io.Reader { return iotest.OneByteReader(bytes.NewReader(file)) })
		broken := errors.New("disk is gone")
		alike(t, name+", and an error", func() io.Reader {
			return io.MultiReader(bytes.NewReader(file[:len(file)/2]), iotest.ErrReader(broken))
		})
	}
}

func emptyFrame(t *testing.T) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil, zstd.WithZeroFrames(true))
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(nil, nil)
}

// A file that ends anywhere, as that of a killed run, or is damaged anywhere.
func TestCutAndDamagedFilesAreReadAsInOrder(t *testing.T) {
	file := slices.Concat(skipped(9), compressed(t, words(300), 150, 60), skipped(20), compressed(t, words(100), 100, 100))
	for i := range file {
		alike(t, "cut", func() io.Reader { return bytes.NewReader(file[:i]) })
		damaged := bytes.Clone(file)
		damaged[i] ^= 1 << (i % 8)
		alike(t, "damaged", func() io.Reader { return bytes.NewReader(damaged) })
		if t.Failed() {
			t.Fatalf("at byte %d of %d", i, len(file))
		}
	}
}

// Marked frames are passed over, and found to be cut.
func TestMarkedFramesArePassedOver(t *testing.T) {
	const mark = "\x5e\x2a\x4d\x18\x00\x00\x00\x00"
	one, two, other := words(500), words(700), []byte("the others\n")
	marked := append([]byte(mark), compressed(t, one, 500, 100)...)
	file := slices.Concat(compressed(t, other, 99, 99), marked, marked, skipped(3), compressed(t, two, 700, 200), []byte(mark), skipped(9),
		compressed(t, other, 99, 99), marked)
	read := func(file []byte) (string, error) {
		r, err := NewDecompressor(bytes.NewReader(file), 2, mark)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		text, err := io.ReadAll(r)
		return string(text), err
	}
	if text, err := read(file); text != string(slices.Concat(other, two, other)) || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
	for n := 1; n < len(marked); n++ {
		if _, err := read(file[:len(file)-n]); n != len(marked)-len(mark) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a marked frame that lacks %d of its %d bytes: %v", n, len(marked), err)
		}
	}
}

// Closing in the middle ends what reads and decompresses.
func TestCloseInTheMiddle(t *testing.T) {
	file := compressed(t, words(300_000), 3_000, 3_000)
	for _, n := range []int{0, 1, 5_000} {
		r, err := NewDecompressor(bytes.NewReader(file), 2, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		r.Close()
		r.Close()
		if _, err := r.Read(make([]byte, 1)); !errors.Is(err, zstd.ErrDecoderClosed) {
			t.Errorf("read after Close: %v", err)
		}
	}
}

func FuzzDecompressor(f *testing.F) {
	f.Add(compressed(f, words(900), 300, 100))
	f.Add(slices.Concat(skipped(3), compressed(f, words(100), 100, 100), skipped(0)))
	f.Add([]byte("\x28\xb5\x2f\xfd\x00\x00\x09\x00\x00"))
	mutate.Fuzz(f, func(t *testing.T, file []byte) {
		alike(t, "file", func() io.Reader { return bytes.NewReader(file) })
	})
}

func BenchmarkRead(b *testing.B) {
	file := compressed(b, words(64<<20), 512<<10, 16<<10)
	for name, read := range map[string]func(io.Reader) ([]byte, error){
		"in order": inOrder,
		"cores":    func(r io.Reader) ([]byte, error) { return onCores(r, 2) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(64 << 20)
			for b.Loop() {
				if _, err := read(bytes.NewReader(file)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
