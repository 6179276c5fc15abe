package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/rows"
)

// kind is a data set: where it lies and how its rows are read.
type kind struct {
	repo    string // on the hub; empty: nowhere in particular
	columns []string
	// files are a configuration's and split's, in order; nil: they are looked for by name.
	files func(config, split string) []string
	// read takes a row apart; false: there is no request in it.
	read func(row rows.Row, chat bool) (entry, bool)
	// whole takes a row as the chat that it is, with its last response; nil means it is none.
	whole func(row rows.Row) (entry, bool)
	free  bool // its rows have no responses: the server decides how long it answers
}

// entry is a request and the response that was once given to it.
type entry struct {
	text     string           // the prompt; empty where messages are set
	messages []prompt.Message // a chat
	images   []prompt.Part
	fields   []prompt.Field // that go with the request
	answer   string
}

func kinds() map[string]kind {
	return map[string]kind{
		plan.DatasetShareGPT: {
			repo: "anon8231489123/ShareGPT_Vicuna_unfiltered", columns: []string{"conversations"},
			files: func(string, string) []string { return []string{"ShareGPT_V3_unfiltered_cleaned_split.json"} },
			read:  readExchange, whole: wholeExchange,
		},
		plan.DatasetBillsum: {columns: []string{"conversations"}, read: readExchange, whole: wholeBill},
		plan.DatasetInfinity: {
			columns: []string{"conversations"}, read: readInstruction, whole: wholeInstruction,
		},
		plan.DatasetCNN: {
			repo: "abisee/cnn_dailymail", columns: []string{"article", "highlights"},
			files: newsFiles, read: readNews,
		},
		plan.DatasetOpenOrca: {
			repo: "Open-Orca/OpenOrca", columns: []string{"system_prompt", "question", "response"},
			files: func(string, string) []string { return []string{"1M-GPT4-Augmented.parquet"} },
			read:  readOrca,
		},
		plan.DatasetMTBench: {repo: "philschmid/mt-bench", columns: []string{"turns"}, read: readBench, free: true},
		plan.DatasetLongBench: {
			repo: "zai-org/LongBench-v2", columns: []string{"context", "input", "answers", "question", "choice_A", "choice_B", "choice_C", "choice_D"},
			files: func(string, string) []string { return []string{"data.json"} },
			read:  readLong, free: true,
		},
		plan.DatasetBFCL: {
			repo: "gorilla-llm/Berkeley-Function-Calling-Leaderboard", columns: []string{"question", "function"},
			files: func(config, _ string) []string { return []string{"BFCL_v3_" + cmp.Or(config, "simple") + ".json"} },
			read:  readFunctions, free: true,
		},
		plan.DatasetVisionArena: {
			repo: "lmarena-ai/VisionArena-Chat", columns: []string{"conversation", "images"}, read: readVision,
		},
		plan.DatasetAuto: {columns: anyColumns(), read: readAny},
	}
}

// anyColumns are those that tell a data set from another.
func anyColumns() []string {
	return []string{
		"article", "highlights", "system_prompt", "question", "response", "conversations", "conversation", "images",
		"turns", "context", "input", "answers", "choice_A", "choice_B", "choice_C", "choice_D", "function",
	}
}

// kindOf tells from the columns of a row which data set it is of; empty: of none that is known.
func kindOf(row rows.Row) string {
	list := func(column string) bool { _, ok := row[column].([]any); return ok }
	text := func(column string) bool { _, ok := row[column].(string); return ok }
	switch {
	case list("question") && row["function"] != nil:
		return plan.DatasetBFCL
	case text("context") && (text("input") || text("question")):
		return plan.DatasetLongBench
	case list("turns"):
		return plan.DatasetMTBench
	case row["question"] != nil:
		return plan.DatasetOpenOrca
	case row["article"] != nil:
		return plan.DatasetCNN
	case row["conversations"] != nil:
		return plan.DatasetShareGPT
	case row["conversation"] != nil && row["images"] != nil:
		return plan.DatasetVisionArena
	}
	return ""
}

// readAny takes a row as what its columns say.
func readAny(row rows.Row, chat bool) (entry, bool) {
	k, ok := kinds()[kindOf(row)]
	if !ok {
		return entry{}, false
	}
	return k.read(row, chat)
}

// newsFiles are the files of a split of cnn_dailymail.
func newsFiles(config, split string) []string {
	if config == "" {
		config = "3.0.0"
	}
	if split != "train" {
		return []string{config + "/" + split + "-00000-of-00001.parquet"}
	}
	return []string{
		config + "/train-00000-of-00003.parquet",
		config + "/train-00001-of-00003.parquet",
		config + "/train-00002-of-00003.parquet",
	}
}

