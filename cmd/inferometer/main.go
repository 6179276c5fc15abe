// Command inferometer measures generative-AI inference servers.
package main

import "inferometer/internal/cli"

func main() { cli.Exit(cli.Main(cli.System())) }
