package record

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"
)

const benchEvents = 512

// reportEvents states the speed in events, which is what the budget is in.
func reportEvents(b *testing.B, records int) {
	b.ReportMetric(float64(records)*benchEvents/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkAppendJSON(b *testing.B) {
	rec, n := stream(benchEvents), 0
	var dst []byte
	for b.Loop() {
		dst = AppendJSON(dst[:0], rec, false)
		n++
	}
	b.ReportMetric(float64(len(dst))/benchEvents, "bytes/event")
	reportEvents(b, n)
}

func BenchmarkWrite(b *testing.B) {
	w, err := NewWriter(io.Discard, testHeader)
	if err != nil {
		b.Fatal(err)
	}
	rec, n := stream(benchEvents), 0
	var dst []byte
	for b.Loop() {
		rec.Seq++
		// Noise, so that the compressor does not find the last line again.
		for i := range rec.Marks {
			rec.Marks[i].User += noise(n, i)
		}
		dst = AppendJSON(dst[:0], rec, false)
		if err := w.Append(dst); err != nil {
			b.Fatal(err)
		}
		n++
	}
	reportEvents(b, n)
}

func BenchmarkRead(b *testing.B) {
	var file bytes.Buffer
	w, err := NewWriter(&file, testHeader)
	if err != nil {
		b.Fatal(err)
	}
	rec := stream(benchEvents)
	const lines = 200
	for n := range lines {
		for i := range rec.Marks {
			rec.Marks[i].User += noise(n, i)
		}
		if err := w.Append(AppendJSON(nil, rec, false)); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(file.Bytes()))
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err = r.Next(); err != nil {
				break
			}
			n++
		}
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
		r.Close()
	}
	reportEvents(b, n)
}

// BenchmarkDecode reads lines as short responses have them, uncompressed.
func BenchmarkDecode(b *testing.B) {
	var lines [64][]byte
	rec := stream(16)
	rec.Labels = nil
	for n := range lines {
		rec.Seq += 13
		rec.Due += 7_919 * time.Microsecond
		for i := range rec.Marks {
			rec.Marks[i].User += noise(n, i)
		}
		lines[n] = bytes.TrimSuffix(AppendJSON(nil, rec, false), []byte("\n"))
	}
	var d lineDecoder
	var to Record
	n := 0
	for b.Loop() {
		if err := d.decode(lines[n%len(lines)], &to); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

// noise is some nanoseconds that differ from read to read.
func noise(n, i int) time.Duration { return time.Duration((n*1_000_003+i*7919)*2654435761%4096) - 2048 }
