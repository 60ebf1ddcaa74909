package main

import "testing"

func helper(t *testing.T) *server {
	t.Helper()
	return newServer()
}

func TestRun(t *testing.T) {
	s := helper(t)
	t.Run("twice", func(t *testing.T) {
		if err := s.run(); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkShow(b *testing.B) {
	for i := 0; i < b.N; i++ {
		show(0)
	}
}
