// Package inputdata reads input data: JSON files of steps or of
// streams of steps, and directories of raw tensors. What it gives has no datatypes
// yet: those are the model's.
package inputdata

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"inferometer/internal/lib/bounded"
	"inferometer/internal/prompt/tensor"
)

// Data is what was read: streams of steps, each step one item of a batch.
type Data struct {
	Streams [][]tensor.Item
	// Sequences: the data says itself what belongs together, a stream for each
	// sequence. Else there is one stream, of independent steps.
	Sequences bool
}

// Steps is the number of steps in all streams.
func (d *Data) Steps() int {
	n := 0
	for _, s := range d.Streams {
		n += len(s)
	}
	return n
}

// Fault is one thing that is wrong with the data.
type Fault struct {
	File   string
	Line   int    // 0: the whole file
	Tensor string // the tensor that it is about; empty: none
	Text   string
	Hint   string // what to do about it; may be empty
}

// Where is the place of the fault.
func (f Fault) Where() string {
	if f.Line == 0 {
		return f.File
	}
	return f.File + ":" + strconv.Itoa(f.Line)
}

// Error is the fault on one line.
func (f Fault) Error() string {
	text := f.Where() + ": "
	if f.Tensor != "" {
		text += "tensor " + strconv.Quote(f.Tensor) + ": "
	}
	text += f.Text
	if f.Hint != "" {
		text += " (" + f.Hint + ")"
	}
	return text
}

// Faults is everything that is wrong with the data.
type Faults []Fault

// Error lists the faults, one on each line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].Error()
	}
	return strings.Join(lines, "\n")
}

// mostFaults is how many faults are listed; the rest are counted.
const mostFaults = 20

// Read reads JSON files, one or several, or one directory. What is wrong with them is
// returned as Faults.
func Read(files bounded.Limit, paths ...string) (*Data, error) {
	r := reader{data: &Data{}, files: files}
	for i, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			r.fault(Fault{File: path, Text: reason(err), Hint: "give a JSON file or a directory, or zero or random"})
		case info.IsDir() && len(paths) > 1:
			r.fault(Fault{File: path, Text: "is a directory, and " + strconv.Itoa(len(paths)) + " paths are given", Hint: "give one directory alone, or JSON files"})
		case info.IsDir():
			r.directory(path)
		default:
			text, err := r.files.ReadFile(path)
			if err != nil {
				r.fault(Fault{File: path, Text: reason(err)})
				continue
			}
			r.parse(path, text, i == 0)
		}
	}
	return r.result()
}

// Parse reads one JSON file's text. name is what faults call it.
func Parse(name string, text []byte) (*Data, error) {
	r := reader{data: &Data{}}
	r.parse(name, text, true)
	return r.result()
}

// reason is an error of the file system without the path, which stands in front.
func reason(err error) string {
	var e *fs.PathError
	if errors.As(err, &e) {
		return "cannot be read: " + e.Err.Error()
	}
	return err.Error()
}

// reader collects what one or more files hold.
type reader struct {
	data   *Data
	files  bounded.Limit // of each
	faults Faults
	more   int // faults that are not listed
}

func (r *reader) fault(f Fault) {
	if len(r.faults) < mostFaults {
		r.faults = append(r.faults, f)
		return
	}
	r.more++
}

func (r *reader) result() (*Data, error) {
	if r.more > 0 {
		last := r.faults[len(r.faults)-1]
		r.faults = append(r.faults, Fault{File: last.File, Text: fmt.Sprintf("and %d more faults", r.more)})
	}
	if len(r.faults) > 0 {
		return nil, r.faults
	}
	return r.data, nil
}

// directory takes each file as a tensor of that name: raw bytes, or of strings one on
// each line. The model says which are inputs and which are outputs to compare with.
func (r *reader) directory(path string) {
	entries, err := os.ReadDir(path)
	if err != nil {
		r.fault(Fault{File: path, Text: reason(err)})
		return
	}
	var item tensor.Item
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		if e.IsDir() {
			r.fault(Fault{File: name, Text: "is a directory", Hint: "a directory of input data has one file for each tensor"})
			continue
		}
		text, err := r.files.ReadFile(name)
		switch {
		case err != nil:
			r.fault(Fault{File: name, Tensor: e.Name(), Text: reason(err)})
		case len(text) == 0:
			r.fault(Fault{File: name, Tensor: e.Name(), Text: "the file is empty"})
		default:
			item.Values = append(item.Values, tensor.Value{Name: e.Name(), Form: tensor.FormFile, Text: text, File: name, Either: true})
		}
	}
	if len(entries) == 0 {
		r.fault(Fault{File: path, Text: "the directory has no files", Hint: "it needs one for each input, named after it"})
	}
	r.data.Streams = [][]tensor.Item{{item}}
}
