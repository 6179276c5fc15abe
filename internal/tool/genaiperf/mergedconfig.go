package genaiperf

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/inferometer/inferometer/internal/lib/orderedjson"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
)

// mergedConfig is the input_config of a merged run: that of the first of its runs, but for
// what the command that merges them says itself.
func mergedConfig(first []byte, s *args.Settings, from string) ([]byte, error) {
	config, err := members(first)
	if err != nil || config == nil {
		return first, err
	}
	config.Set("subcommand", "process")
	config.Set("verbose", s.Verbose)
	output, err := inner(config, "output")
	if err != nil {
		return nil, err
	}
	output.Set("artifact_directory", pythonPath(s.Artifacts))
	output.Set("checkpoint_directory", pythonPath(s.CheckpointDir))
	output.Set("profile_export_file", s.ExportFile)
	output.Set("generate_plots", s.Plots)
	output.Set("enable_checkpointing", s.Checkpoint != "")
	config.Set("output", output)
	process, err := inner(config, "process")
	if err != nil {
		return nil, err
	}
	process.Set("input_path", pythonPath(from))
	config.Set("process", process)
	return orderedjson.Compact(config)
}

// inner is a member that is an object; one that is not there is empty.
func inner(o object, name string) (object, error) {
	raw, _ := o.Get(name).(json.RawMessage)
	return members(raw)
}

// members are the members of a JSON object in their order; none where there is no object.
func members(text []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil
	}
	var o object
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("reading input_config: %w", err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("reading input_config: %w", err)
		}
		text, _ := name.(string)
		o.Set(text, value)
	}
	return o, nil
}
