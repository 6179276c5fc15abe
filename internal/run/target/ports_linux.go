package target

import (
	"fmt"
	"os"
)

// localPorts is how many ports connections to one address can use. 0: not known.
func localPorts() int {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0
	}
	var low, high int
	if _, err := fmt.Sscan(string(text), &low, &high); err != nil {
		return 0
	}
	return max(high-low+1, 0)
}
