package normalizer

import (
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/component"
	"github.com/inferometer/inferometer/internal/token/unidata"
)

type bert struct {
	clean, chinese, accents, lower bool

	dropped, space, accent *unidata.Set
	nfd                    Normalizer
	lowercase              lowercase
}

func bertFromJSON(raw []byte) (Normalizer, error) {
	var d struct {
		Clean   bool  `json:"clean_text"`
		Chinese bool  `json:"handle_chinese_chars"`
		Accents *bool `json:"strip_accents"`
		Lower   bool  `json:"lowercase"`
	}
	if err := component.Fields(raw, &d, "clean_text", "handle_chinese_chars", "lowercase"); err != nil {
		return nil, err
	}
	accents := d.Lower
	if d.Accents != nil {
		accents = *d.Accents
	}
	return &bert{
		clean: d.Clean, chinese: d.Chinese, accents: accents, lower: d.Lower,
		dropped: unidata.BertDropped(), space: unidata.BertSpace(), accent: unidata.BertAccent(),
		nfd: nfd(), lowercase: lowercase{lowerPages()},
	}, nil
}

// Normalize cleans, sets Chinese characters apart, drops accents and lowers letters, as told.
func (t *bert) Normalize(s string) string {
	ascii := true
	b := make([]byte, 0, len(s)+len(s)/16+8)
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			if t.clean {
				if c == '\t' || c == '\n' || c == '\r' {
					c = ' '
				} else if c < ' ' || c == 0x7f {
					continue
				}
			}
			b = append(b, c)
			continue
		}
		ascii = false
		r, size := utf8.DecodeRuneInString(s[i:])
		part := s[i : i+size]
		i += size
		switch {
		case t.clean && t.dropped.Has(r):
		case t.clean && t.space.Has(r):
			b = append(b, ' ')
		case t.chinese && chinese(r):
			b = append(b, ' ')
			b = append(b, part...)
			b = append(b, ' ')
		default:
			b = append(b, part...)
		}
	}
	if ascii {
		if t.lower {
			for i, c := range b {
				if 'A' <= c && c <= 'Z' {
					b[i] = c + 'a' - 'A'
				}
			}
		}
		return string(b)
	}
	out := string(b)
	if t.accents {
		out = drop(t.nfd.Normalize(out), t.accent)
	}
	if t.lower {
		out = t.lowercase.Normalize(out)
	}
	return out
}

// chinese is the characters that BERT sets apart. The gap before U+2B920 is its own.
func chinese(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4dbf, 0x4e00 <= r && r <= 0x9fff, 0xf900 <= r && r <= 0xfaff,
		0x20000 <= r && r <= 0x2a6df, 0x2a700 <= r && r <= 0x2b73f, 0x2b740 <= r && r <= 0x2b81f,
		0x2b920 <= r && r <= 0x2ceaf, 0x2f800 <= r && r <= 0x2fa1f:
		return true
	}
	return false
}
