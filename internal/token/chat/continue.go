package chat

import (
	"errors"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/token/jinja"
)

// tag marks where the last message's content ends. Like transformers' it has a blank at its end,
// which tells whether the template took away the white space there.
const tag = "CONTINUE_FINAL_MESSAGE_TAG "

// tagged puts the tag behind the content of the last message, or behind the last text of its
// parts, and returns that text without it.
func tagged(messages []Message) (out []Message, final string, err error) {
	none := errors.New("the last message cannot be continued: it has no text")
	if len(messages) == 0 {
		return nil, "", none
	}
	out = slices.Clone(messages)
	last := out[len(out)-1].Clone()
	out[len(out)-1] = last
	content, _ := last.Get("content")
	switch content := content.(type) {
	case string:
		last.Set("content", content+tag)
		return out, content, nil
	case *jinja.List:
		parts := slices.Clone(content.Items())
		for i, part := range slices.Backward(parts) {
			d, ok := part.(*jinja.Dict)
			if !ok {
				continue
			}
			if v, ok := d.Get("text"); ok {
				if final, ok = v.(string); !ok {
					return nil, "", none
				}
				d = d.Clone()
				d.Set("text", final+tag)
				parts[i] = d
				last.Set("content", jinja.NewList(parts...))
				return out, final, nil
			}
		}
	}
	return nil, "", none
}

// cut ends a rendered text at the tag.
func cut(text, final string) (string, error) {
	bare := strings.TrimSpace(tag)
	i := strings.LastIndex(text, bare)
	if i < 0 || !strings.Contains(text, strings.TrimFunc(final, jinja.IsSpace)) {
		return "", errors.New("the last message cannot be continued: the chat template leaves its content out or changes it")
	}
	if strings.HasPrefix(text[i:], tag) {
		return text[:i], nil
	}
	return strings.TrimRightFunc(text[:i], jinja.IsSpace), nil
}
