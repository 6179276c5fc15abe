package rows

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/inferometer/inferometer/internal/lib/limitio"
)

// TestParquetThatUnpacksToMuch: a small file whose columns unpack to more than the limit is
// refused by what it says of itself, before any of it is unpacked.
func TestParquetThatUnpacksToMuch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bomb.parquet")
	rows := []orca{{Question: strings.Repeat("q", 4<<20)}}
	if err := parquet.WriteFile(path, rows, parquet.Compression(&parquet.Zstd)); err != nil {
		t.Fatal(err)
	}
	limit := limitio.Limit{Name: "limits.file", Bytes: 1 << 20}
	_, err := Read(limit, path, []string{"question"}, 0)
	if err == nil || !strings.Contains(err.Error(), "limits.file") || !strings.Contains(err.Error(), "question") {
		t.Errorf("%v", err)
	}
	limit.Bytes = 32 << 20
	if got, err := Read(limit, path, []string{"question"}, 0); err != nil || len(got) != 1 {
		t.Errorf("%d rows, %v", len(got), err)
	}
}
