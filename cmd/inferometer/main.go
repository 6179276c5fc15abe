// Command inferometer measures generative-AI inference servers.
package main

import "github.com/inferometer/inferometer/internal/cli"

// version is the release: go build -ldflags "-X main.version=v1.2.3".
var version string

func main() { cli.Exit(cli.Main(cli.System(version))) }
