#!/usr/bin/env bash
# Builds a real OpenTelemetry collector for conformance-otlp under OTELCOL_DIR (.peers/otelcol
# by default): OpenTelemetry's own modules, with the receiver for OTLP and an exporter that
# prints everything. It takes some minutes, once.
set -euo pipefail

cd "$(dirname "$0")/.."
DIR=${OTELCOL_DIR:-.peers/otelcol}
VERSION=v0.160.0

say() { printf 'otelcol: %s\n' "$*" >&2; }

mkdir -p "$DIR/source"
DIR=$(cd "$DIR" && pwd)
if "$DIR/otelcol" --help >/dev/null 2>&1; then say "is there"; exit 0; fi
say "building $VERSION"
cd "$DIR/source"
printf 'module otelcol\n\ngo 1.26.0\n' > go.mod
rm -f go.sum
cat > main.go <<'GO'
package main

import (
	"log"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

func main() {
	set := otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "otelcol"},
		Factories: func() (otelcol.Factories, error) {
			return otelcol.Factories{
				Telemetry: otelconftelemetry.NewFactory(),
				Receivers: map[component.Type]receiver.Factory{component.MustNewType("otlp"): otlpreceiver.NewFactory()},
				Exporters: map[component.Type]exporter.Factory{component.MustNewType("debug"): debugexporter.NewFactory()},
			}, nil
		},
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			DefaultScheme: "yaml", ProviderFactories: []confmap.ProviderFactory{yamlprovider.NewFactory()},
		}},
	}
	if err := otelcol.NewCommand(set).Execute(); err != nil {
		log.Fatal(err)
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
at=go.opentelemetry.io/collector
go get "$at/otelcol@$VERSION" "$at/receiver/otlpreceiver@$VERSION" "$at/exporter/debugexporter@$VERSION" 2>&1 | tail -3 >&2
go mod tidy 2>&1 | grep -v '^go: ' >&2 || true
go build -buildvcs=false -o "$DIR/otelcol" .
"$DIR/otelcol" --help >/dev/null
