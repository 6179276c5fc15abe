package plan

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/localaddr"
)

// sourcesSpec is a list of local addresses and ranges of them, none of which holds another:
// the same address twice has its ports but once.
var sourcesSpec = sync.OnceValue(func() codec[[]netip.Prefix] {
	c := listOrOne("list of addresses", scalar("an IP address or CIDR range", schema{"type": "string"},
		func(p netip.Prefix) any { return localaddr.Text(p) },
		func(n *yaml.Node) (netip.Prefix, error) { return localaddr.Parse(n.Value) }))
	c.check = func(c *checker, path string, v *[]netip.Prefix) {
		order := make([]int, len(*v))
		for i := range order {
			order[i] = i
		}
		at := func(i int) netip.Prefix { return (*v)[i] }
		slices.SortStableFunc(order, func(a, b int) int { return at(a).Compare(at(b)) })
		widest := 0 // of those that begin no later
		for k, i := range order {
			if k > 0 && at(order[widest]).Overlaps(at(i)) {
				c.add(fmt.Sprintf("%s[%d]", path, i), localaddr.Text(at(i))+" is also in "+localaddr.Text(at(order[widest])), "leave one of them out")
				continue
			}
			widest = k
		}
	}
	return c
})
