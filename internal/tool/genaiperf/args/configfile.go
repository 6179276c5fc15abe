package args

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/plan/document"
)

// usualConfig is the name of the file that create-template writes.
const usualConfig = "genai_perf_config.yaml"

// config puts a config file under the command line, and makes the command that of its sections.
func (v *values) config(read func(name string) ([]byte, error)) {
	name := v.text("file", "")
	if name == "" {
		v.fault("config", "the file is missing", "give it with -f FILE; genai-perf create-template writes one")
		return
	}
	defer func() {
		delete(v.used, "file")
		delete(v.used, "override-config")
	}()
	if !v.given("override-config") {
		for _, key := range slices.Sorted(maps.Keys(v.used)) {
			if !slices.Contains([]string{"file", "verbose", "release", "faithful", "strict", "dry-run"}, key) {
				v.fault(v.as(key), "cannot be combined with a config file", "add --override-config to override the file with flags")
			}
		}
	}
	if read == nil {
		v.fault("-f", "config files are not read here", "")
		return
	}
	text, err := read(name)
	if err != nil {
		v.fault("-f", err.Error(), "")
		return
	}
	r := &configReader{name: name, out: &values{used: map[string][]value{}}, table: flags()}
	root, fault := document.Parse(name, text)
	if fault != nil {
		v.faults = append(v.faults, *fault)
		return
	}
	command := r.file(root)
	v.faults = append(v.faults, r.out.faults...)
	for key, uses := range r.out.used {
		if !v.given(key) && !(key == "interval" && v.given("request-count")) && !(key == "request-count" && v.given("interval")) {
			v.used[key] = uses
		}
	}
	v.command = command
}

// configReader turns a config file into uses of flags.
type configReader struct {
	name  string
	out   *values
	table []option
	mode  string // of the measurement
	num   string
}

func (r *configReader) fault(n *yaml.Node, path, text, hint string) {
	r.out.fault(fmt.Sprintf("%s:%d: %s", r.name, n.Line, path), text, hint)
}

func (r *configReader) use(n *yaml.Node, path, flag string, texts ...string) {
	before := len(r.out.faults)
	f := long(r.table, flag)
	r.out.set(value{flag: f, as: path, text: texts})
	for i := before; i < len(r.out.faults); i++ {
		r.out.faults[i].Where = fmt.Sprintf("%s:%d: %s", r.name, n.Line, path)
	}
}

// file reads the whole document, and gives the command that it is for.
func (r *configReader) file(root *yaml.Node) string {
	if root == nil {
		r.out.fault(r.name, "is empty", "genai-perf create-template writes one to start from")
		return Profile
	}
	command := Profile
	r.pairs(root, "", func(key string, k, n *yaml.Node) {
		switch {
		case key == "model_names" || key == "model_name":
			texts := r.texts(n, key)
			if n.Kind == yaml.ScalarNode && len(texts) > 0 { // a text may name several
				texts = strings.Split(strings.ReplaceAll(texts[0], " ", ""), ",")
			}
			if len(texts) > 0 {
				r.use(n, key, "model", texts...)
			}
		case key == "analyze":
			if r.analyze(n) {
				command = Analyze
			}
		case key == "process":
			r.pairs(n, "process", func(key string, k, n *yaml.Node) {
				if key != "input_path" {
					r.fault(k, "process."+key, "unknown key", "the only one is input_path")
				} else if texts := r.texts(n, key); len(texts) == 1 {
					r.use(n, "process.input_path", "input-directory", texts...)
					command = Merge
				}
			})
		default:
			r.section(key, k, n)
		}
	})
	r.measurement(root)
	return command
}

// pairs goes over the keys of a mapping. Nothing at all is an empty one.
func (r *configReader) pairs(n *yaml.Node, path string, f func(key string, k, n *yaml.Node)) {
	switch n = document.Resolved(n); {
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			f(n.Content[i].Value, n.Content[i], n.Content[i+1])
		}
	case !blank(n):
		r.fault(n, path, "must be a mapping of keys to values", "")
	}
}

func blank(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.Tag == "!!null" || n.Value == "")
}

func (r *configReader) section(path string, k, n *yaml.Node) {
	var names []string
	for _, s := range configKeys() {
		switch {
		case s.path == path:
			switch {
			case !blank(n):
				r.readKey(s, n)
			case isPath(s) && n.Tag != "!!null":
				r.use(n, path, s.flag, "")
			}
			return
		case strings.HasPrefix(s.path, path+"."):
			r.pairs(n, path, func(key string, k, n *yaml.Node) { r.section(path+"."+key, k, n) })
			return
		}
		names = append(names, s.path)
	}
	hint := "genai-perf create-template writes a file with all keys"
	if n := suggest.Name(path, append(names, "model_names", "analyze", "process", "endpoint", "perf_analyzer", "input", "output", "tokenizer")); n != "" {
		hint = "did you mean " + n + "?"
	}
	r.fault(k, path, "unknown key", hint)
}

// isPath reports whether a key names a file or a directory, of which an empty one is the current
// one; all other keys of an empty text are not set.
func isPath(s setting) bool {
	return slices.Contains([]string{"artifact-dir", "checkpoint-dir", "profile-export-file"}, s.flag)
}

