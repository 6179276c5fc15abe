package tensordata

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/prompt/tensor/inputdata"
)

func TestExamplesOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/triton.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ = bytes.Cut(page, []byte("\n## Tensors\n"))
	page, _, _ = bytes.Cut(page, []byte("\n## "))
	blocks := regexp.MustCompile("(?ms)^```json\n(.*?)^```$").FindAllSubmatch(page, -1)
	if len(blocks) < 2 {
		t.Fatalf("the page has %d files of tensors", len(blocks))
	}
	inputs := []tensor.Spec{
		{Name: "INPUT0", Datatype: tensor.Int32, Shape: []int64{4}}, {Name: "INPUT1", Datatype: tensor.FP16, Shape: []int64{2, -1}},
	}
	file := filepath.Join(t.TempDir(), "data.json")
	for _, b := range blocks {
		if err := os.WriteFile(file, b[1], 0o600); err != nil {
			t.Fatal(err)
		}
		data, err := inputdata.Read(limitio.Limit{}, file)
		if err != nil {
			t.Errorf("%v\nin\n%s", err, b[1])
			continue
		}
		for i := range data.Streams[0] {
			item := data.Streams[0][i : i+1]
			if body, err := inputdata.Payload(&item[0]); body != nil && err == nil {
				continue
			}
			in := tensor.Inputs{Items: item}
			if _, _, err := in.Build(inputs, nil, true); err != nil {
				t.Errorf("%v\nin\n%s", err, b[1])
			}
		}
	}
}
