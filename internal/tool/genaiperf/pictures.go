package genaiperf

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"inferometer/internal/prompt"
)

// pictureLine is a line of a file of texts and images.
type pictureLine struct {
	Text      string          `json:"text"`
	TextInput string          `json:"text_input"`
	Image     json.RawMessage `json:"image"` // one, or a list
}

// picturePrompts reads a file of texts and images, or those of a directory.
func (t *tool) picturePrompts(name string) ([]prompt.Prompt, error) {
	names := []string{name}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		if names, err = filepath.Glob(filepath.Join(name, "*.jsonl")); err != nil || len(names) == 0 {
			return nil, fmt.Errorf("reading prompts: the directory %s has no file that ends in .jsonl", name)
		}
	}
	var all []prompt.Prompt
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, len(data)+1)
		for n := 1; lines.Scan(); n++ {
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			p, err := t.picturePrompt(lines.Bytes())
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: there is no line in it", name)
	}
	return all, nil
}

func (t *tool) picturePrompt(line []byte) (prompt.Prompt, error) {
	var l pictureLine
	if err := json.Unmarshal(line, &l); err != nil {
		return prompt.Prompt{}, fmt.Errorf("is no JSON object with text and image: %w", err)
	}
	if l.Text != "" && l.TextInput != "" {
		return prompt.Prompt{}, fmt.Errorf("has both text and text_input")
	}
	p := prompt.Prompt{Text: either(l.Text, l.TextInput), Output: int(t.plan.Data.Output.Mean)}
	var images []string
	if len(l.Image) > 0 {
		var one string
		if json.Unmarshal(l.Image, &one) == nil {
			images = []string{one}
		} else if err := json.Unmarshal(l.Image, &images); err != nil {
			return p, fmt.Errorf("image is a text or a list of texts: %w", err)
		}
	}
	for _, name := range images {
		url, err := pictureURL(name)
		if err != nil {
			return p, err
		}
		p.Parts = append(p.Parts, prompt.Part{Kind: prompt.Image, URL: url})
	}
	if p.Text == "" && len(p.Parts) == 0 {
		return p, fmt.Errorf("has neither text nor image")
	}
	return p, nil
}

// pictureURL is the address of an image as it is, or the image of a local file as a
// data URI.
func pictureURL(name string) (string, error) {
	for _, scheme := range []string{"http://", "https://", "data:"} {
		if strings.HasPrefix(name, scheme) {
			return name, nil
		}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("image: %w", err)
	}
	kind := http.DetectContentType(data)
	if kind != "image/png" && kind != "image/jpeg" {
		return "", fmt.Errorf("image: %s is neither PNG nor JPEG", name)
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}
