package plan

import "slices"

// Known are the names of the protocols and sources that there are. A plan has rules of its
// own for some; the others need none.
type Known struct{ Protocols, Sources []string }

// protocolNames are the protocols that a plan has rules for.
func protocolNames() []string {
	return []string{ProtocolOpenAI, ProtocolAnthropic, ProtocolTriton, ProtocolHTTP, ProtocolTFServing, ProtocolTorchServe}
}

// and adds the names that are not there yet.
func and(names, more []string) []string {
	for _, name := range more {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
