package media

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"time"
)

// Sound says what a WAV file is like.
type Sound struct {
	Length   time.Duration
	Rate     int // samples per second; 0: 16000
	Depth    int // bits of a sample: 8, 16 (also when 0), 24 or 32
	Channels int // 0: 1
}

// WAV is a file of uncompressed sound: silence, or noise where there is something to
// draw it from.
func WAV(s Sound, noise *rand.Rand) []byte {
	if s.Rate == 0 {
		s.Rate = 16000
	}
	if s.Depth == 0 {
		s.Depth = 16
	}
	if s.Channels == 0 {
		s.Channels = 1
	}
	samples := max(1, int(math.Round(s.Length.Seconds()*float64(s.Rate)))) * s.Channels
	size := samples * s.Depth / 8
	b := make([]byte, 0, 44+size+1)
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(36+size+size&1))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, uint16(s.Channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(s.Rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(s.Rate*s.Channels*s.Depth/8))
	b = binary.LittleEndian.AppendUint16(b, uint16(s.Channels*s.Depth/8))
	b = binary.LittleEndian.AppendUint16(b, uint16(s.Depth))
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	for range samples {
		v := 0.0
		if noise != nil {
			v = min(max(0.3*noise.NormFloat64(), -1), 1)
		}
		b = appendSample(b, v, s.Depth)
	}
	if size&1 == 1 {
		b = append(b, 0)
	}
	return b
}

// appendSample appends a value from -1 to 1. Samples of eight bits have no sign.
func appendSample(b []byte, v float64, depth int) []byte {
	n := int64(v * float64(int64(1)<<(depth-1)-1))
	if depth == 8 {
		return append(b, byte(n+128))
	}
	for shift := 0; shift < depth; shift += 8 {
		b = append(b, byte(n>>shift))
	}
	return b
}
