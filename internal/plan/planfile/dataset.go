package planfile

import (
	"slices"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

func datasetKinds() []string { return append(plan.DatasetKinds(), plan.DatasetAuto) }

func (c *checker) dataset(d *plan.Data) {
	const at = "data.dataset."
	s := &d.Dataset
	if d.Source != plan.SourceDataset {
		return
	}
	c.choice(at+"kind", s.Kind, datasetKinds())
	c.fields("data.dataset", s)
	if s.Whole && d.Output == (plan.Length{}) && !s.Free {
		c.add(at+"whole_chats", "needs data.output: no answer is left that says how long the next is", "such as 30")
	}
	if slices.Contains([]string{plan.DatasetBillsum, plan.DatasetInfinity}, s.Kind) && s.Path == "" && s.Hub.Name == "" {
		c.add(at+"path", "is missing: "+s.Kind+" has no usual place on the hub", "give %v", message.New("%v or %v", message.DatasetPath, message.DatasetHub).Or("%v", message.DatasetPath))
	}
	if s.Kind == plan.DatasetAuto && s.Path == "" {
		c.add(at+"path", "is missing: auto tells the data set from a file", "give path, or name the data set")
	}
	if s.Path != "" && s.Hub != (plan.Hub{}) {
		c.add(at+"path", "cannot be combined with hub", "give one of them")
	}
}

func (c *checker) sharedPrefix(d *plan.Data) {
	const at = "data.shared_prefix."
	s := &d.SharedPrefix
	c.fields("data.shared_prefix", s)
	if s.Repeat && !s.MultiTurn {
		c.add(at+"repeat", "only for multi_turn", "set multi_turn to true")
	}
	if d.Source == plan.SourceSharedPrefix && s.Question == (plan.Length{}) {
		c.add(at+"question", "is missing", "such as 50")
	}
}

func (c *checker) conversations(d *plan.Data) {
	const at = "data.conversations."
	s := &d.Conversations
	c.fields("data.conversations", s)
	if d.Source == plan.SourceConversationReplay && s.Turns == (plan.Length{}) {
		c.add(at+"turns", "is missing", "such as 10")
	}
	if d.Source == plan.SourceConversationReplay && s.Input == (plan.Length{}) {
		c.add(at+"input", "is missing", "such as 512")
	}
}