func readNews(row rows.Row, _ bool) (entry, bool) {
	article, _ := row["article"].(string)
	highlights, _ := row["highlights"].(string)
	return entry{text: article, answer: highlights}, article != ""
}

func readOrca(row rows.Row, chat bool) (entry, bool) {
	system, _ := row["system_prompt"].(string)
	question, _ := row["question"].(string)
	answer, _ := row["response"].(string)
	e := entry{text: question, answer: answer}
	switch {
	case strings.TrimSpace(system) == "":
	case chat:
		e.text, e.messages = "", []prompt.Message{{Role: "system", Content: system}, {Role: "user", Content: question}}
	default:
		e.text = system + "\n\n" + question
	}
	return e, question != ""
}

type turn struct {
	role string
	who  string // as the row calls the role
	text string
}

// turns reads a conversation: a list of objects with from and value, or role and
// content. Some rows have the JSON of an object in place of it, some a list of one.
func turns(value any) ([]turn, bool) {
	list, ok := value.([]any)
	if !ok {
		return nil, false
	}
	var out []turn
	for _, v := range list {
		if inner, ok := v.([]any); ok {
			more, ok := turns(inner)
			if !ok {
				return nil, false
			}
			out = append(out, more...)
			continue
		}
		if s, ok := v.(string); ok {
			v = nil
			if json.Unmarshal([]byte(s), &v) != nil {
				return nil, false
			}
		}
		object, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		role, ok := first(object, "from", "role")
		text, ok2 := first(object, "value", "content")
		if !ok || !ok2 {
			return nil, false
		}
		out = append(out, turn{role: roleOf(role), who: role, text: text})
	}
	return out, true
}

// first is the first of a few fields that is a text.
func first(object map[string]any, names ...string) (string, bool) {
	for _, name := range names {
		if s, ok := object[name].(string); ok {
			return s, true
		}
	}
	return "", false
}

func roleOf(who string) string {
	switch strings.ToLower(who) {
	case "gpt", "assistant", "chatgpt", "bing", "bard", "model":
		return "assistant"
	case "system":
		return "system"
	default:
		return "user"
	}
}

// readExchange takes a conversation's first two turns or, for a chat, all up to the last response.
func readExchange(row rows.Row, chat bool) (entry, bool) {
	list, ok := turns(row["conversations"])
	if !ok || len(list) < 2 {
		return entry{}, false
	}
	if chat {
		return toChat(list)
	}
	return entry{text: list[0].text, answer: list[1].text}, list[0].text != ""
}

// readInstruction takes everything before the last turn, which must be a response.
func readInstruction(row rows.Row, chat bool) (entry, bool) {
	list, ok := turns(row["conversations"])
	if !ok || len(list) < 2 || list[len(list)-1].role != "assistant" {
		return entry{}, false
	}
	if chat {
		return toChat(list)
	}
	texts := make([]string, len(list)-1)
	for i := range texts {
		texts[i] = list[i].text
	}
	text := strings.Join(texts, "\n")
	return entry{text: text, answer: list[len(list)-1].text}, strings.TrimSpace(text) != ""
}

// toChat makes a chat that ends with the last question that was answered. It begins
// with a user, and roles alternate, since templates of many models refuse others.
func toChat(list []turn) (entry, bool) {
	var out []turn
	for _, t := range list {
		last := len(out) - 1
		switch {
		case t.text == "", t.role == "assistant" && (last < 0 || out[last].role == "system"), t.role == "system" && last >= 0:
		case last >= 0 && out[last].role == t.role:
			out[last].text += "\n\n" + t.text
		default:
			out = append(out, t)
		}
	}
	if n := len(out); n > 0 && out[n-1].role == "user" {
		out = out[:n-1]
	}
	if len(out) < 2 {
		return entry{}, false
	}
	e := entry{answer: out[len(out)-1].text}
	for _, t := range out[:len(out)-1] {
		e.messages = append(e.messages, prompt.Message{Role: t.role, Content: t.text})
	}
	return e, e.messages[len(e.messages)-1].Role == "user"
}

// readVision takes the first question of a conversation about images, and the images.
func readVision(row rows.Row, _ bool) (entry, bool) {
	list, ok := turns(row["conversation"])
	if !ok {
		return entry{}, false
	}
	var e entry
	for i, t := range list {
		if t.role == "user" && strings.TrimSpace(t.text) != "" {
			e.text = t.text
			if i+1 < len(list) {
				e.answer = list[i+1].text
			}
			break
		}
	}
	images, _ := row["images"].([]any)
	for _, v := range images {
		object, _ := v.(map[string]any)
		data, _ := object["bytes"].(string)
		if part, ok := imageOf(data); ok {
			e.images = append(e.images, part)
		}
	}
	return e, e.text != "" && len(e.images) > 0
}

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
