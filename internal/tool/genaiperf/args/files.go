package args

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"

	numbers "github.com/inferometer/inferometer/internal/lib/number"
)

func (b *builder) files() {
	s := &b.a.Settings
	s.ExportFile = b.text("export-file", "profile_export.json")
	s.InputsFile = "inputs.json"
	s.Plots = b.given("plots")
	s.CheckpointDir = b.text("checkpoint-dir", "checkpoint")
	if b.given("checkpointing") {
		s.Checkpoint = s.CheckpointDir
	}
	if s.ExportFile == "" {
		b.fault("--profile-export-file", "is empty", "")
		return
	}
	early := s.Release != ReleaseLast && !b.given("artifact-dir")
	if early || s.Shape == Release2406 || s.Shape == Release2408 {
		s.InputsFile = "llm_inputs.json"
	}
	if filepath.Base(s.ExportFile) == s.InputsFile {
		b.fault("--profile-export-file", s.InputsFile+" is the file of all prompts", "choose another name")
		return
	}
	if early {
		// Early releases write into the working directory, or where the file's name says.
		s.Dir, s.ExportFile = filepath.Dir(s.ExportFile), filepath.Base(s.ExportFile)
		return
	}
	if filepath.Base(s.ExportFile) != s.ExportFile {
		b.fault("--profile-export-file", "must be a name, not a path", "give the directory with --artifact-dir")
		return
	}
	const usual = "artifacts"
	s.Artifacts = cmp.Or(b.text("artifact-dir", usual), ".")
	s.Dir = filepath.Join(s.Artifacts, s.Folder())
	if s.Artifacts != usual && s.Shape <= Release2503 && !b.sweeping {
		s.Dir = s.Artifacts // until 25.03 a directory that the user names is that of the run
	}
}

// Folder is the name of the directory of a run.
func (s *Settings) Folder() string {
	load := "concurrency" + strconv.Itoa(s.Concurrency)
	switch {
	case s.FixedSchedule:
		load = "fixed_schedule"
	case s.SessionConcurrency > 0:
		load = "session_concurrency" + strconv.Itoa(s.SessionConcurrency)
	case s.PayloadFile != "":
		return s.name()
	case s.Rate > 0:
		load = "request_rate" + numbers.Python(s.Rate)
	}
	return s.name() + "-" + load
}

// name is the part of a directory's name that is the same under any load.
func (s *Settings) name() string {
	model := ""
	if len(s.Models) > 0 {
		model = strings.ReplaceAll(s.Models[0], "/", "_")
	}
	if len(s.Models) > 1 {
		model += "_multi"
	}
	kind := s.EndpointType
	if s.ServiceKind == "triton" {
		kind = s.Backend
	}
	return strings.Join([]string{model, s.ServiceKind, kind}, "-")
}
