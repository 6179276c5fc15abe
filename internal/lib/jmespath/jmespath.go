// Package jmespath holds JMESPath expressions against documents as Python programs do: what an
// expression gives is judged as true by Python's rules; one that fails does not hold.
package jmespath

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmespath-community/go-jmespath/pkg/functions"
	"github.com/jmespath-community/go-jmespath/pkg/interpreter"
	"github.com/jmespath-community/go-jmespath/pkg/parsing"
)

// Expr is a parsed expression. It is safe for concurrent use.
type Expr struct {
	root   parsing.ASTNode
	caller interpreter.FunctionCaller
}

// longest is how long an expression may be, in bytes.
const longest = 4096

// standard are the functions of the JMESPath specification. Some others can make texts of any
// length.
const standard = "abs avg ceil contains ends_with floor join keys length map max max_by merge min min_by not_null reverse sort sort_by starts_with sum to_array to_number to_string type values"

var errAssigned = errors.New("= is not supported here; compare values with ==")

// Parse reads an expression.
func Parse(text string) (*Expr, error) {
	if len(text) > longest {
		return nil, fmt.Errorf("the expression has %d bytes, more than %d", len(text), longest)
	}
	root, err := parsing.NewParser().Parse(text)
	if err != nil {
		return nil, explained(text, err)
	}
	known := map[string]bool{}
	var table []functions.FunctionEntry
	for _, f := range functions.GetDefaultFunctions() {
		if strings.Contains(" "+standard+" ", " "+f.Name+" ") {
			known[f.Name] = true
			table = append(table, harmless(f))
		}
	}
	if root.NodeType == parsing.ASTBinding {
		return nil, errAssigned
	}
	if err := check(root, known); err != nil {
		return nil, err
	}
	return &Expr{root: root, caller: interpreter.NewFunctionCaller(table...)}, nil
}

// explained adds what is most often wrong to a syntax error.
func explained(text string, err error) error {
	var e parsing.SyntaxError
	if errors.As(err, &e) && e.Offset < len(text) && e.Offset >= 0 && text[e.Offset] >= '0' && text[e.Offset] <= '9' {
		return fmt.Errorf("%w (character %d); write numbers in backticks, as in `500`", err, e.Offset+1)
	}
	return err
}

// harmless is a function that leaves the document as it is: the library sorts in place.
func harmless(f functions.FunctionEntry) functions.FunctionEntry {
	handle := f.Handler
	f.Handler = func(args []any) (any, error) {
		for i := range args {
			if list, ok := args[i].([]any); ok {
				args[i] = slices.Clone(list)
			}
		}
		return handle(args)
	}
	return f
}

// check looks for functions that do not exist, and for assignments that the library takes
// for values.
func check(n parsing.ASTNode, known map[string]bool) error {
	if name, ok := n.Value.(string); ok && n.NodeType == parsing.ASTFunctionExpression && !known[name] {
		return fmt.Errorf("unknown function %s; available: %s", name, standard)
	}
	for _, c := range n.Children {
		if c.NodeType == parsing.ASTBinding && n.NodeType != parsing.ASTBindings {
			return errAssigned
		}
		if err := check(c, known); err != nil {
			return err
		}
	}
	return nil
}

// Search is what the expression gives for a document made of what encoding/json decodes
// into an any.
func (e *Expr) Search(doc any) (any, error) {
	return interpreter.NewInterpreter(doc, e.caller, nil).Execute(e.root, doc)
}

// Holds reports whether the expression gives something for a document that is neither
// null, false, zero nor empty.
func (e *Expr) Holds(doc any) bool {
	v, err := e.Search(doc)
	return err == nil && True(v)
}

// True reports whether Python takes a value of encoding/json for true.
func True(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}