// readKey takes over a value that somebody gave.
func (r *configReader) readKey(s setting, n *yaml.Node) {
	switch s.path {
	case "perf_analyzer.path":
	case "perf_analyzer.stimulus":
		var loads []string
		r.pairs(n, s.path, func(key string, k, n *yaml.Node) {
			loads = append(loads, key)
			flag := strings.ReplaceAll(key, "_", "-")
			if !slices.Contains([]string{"concurrency", "request-rate", "session-concurrency", "fixed-schedule"}, flag) {
				r.fault(k, s.path+"."+key, "unknown load", "one of concurrency, request_rate, session_concurrency, fixed_schedule")
				return
			}
			r.use(n, s.path+"."+key, flag, r.texts(n, s.path)...)
		})
		if len(loads) > 1 && slices.Contains(loads, "session_concurrency") {
			r.fault(n, s.path, "session_concurrency cannot be combined with another load", "give one of "+strings.Join(loads, " and "))
		}
	case "perf_analyzer.measurement.mode":
		r.mode = n.Value
	case "perf_analyzer.measurement.num":
		r.num = n.Value
	case "input.extra":
		r.named(n, s.path, "extra-inputs", true)
	case "input.goodput":
		r.named(n, s.path, "goodput", false)
	case "input.header":
		r.named(n, s.path, "header", false)
	default:
		r.plain(s, n)
	}
}

// plain takes over a value that a flag has as it is. What is the default is not said.
func (r *configReader) plain(s setting, n *yaml.Node) {
	texts := r.texts(n, s.path)
	f := long(r.table, s.flag)
	switch {
	case len(texts) == 0 || len(texts) == 1 && texts[0] == s.without && s.flag != "url":
	case f.kind == toggle:
		on, err := strconv.ParseBool(texts[0])
		if err != nil || len(texts) > 1 {
			r.fault(n, s.path, "must be True or False, not "+shorten(strings.Join(texts, " ")), "")
		} else if on {
			r.use(n, s.path, s.flag)
		}
	case f.kind != list && len(texts) > 1:
		r.fault(n, s.path, "must be one value, not a list", "")
	default:
		r.use(n, s.path, s.flag, texts...)
	}
}

func (r *configReader) texts(n *yaml.Node, path string) []string {
	switch n = document.Resolved(n); {
	case blank(n):
		return nil
	case n.Kind == yaml.ScalarNode:
		return []string{n.Value}
	case n.Kind == yaml.SequenceNode:
		var all []string
		for _, c := range n.Content {
			if c.Kind != yaml.ScalarNode {
				r.fault(c, path, "must be a list of values", "")
				return nil
			}
			all = append(all, c.Value)
		}
		return all
	}
	r.fault(n, path, "must be a value or a list of values", "")
	return nil
}

// named reads NAME:VALUE texts, or a mapping of names to values, one use of the flag
// for each; typed: a mapping may hold values of any kind.
func (r *configReader) named(n *yaml.Node, path, flag string, typed bool) {
	if n.Kind != yaml.MappingNode {
		for _, text := range r.texts(n, path) {
			r.use(n, path, flag, text)
		}
		return
	}
	if typed {
		var object map[string]any
		text, err := []byte(nil), n.Decode(&object)
		if err == nil {
			text, err = json.Marshal(object)
		}
		if err != nil {
			r.fault(n, path, err.Error(), "")
			return
		}
		r.use(n, path, flag, string(text))
		return
	}
	r.pairs(n, path, func(key string, _, n *yaml.Node) {
		if texts := r.texts(n, path+"."+key); len(texts) == 1 {
			r.use(n, path+"."+key, flag, key+":"+texts[0])
		}
	})
}

// analyze reads the sweep, if any: one parameter with start, stop and perhaps a step, or a list.
func (r *configReader) analyze(n *yaml.Node) bool {
	found := false
	r.pairs(n, "analyze", func(key string, k, n *yaml.Node) {
		if key == "sweep_parameters" {
			found = r.analyze(n) || found
			return
		}
		path := "analyze." + key
		if found {
			r.fault(k, path, "a sweep varies one parameter", "leave one of the two out")
			return
		}
		found = true
		r.use(k, path, "sweep-type", strings.Replace(key, "runtime_batch_size", "batch_size", 1))
		if n.Kind != yaml.MappingNode {
			if texts := r.texts(n, path); len(texts) > 0 {
				r.use(n, path, "sweep-list", strings.Join(texts, ","))
			}
			return
		}
		ends := map[string]string{}
		r.pairs(n, path, func(key string, k, n *yaml.Node) {
			name := map[string]string{"min": "start", "max": "stop", "start": "start", "stop": "stop", "step": "step"}[key]
			if name == "" {
				r.fault(k, path+"."+key, "unknown key", "start, stop and step")
			}
			ends[name] = n.Value
		})
		text := ends["start"] + ":" + ends["stop"]
		if ends["step"] != "" {
			text += ":" + ends["step"]
		}
		r.use(n, path, "sweep-range", text)
	})
	return found
}

// measurement puts mode and number together.
func (r *configReader) measurement(n *yaml.Node) {
	const path = "perf_analyzer.measurement"
	flag := "request-count"
	switch r.mode {
	case "", "request_count":
	case "interval":
		flag = "measurement-interval"
		if r.num == "" {
			r.num = "10000"
		}
	default:
		r.fault(n, path+".mode", fmt.Sprintf("unknown value %q", shorten(r.mode)), "request_count or interval")
		return
	}
	if r.num != "" {
		r.use(n, path+".num", flag, r.num)
	}
}
