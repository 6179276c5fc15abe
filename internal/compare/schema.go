package compare

import (
	_ "embed"
	"slices"
)

//go:embed comparison.schema.json
var schemaJSON []byte

// JSONSchema is the JSON Schema of the document.
func JSONSchema() []byte { return slices.Clone(schemaJSON) }
