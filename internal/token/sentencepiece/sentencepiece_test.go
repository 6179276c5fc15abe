package sentencepiece

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/filetest"
)

func plain(name string, data []byte) (*token.Pipeline, error) { return Read(name, data, Options{}) }

func TestSmall(t *testing.T) { filetest.Small(t, "../filetest/testdata", "*.model", plain) }

func TestReal(t *testing.T) { filetest.Real(t, "*.model", plain) }

// message builds a protocol buffer message.
type message []byte

func (m message) bytes(number int, b []byte) message {
	m = binary.AppendUvarint(m, uint64(number<<3|2))
	m = binary.AppendUvarint(m, uint64(len(b)))
	return append(m, b...)
}

func (m message) number(number int, v uint64) message {
	m = binary.AppendUvarint(m, uint64(number<<3))
	return binary.AppendUvarint(m, v)
}

func (m message) float(number int, v float32) message {
	m = binary.AppendUvarint(m, uint64(number<<3|5))
	return binary.LittleEndian.AppendUint32(m, math.Float32bits(v))
}

// file is a model of pieces, each with its kind, and of settings.
func file(pieces []piece, trainer, normalizer message) []byte {
	var m message
	for _, p := range pieces {
		m = m.bytes(1, message(nil).bytes(1, []byte(p.text)).float(2, p.score).number(3, uint64(p.kind)))
	}
	return m.bytes(2, trainer).bytes(3, normalizer)
}

func tiny() []piece {
	return []piece{{"<unk>", 0, unknownPiece}, {"<s>", 0, controlPiece}, {"</s>", 0, controlPiece}, {"a", -1, normalPiece}, {"b", -2, normalPiece}, {"ab", -3, normalPiece}, {space, -4, normalPiece}}
}

func TestSpecial(t *testing.T) {
	yes, no := true, false
	data := file(tiny(), message(nil).number(3, bpeModel), nil)
	for _, tc := range []struct {
		o    Options
		want []int32
	}{
		{Options{}, []int32{1, 6, 5}},
		{Options{BOS: &no}, []int32{6, 5}},
		{Options{EOS: &yes}, []int32{1, 6, 5, 2}},
		{Options{BOS: &no, EOS: &yes}, []int32{6, 5, 2}},
	} {
		e, err := Read("tiny", data, tc.o)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Encode("ab", true); !slices.Equal(got, tc.want) {
			t.Errorf("%v, want %v", got, tc.want)
		}
		if got := e.Decode(tc.want, true); got != "ab" {
			t.Errorf("decoded %q", got)
		}
	}
}

func TestFaults(t *testing.T) {
	bpeKind := message(nil).number(3, bpeModel)
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "truncated"},
		{"text", []byte("hello, world"), "truncated"},
		{"model of no type", file(tiny(), message(nil).number(3, 7), nil), "its type is 7; unigram (1)"},
		{"unused", file(append(tiny(), piece{"x", 0, unusedPiece}), bpeKind, nil), `the piece "x" is marked as unused`},
		{"no unknown", file(tiny()[1:], bpeKind, nil), "it has 0 unknown pieces"},
		{"twice", file(append(tiny(), piece{"a", 0, normalPiece}), bpeKind, nil), `the piece "a" appears twice`},
		{"kind", file(append(tiny(), piece{"x", 0, 9}), bpeKind, nil), "has an unknown kind"},
		{"bytes", file(tiny(), bpeKind.number(35, 1), nil), "it has 0 byte pieces"},
		{"charsmap", file(tiny(), bpeKind, message(nil).bytes(2, []byte{9, 0, 0, 0, 1})), "character map is truncated"},
		{"denormalizer", message(file(tiny(), bpeKind, nil)).bytes(5, message(nil).bytes(2, []byte{1})), "denormalizer"},
	} {
		_, err := Read("f", tc.data, Options{})
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "SentencePiece model f") {
			t.Errorf("%s: %v; want %q", tc.name, err, tc.want)
		}
	}
	if !Is(file(tiny(), nil, nil)) || Is([]byte("{}")) || Is([]byte("AA== 0\n")) || Is(nil) {
		t.Error("Is takes one for the other")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file(tiny(), message(nil).number(3, bpeModel), nil), "ab c")
	f.Add(file(append(tiny(), piece{"xy", 0, userPiece}), nil, message(nil).bytes(2, []byte{4, 0, 0, 0, 1, 2, 3, 4, 65, 0}).number(4, 0)), "xya\xff b")
	mutate.Fuzz(f, func(t *testing.T, data []byte, text string) {
		Is(data)
		e, err := Read("f", data, Options{})
		if err == nil {
			e.Decode(e.Encode(text, true), false)
		}
	})
}
