package plan

import (
	"slices"
	"sync"

	"github.com/inferometer/inferometer/internal/message"
)

// Data sets that are known by name.
const (
	DatasetShareGPT    = "sharegpt"
	DatasetCNN         = "cnn_dailymail"
	DatasetBillsum     = "billsum_conversations"
	DatasetInfinity    = "infinity_instruct"
	DatasetVisionArena = "visionarena"
	DatasetOpenOrca    = "openorca"

	// DatasetAuto is whichever of those the columns of the files are of.
	DatasetAuto = "auto"
)

// Dataset is a well-known set of prompts, from a local file or the hub.
type Dataset struct {
	Kind string
	Path string // file or directory of files; empty: the hub
	Hub  Hub    // empty: where the kind usually lies
	// Input and Output are which rows are taken: those whose prompt and answer have so
	// many tokens.
	Input  Bounds
	Output Bounds
	Images int    // most images of a request
	At     Spot   // where images stand in the prompt
	Files  string // name or pattern of files in the hub's repository; empty: the kind's own
	Rows   int    // most rows that are used; 0: all, or 1000 with images
	Free   bool   // the server decides how long it answers; rows without an answer are used too
	Whole  bool   // chats are sent as they are, with their last answer; Input and Output are not looked at
	Start  int    // row to begin with; those before it come last
	GoOn   bool   // a stage goes on where the one before ended
}

// Hub is a data set on the Hugging Face hub.
type Hub struct {
	Name     string
	Revision string
	Config   string
	Split    string
}

// Bounds are of a number of tokens; 0 is no bound.
type Bounds struct {
	Min int
	Max int
}

func datasetKinds() []string {
	return []string{DatasetShareGPT, DatasetCNN, DatasetBillsum, DatasetInfinity, DatasetVisionArena, DatasetOpenOrca, DatasetAuto}
}

var datasetSpec = sync.OnceValue(func() codec[Dataset] {
	return object(
		fieldOf("kind", named("`sharegpt`, `cnn_dailymail`, `billsum_conversations`, `infinity_instruct`, `visionarena`, `openorca` or `auto`", datasetKinds()...),
			func(d *Dataset) *string { return &d.Kind }, "Which data set, and thus how its rows are read. `auto`: recognise local files by their columns."),
		fieldOf("path", text(), func(d *Dataset) *string { return &d.Path }, "Local file or directory of files; left out: the hub."),
		fieldOf("hub", hubSpec(), func(d *Dataset) *Hub { return &d.Hub }, "Repository on the hub; left out: the data set's usual one."),
		fieldOf("input", boundsSpec(), func(d *Dataset) *Bounds { return &d.Input }, "Use only rows whose prompt has this many tokens."),
		fieldOf("output", boundsSpec(), func(d *Dataset) *Bounds { return &d.Output }, "Use only rows whose answer has this many tokens."),
		fieldOf("images", count[int](1000), func(d *Dataset) *int { return &d.Images }, "Maximum images per request; 0: 1."),
		fieldOf("at", spotSpec(), func(d *Dataset) *Spot { return &d.At }, "Where images stand in the prompt."),
		fieldOf("files", text(), func(d *Dataset) *string { return &d.Files }, "Name or pattern of the files in the hub's repository; left out: the data set's own."),
		fieldOf("rows", count[int](mostPrompts), func(d *Dataset) *int { return &d.Rows }, "Maximum number of rows; 0: all, or 1000 with images."),
		fieldOf("free_output", boolean(), func(d *Dataset) *bool { return &d.Free },
			"Without `data.output`, let the server decide the output length instead of using that of the row's answer; rows without an answer are used too."),
		fieldOf("whole_chats", boolean(), func(d *Dataset) *bool { return &d.Whole },
			"Send chats as they are, with every turn and the last answer, whether or not the server's template accepts their roles; needs `data.output`. Left out: a chat ends with the last question that was answered."),
		fieldOf("start", count[int](mostPrompts), func(d *Dataset) *int { return &d.Start }, "First row to use, from 0; the rows before it come last."),
		fieldOf("go_on", boolean(), func(d *Dataset) *bool { return &d.GoOn }, "Continue each stage where the previous one ended. Left out: every stage begins with the first row."),
	)
})

func hubSpec() codec[Hub] {
	return object(
		fieldOf("name", text(), func(h *Hub) *string { return &h.Name }, "Repository of the data set, such as owner/name."),
		fieldOf("revision", text(), func(h *Hub) *string { return &h.Revision }, "Branch, tag or commit; left out: `main`."),
		fieldOf("config", text(), func(h *Hub) *string { return &h.Config }, "Configuration, or subset, of the data set."),
		fieldOf("split", text(), func(h *Hub) *string { return &h.Split }, "Split of the data set; left out: `train`."),
	)
}

func boundsSpec() codec[Bounds] {
	c := object(
		fieldOf("min", count[int](mostLength), func(b *Bounds) *int { return &b.Min }, "Minimum; 0: none."),
		fieldOf("max", count[int](mostLength), func(b *Bounds) *int { return &b.Max }, "Maximum; 0: none."),
	)
	check := c.check
	c.check = func(c *checker, path string, b *Bounds) {
		check(c, path, b)
		if b.Max > 0 && b.Min > b.Max {
			c.add(path, "min is more than max", "")
		}
	}
	return c
}

func (c *checker) dataset(d *Data) {
	const at = "data.dataset."
	s := &d.Dataset
	if d.Source != SourceDataset {
		return
	}
	c.choice(at+"kind", s.Kind, datasetKinds())
	datasetSpec().check(c, "data.dataset", s)
	if s.Whole && d.Output == (Length{}) && !s.Free {
		c.add(at+"whole_chats", "needs data.output: no answer is left that says how long the next is", "such as 30")
	}
	if slices.Contains([]string{DatasetBillsum, DatasetInfinity}, s.Kind) && s.Path == "" && s.Hub.Name == "" {
		c.add(at+"path", "is missing: "+s.Kind+" has no usual place on the hub", "give %v", message.New("%v or %v", message.DatasetPath, message.DatasetHub).Or("%v", message.DatasetPath))
	}
	if s.Kind == DatasetAuto && s.Path == "" {
		c.add(at+"path", "is missing: auto tells the data set from a file", "give path, or name the data set")
	}
	if s.Path != "" && s.Hub != (Hub{}) {
		c.add(at+"path", "cannot be combined with hub", "give one of them")
	}
}
