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

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
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

// faultAt is a fault of a file, of a line or of a tensor there; hint, if any, is what to do about
// it.
func faultAt(file string, line int, tensor, text, hint string) plan.Fault {
	f := plan.Fault{Where: file, Text: text, Hint: hint}
	if line > 0 {
		f.Where += ":" + strconv.Itoa(line)
	}
	if tensor != "" {
		f.Path = "tensor " + tensor
	}
	return f
}

// mostFaults is how many faults are listed; the rest are counted.
const mostFaults = 20

// Read reads JSON files, or one directory. Their faults are returned as plan.Faults.
func Read(files limitio.Limit, paths ...string) (*Data, error) {
	return (&reader{data: &Data{}, files: files}).read(paths)
}

// ReadExactly reads the same as the program that the format is from. It takes more: of data that are
// given twice, and of a tensor that is given twice in a step, the first, of its "b64" and "content" the
// former, members that nothing is known of, of integers beyond a datatype of 8 or 16 bits their
// lowest bits, and of a directory's files those that are named like inputs alone. It also takes less:
// values are flat lists of the datatype's own kind ([tensor.Value]), validation_data has every output,
// and a file has no byte order mark. Payloads are written anew: text without escapes, and numbers that
// are not whole in their shortest form.
func ReadExactly(files limitio.Limit, paths ...string) (*Data, error) {
	return (&reader{data: &Data{}, files: files, exact: true}).read(paths)
}

func (r *reader) read(paths []string) (*Data, error) {
	for i, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			r.fault(path, 0, "", reason(err), "give a JSON file or a directory, or zero or random")
		case info.IsDir() && len(paths) > 1:
			r.fault(path, 0, "", "is a directory, and "+strconv.Itoa(len(paths))+" paths are given", "give one directory alone, or JSON files")
		case info.IsDir():
			r.directory(path)
		default:
			text, err := r.files.ReadFile(path)
			if err != nil {
				r.fault(path, 0, "", reason(err), "")
				continue
			}
			r.parse(path, text, i == 0)
		}
	}
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

type reader struct {
	data   *Data
	files  limitio.Limit // of each
	exact  bool          // see ReadExactly
	faults plan.Faults
	found  int // faults, those that are not listed too
}

func (r *reader) fault(file string, line int, tensor, text, hint string) {
	switch r.found++; {
	case r.found <= mostFaults:
		r.faults = append(r.faults, faultAt(file, line, tensor, text, hint))
	case r.found == mostFaults+1:
		r.faults = append(r.faults, plan.Fault{Where: file})
	}
}

func (r *reader) result() (*Data, error) {
	if more := r.found - mostFaults; more > 0 {
		r.faults[mostFaults].Text = fmt.Sprintf("and %d more faults", more)
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
		r.fault(path, 0, "", reason(err), "")
		return
	}
	var item tensor.Item
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		value := tensor.Value{Name: e.Name(), Form: tensor.FormFile, File: name, Either: true, Ignored: r.exact}
		if e.IsDir() {
			if r.exact { // it may be named like an output
				item.Values = append(item.Values, value)
				continue
			}
			r.fault(name, 0, "", "is a directory", "a directory of input data has one file for each tensor")
			continue
		}
		text, err := r.files.ReadFile(name)
		switch {
		case err != nil:
			r.fault(name, 0, e.Name(), reason(err), "")
		case len(text) == 0 && !r.exact:
			r.fault(name, 0, e.Name(), "the file is empty", "")
		default:
			value.Text = text
			item.Values = append(item.Values, value)
		}
	}
	if len(entries) == 0 {
		r.fault(path, 0, "", "the directory has no files", "it needs one for each input, named after it")
	}
	r.data.Streams = [][]tensor.Item{{item}}
}
