// Command inferometer measures generative-AI inference servers.
package main

import "github.com/inferometer/inferometer/internal/cli"

// The release, the commit that it is built from and that commit's date: go build
// -ldflags "-X main.version=v1.2.3 -X main.commit=0c3b66af… -X main.date=2026-11-17T16:00:00Z".
var version, commit, date string

func main() { cli.Exit(cli.Main(cli.System(version, commit, date))) }
