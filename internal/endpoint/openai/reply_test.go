package openai

import (
	"testing"

	"github.com/inferometer/inferometer/internal/record"
)

// A conversation goes on from the first of several choices, of a chat as of a completion.
func TestReplyIsTheFirstChoice(t *testing.T) {
	for name, body := range map[string]string{
		"chat":       `{"choices":[{"index":0,"message":{"content":"one two"}},{"index":1,"message":{"content":"three"}}]}`,
		"completion": `{"choices":[{"index":0,"text":"one two"},{"index":1,"text":"three"}]}`,
		"stream": "data: {\"choices\":[{\"index\":0,\"text\":\"one\"},{\"index\":1,\"text\":\"three\"}]}\n\n" +
			"data: {\"choices\":[{\"index\":1,\"text\":\" four\"},{\"index\":0,\"text\":\" two\"}]}\n\ndata: [DONE]\n\n",
	} {
		var d Decoder
		if got := d.Reply(&record.Record{Body: []byte(body)}); got.Text != "one two" {
			t.Errorf("%s: %q", name, got.Text)
		}
	}
}
