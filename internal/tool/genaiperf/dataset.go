package genaiperf

import (
	"context"
	"errors"
	"fmt"
	"strings"

	hubfiles "inferometer/internal/hub"
	"inferometer/internal/prompt"
	"inferometer/internal/rows"
)

// dataset is a dataset of the hub that prompts can be taken from.
type dataset struct {
	repo, file string
	columns    []string // what the system says, if anything, and what the user says
}

func datasets() map[string]dataset {
	return map[string]dataset{
		"openorca":      {"Open-Orca/OpenOrca", "1M-GPT4-Augmented.parquet", []string{"system_prompt", "question"}},
		"cnn_dailymail": {"abisee/cnn_dailymail", "3.0.0/test-00000-of-00001.parquet", []string{"", "article"}},
	}
}

// datasetPrompts takes the first rows of a dataset, from the cache or from the hub.
func (t *tool) datasetPrompts(ctx context.Context) ([]prompt.Prompt, error) {
	d := datasets()[t.set.Dataset]
	h, err := hubfiles.New(t.env.Getenv, nil)
	if err != nil {
		return nil, err
	}
	repo := hubfiles.Dataset(d.repo)
	if _, ok := h.Cached(repo, "", d.file); !ok && !h.Offline() {
		t.note("Fetching %s of the dataset %s from %s; it is kept for the next time.", d.file, d.repo, h.Endpoint())
	}
	path, err := h.File(ctx, repo, "", d.file)
	if err != nil {
		return nil, fmt.Errorf("the dataset %s: %w\nWithout the hub: get https://huggingface.co/datasets/%s/resolve/main/%s elsewhere, and give the file with --input-file", t.set.Dataset, err, d.repo, d.file)
	}
	list, err := rows.Read(path, d.columns, t.set.Prompts)
	if err != nil {
		return nil, fmt.Errorf("the dataset %s: %w", t.set.Dataset, err)
	}
	return t.rowPrompts(list)
}

// rowPrompts makes a prompt of each row: a system prompt, if there is one, and a text.
func (t *tool) rowPrompts(list [][]string) ([]prompt.Prompt, error) {
	var all []prompt.Prompt
	for _, row := range list {
		system, text := row[0], row[1]
		if strings.TrimSpace(text) == "" {
			continue
		}
		p := prompt.Prompt{Text: text, Output: int(t.plan.Data.Output.Mean)}
		if strings.TrimSpace(system) != "" {
			p.Messages = []prompt.Message{{Role: "system", Content: system}, {Role: "user", Content: text}}
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, errors.New("no row has a prompt in it")
	}
	return all, nil
}

// parquetPrompts reads a local file of one of the datasets.
func (t *tool) parquetPrompts(path string) ([]prompt.Prompt, error) {
	var errs []error
	for _, name := range []string{"openorca", "cnn_dailymail"} {
		list, err := rows.Read(path, datasets()[name].columns, t.set.Prompts)
		if err == nil {
			return t.rowPrompts(list)
		}
		errs = append(errs, fmt.Errorf("as %s: %w", name, err))
	}
	return nil, errors.Join(errs...)
}
