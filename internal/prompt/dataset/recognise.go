package dataset

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/rows"
)

// HasPrompts reports whether what d names is no data set that is known but a file of prompts: plain text, or rows with
// a prompt, a text or messages.
func HasPrompts(d plan.Data) bool {
	name := d.Dataset.Path
	if d.Dataset.Kind != plan.DatasetAuto || name == "" {
		return false
	}
	if ext := strings.ToLower(filepath.Ext(name)); ext == ".txt" || ext == ".text" {
		return true
	}
	f, err := os.Open(name)
	if err != nil {
		return false // whoever reads it says what is wrong
	}
	defer f.Close()
	const enough = 1 << 10
	head, _ := bufio.NewReaderSize(f, enough).Peek(enough) // a short file is no fault
	if !bytes.ContainsAny(bytes.TrimSpace(head)[:min(1, len(bytes.TrimSpace(head)))], "[{") {
		return false
	}
	r, err := rows.Open(prompt.Files(d), name, append(anyColumns(), promptColumns()...)...)
	if err != nil {
		return false
	}
	defer r.Close()
	row, err := r.Next()
	return err == nil && kindOf(row) == "" && slices.ContainsFunc(promptColumns(), func(column string) bool { return row[column] != nil })
}

func promptColumns() []string {
	return []string{"prompt", "text", "text_input", "input", "messages", "payload"}
}
