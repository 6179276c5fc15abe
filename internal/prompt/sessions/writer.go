package sessions

import (
	"context"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/blocktext"
)

// block is how many tokens a hash of a payload file stands for, bailianBlock a Bailian trace's.
const (
	block        = 512
	bailianBlock = 16
)

// writer makes the texts of lines that have none.
type writer struct{ *blocktext.Composer }

// fill makes the text of a turn that has none yet.
func (w writer) fill(one *turn) (prompt.Prompt, error) {
	p := one.prompt
	if one.coded == nil {
		return p, nil
	}
	var err error
	if p.Text, err = w.Text(one.coded); err != nil {
		return p, err
	}
	p.Tokens, p.Hash = one.coded.Length, prompt.HashText(p.Text)
	return p, nil
}

// fillAll makes all texts at once: one that cannot be made shows before the run.
func (w writer) fillAll(ctx context.Context, sessions []session) error {
	for _, k := range sessions {
		for i := range k {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			p, err := w.fill(&k[i])
			if err != nil {
				return err
			}
			k[i].prompt, k[i].coded = p, nil
		}
	}
	return nil
}
