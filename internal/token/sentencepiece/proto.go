package sentencepiece

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

var errCut = errors.New("it is truncated, or not a SentencePiece model")

type field struct {
	number int
	bits   uint64 // of a number
	bytes  []byte // of a string or a message; nil for a number
}

// next takes a message's first field and returns what follows.
func next(b []byte) (field, []byte, error) {
	number, kind, n := protowire.ConsumeTag(b)
	if n < 0 {
		return field{}, nil, errCut
	}
	b = b[n:]
	f := field{number: int(number)}
	switch kind {
	case protowire.VarintType:
		f.bits, n = protowire.ConsumeVarint(b)
	case protowire.Fixed64Type:
		f.bits, n = protowire.ConsumeFixed64(b)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(b)
	case protowire.Fixed32Type:
		var bits uint32
		bits, n = protowire.ConsumeFixed32(b)
		f.bits = uint64(bits)
	default:
		n = -1
	}
	if n < 0 {
		return field{}, nil, errCut
	}
	return f, b[n:], nil
}

func each(b []byte, f func(field) error) error {
	for len(b) > 0 {
		fd, rest, err := next(b)
		if err == nil {
			err = f(fd)
		}
		if err != nil {
			return err
		}
		b = rest
	}
	return nil
}

type pieceKind uint8

const (
	normalPiece  pieceKind = 1
	unknownPiece pieceKind = 2
	controlPiece pieceKind = 3
	userPiece    pieceKind = 4
	unusedPiece  pieceKind = 5
	bytePiece    pieceKind = 6
)

type piece struct {
	text  string
	score float32
	kind  pieceKind
}

// The kinds of models.
const (
	unigramModel = 1
	bpeModel     = 2
	wordModel    = 3
	charModel    = 4
)

type model struct {
	pieces []piece

	kind             int
	byteFallback     bool
	spaceAsSuffix    bool
	unkSurface       string
	unkID, bosID     int
	eosID            int
	charsmap         []byte
	dummyPrefix      bool
	removeExtra      bool
	escapeSpaces     bool
	denormalizer     bool // there are rules for decoding
	hasTrainer, norm bool
}

// read reads a file, with the defaults of the format.
func read(data []byte) (*model, error) {
	m := &model{
		kind: unigramModel, unkSurface: " \u2047 ", unkID: 0, bosID: 1, eosID: 2,
		dummyPrefix: true, removeExtra: true, escapeSpaces: true,
	}
	err := each(data, func(f field) error {
		switch f.number {
		case 1:
			return m.piece(f.bytes)
		case 2:
			m.hasTrainer = true
			return m.trainer(f.bytes)
		case 3:
			m.norm = true
			return m.normalizer(f.bytes)
		case 5:
			return each(f.bytes, func(f field) error {
				m.denormalizer = m.denormalizer || (f.number == 2 && len(f.bytes) > 0)
				return nil
			})
		}
		return nil
	})
	if err == nil && (!m.hasTrainer || !m.norm || len(m.pieces) == 0) {
		err = errCut
	}
	return m, err
}

func (m *model) piece(b []byte) error {
	p := piece{kind: normalPiece}
	err := each(b, func(f field) error {
		switch f.number {
		case 1:
			p.text = string(f.bytes)
		case 2:
			p.score = math.Float32frombits(uint32(f.bits))
		case 3:
			p.kind = pieceKind(min(f.bits, 255))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if p.kind < normalPiece || p.kind > bytePiece || p.text == "" || math.IsNaN(float64(p.score)) {
		return fmt.Errorf("piece %d, %q, has an unknown kind, no text or no score", len(m.pieces), p.text)
	}
	m.pieces = append(m.pieces, p)
	return nil
}

func (m *model) trainer(b []byte) error {
	return each(b, func(f field) error {
		id := int(int32(f.bits))
		switch f.number {
		case 3:
			m.kind = id
		case 24:
			m.spaceAsSuffix = f.bits != 0
		case 35:
			m.byteFallback = f.bits != 0
		case 40:
			m.unkID = id
		case 41:
			m.bosID = id
		case 42:
			m.eosID = id
		case 44:
			m.unkSurface = string(f.bytes)
		}
		return nil
	})
}

func (m *model) normalizer(b []byte) error {
	return each(b, func(f field) error {
		switch f.number {
		case 2:
			m.charsmap = f.bytes
		case 3:
			m.dummyPrefix = f.bits != 0
		case 4:
			m.removeExtra = f.bits != 0
		case 5:
			m.escapeSpaces = f.bits != 0
		}
		return nil
	})
}
