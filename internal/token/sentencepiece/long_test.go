package sentencepiece

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"testing"
)

// A text of which the scores add up to more than single precision can tell apart has the
// ids of SentencePiece 0.2.2, which counts them from 0 again now and then.
func TestLongText(t *testing.T) {
	const count, want = 211826, "43e5658a94f9eb8ed92992305444df6690759f964a32d37eab2d63991debf1e7"
	f, err := os.Open("../filetest/testdata/unigram-bytes.model.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Read("unigram-bytes", data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	book, err := os.ReadFile("../../prompt/synthetic/opticks.txt")
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	ids := e.Encode(string(book), false)
	for _, id := range ids {
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
	}
	if sum := sha256.Sum256(b); len(ids) != count || hex.EncodeToString(sum[:]) != want {
		t.Errorf("%d ids, want %d, or others", len(ids), count)
	}
}
