//go:build !linux

package triton

import "testing"

// Server is a running Triton server.
type Server struct {
	HTTP, GRPC, Metrics string // addresses, host:port
	Dir                 string // its model repository
}

// Start skips the test: the server runs on Linux only.
func Start(t testing.TB, _ ...string) *Server {
	t.Helper()
	t.Skip("needs a real Triton server, which runs on Linux only")
	return nil
}

// Stop stops the server.
func (s *Server) Stop() {}

// Kill ends the server at once.
func (s *Server) Kill() {}

// Restart starts it again.
func (s *Server) Restart(testing.TB) {}

// Load loads a model.
func (s *Server) Load(testing.TB, string) {}

// Unload unloads a model.
func (s *Server) Unload(testing.TB, string) {}
