package genaiperf

import (
	"context"
	"errors"

	"inferometer/internal/prompt"
)

// datasetPrompts reads prompts of a dataset of the hub.
func (t *tool) datasetPrompts(context.Context) ([]prompt.Prompt, error) {
	return nil, errors.New("datasets are not served")
}
