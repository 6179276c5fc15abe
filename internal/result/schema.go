package result

import (
	_ "embed"
	"slices"
)

//go:embed result.schema.json
var schemaJSON []byte

// JSONSchema is the JSON Schema of the document.
func JSONSchema() []byte { return slices.Clone(schemaJSON) }
