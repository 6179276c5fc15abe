package promptfile

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/prompt"
)

// imageField holds an image, or a list of them: a URL, or a file on this machine.
const imageField = "image"

func (l *line) takeImages(value []byte, off int) {
	var names []string
	var one string
	if json.Unmarshal(value, &one) == nil {
		names = []string{one}
	} else if json.Unmarshal(value, &names) != nil {
		l.fault(off, imageField, "must be a string or an array of strings, is "+jsonscan.Kind(value[0]), "a URL, or the name of a file")
		return
	}
	for _, name := range names {
		part, err := picture(name, l.file.limit)
		if err != nil {
			l.fault(off, imageField, err.Error(), "")
			return
		}
		l.images = append(l.images, part)
	}
}

func picture(name string, most limitio.Limit) (prompt.Part, error) {
	part := prompt.Part{Kind: prompt.Image}
	for _, scheme := range []string{"http://", "https://", "data:"} {
		if strings.HasPrefix(name, scheme) {
			part.URL = name
			return part, nil
		}
	}
	data, err := most.ReadFile(name)
	if err != nil {
		return part, err
	}
	part.Type, part.Data = http.DetectContentType(data), data
	if part.Type != "image/png" && part.Type != "image/jpeg" {
		return part, fmt.Errorf("%s is neither PNG nor JPEG", name)
	}
	return part, nil
}

// illustrate puts the images behind the text. A line may have images alone.
func (l *line) illustrate() {
	if len(l.images) == 0 || l.prompt.Messages != nil {
		return
	}
	if l.prompt.Text != "" {
		l.prompt.Parts = []prompt.Part{{Kind: prompt.Text, Text: l.prompt.Text}}
	}
	l.prompt.Parts = append(l.prompt.Parts, l.images...)
}

// The columns of data sets whose rows stand in a file as they are.
const (
	systemField   = "system_prompt"
	questionField = "question"
	articleField  = "article"
)

// row makes a prompt of a row of OpenOrca or of cnn_dailymail; false: it is neither.
func (l *line) row() bool {
	text := func(name string) (string, bool) {
		var s *string
		err := json.Unmarshal(l.columns[name], &s)
		if err != nil || s == nil {
			return "", false
		}
		return *s, true
	}
	if article, ok := text(articleField); ok {
		l.from, l.prompt.Text = articleField, article
		return true
	}
	question, asks := text(questionField)
	if _, ok := l.columns[systemField]; !ok || !asks {
		return false
	}
	l.from, l.prompt.Text = questionField, question
	if system, _ := text(systemField); strings.TrimSpace(system) != "" {
		l.prompt.Messages = []prompt.Message{{Role: "system", Content: system}, {Role: "user", Content: question}}
		l.prompt.Text = ""
	}
	return true
}
