package mock

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// This file is /tokenize and /detokenize, the first in the shape in which it is asked: as vLLM and SGLang (prompt or
// messages), llama.cpp (content) or TGI (inputs). A token is a word, as everywhere in this server.

// tokenizeBody is what is asked, in any of the shapes.
type tokenizeBody struct {
	Prompt   *string                    `json:"prompt"`
	Messages []struct{ Content string } `json:"messages"`
	Strings  bool                       `json:"return_token_strs"`
	Content  *string                    `json:"content"`
	Pieces   bool                       `json:"with_pieces"`
	Inputs   *string                    `json:"inputs"`
}

type wordToken struct {
	ID          int    `json:"id"`
	Text        string `json:"text"`
	Start, Stop int    // in characters
}

// tokenize answers a request for the tokens of a text.
func (s *Server) tokenize(c *call) {
	var b tokenizeBody
	switch {
	case c.req.method != http.MethodPost:
		c.notAllowed(http.MethodPost)
	case !s.authorized(c):
		c.unauthorized()
	case json.Unmarshal(c.req.body, &b) != nil:
		c.fail(http.StatusBadRequest, "the body is no JSON of a request to tokenize")
	case b.Content != nil:
		c.sendJSON(map[string]any{"tokens": llamaTokens(wordTokens(*b.Content), b.Pieces)})
	case b.Inputs != nil:
		list := make([]map[string]any, 0)
		for _, t := range wordTokens(*b.Inputs) {
			list = append(list, map[string]any{"id": t.ID, "text": t.Text, "start": t.Start, "stop": t.Stop})
		}
		c.sendJSON(list)
	case b.Prompt != nil || b.Messages != nil:
		c.sendJSON(s.tokensOf(&b))
	default:
		c.fail(http.StatusUnprocessableEntity, "no prompt, messages, content or inputs to tokenize")
	}
}

func (s *Server) tokensOf(b *tokenizeBody) map[string]any {
	var all []wordToken
	if b.Prompt != nil {
		all = wordTokens(*b.Prompt)
	}
	for _, m := range b.Messages {
		all = append(all, wordTokens(m.Content)...)
	}
	s.lexicon.add(all)
	answer := map[string]any{"count": len(all), "max_model_len": s.cfg.Output.MaxModelLen, "tokens": idsOf(all), "token_strs": nil}
	if b.Strings {
		texts := make([]string, len(all))
		for i, t := range all {
			texts[i] = t.Text
		}
		answer["token_strs"] = texts
	}
	return answer
}

func llamaTokens(all []wordToken, pieces bool) any {
	if !pieces {
		return idsOf(all)
	}
	list := make([]map[string]any, len(all))
	for i, t := range all {
		list[i] = map[string]any{"id": t.ID, "piece": t.Text}
	}
	return list
}

func idsOf(all []wordToken) []int {
	ids := make([]int, len(all))
	for i, t := range all {
		ids[i] = t.ID
	}
	return ids
}

// mostWords is how many words a lexicon keeps.
const mostWords = 1 << 18

// lexicon is the words whose ids somebody was told.
type lexicon struct {
	mu    sync.Mutex
	words map[int]string
}

func (l *lexicon) add(all []wordToken) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.words == nil || len(l.words) > mostWords {
		l.words = map[int]string{}
		for _, word := range vocabulary {
			l.words[wordID(word[1:])] = word[1:]
		}
	}
	for _, t := range all {
		l.words[t.ID] = t.Text
	}
}

// text is that of tokens. An id that nobody was told is a word too.
func (l *lexicon) text(ids []int) string {
	l.add(nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = l.words[id]
		if words[i] == "" {
			words[i] = token(id)[1:]
		}
	}
	return strings.Join(words, " ")
}

// detokenize answers a request for the text of tokens, as vLLM does.
func (s *Server) detokenize(c *call) {
	var b struct {
		Tokens []int `json:"tokens"`
	}
	switch {
	case c.req.method != http.MethodPost:
		c.notAllowed(http.MethodPost)
	case !s.authorized(c):
		c.unauthorized()
	case json.Unmarshal(c.req.body, &b) != nil || b.Tokens == nil:
		c.fail(http.StatusBadRequest, "tokens: field required, a list of token ids")
	default:
		c.sendJSON(map[string]any{"prompt": s.lexicon.text(b.Tokens)})
	}
}

// wordID is the id of a word.
func wordID(word string) int {
	h := fnv.New32a()
	h.Write([]byte(word))
	return int(h.Sum32() >> 8)
}

// wordTokens are the words of a text. Equal ones have equal ids.
func wordTokens(text string) []wordToken {
	var all []wordToken
	at := 0
	for text != "" {
		rest := strings.TrimLeftFunc(text, unicode.IsSpace)
		at += utf8.RuneCountInString(text[:len(text)-len(rest)])
		end := strings.IndexFunc(rest, unicode.IsSpace)
		if end < 0 {
			end = len(rest)
		}
		if end > 0 {
			size := utf8.RuneCountInString(rest[:end])
			all = append(all, wordToken{ID: wordID(rest[:end]), Text: rest[:end], Start: at, Stop: at + size})
			at += size
		}
		text = rest[end:]
	}
	return all
}

func (c *call) sendJSON(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		c.fail(http.StatusInternalServerError, fmt.Sprintf("writing the response: %v", err))
		return
	}
	c.sendUnstreamed(head{status: http.StatusOK, ctype: "application/json"}, string(text))
}
