package pricing

import "example.org/shop/v2/store"

// Number is what can be added.
type Number interface{ ~int | ~int64 }

// Stack is last in, first out.
type Stack[T any] struct {
	items []T
	inner *node[T]
}

type node[T any] struct {
	value T
	rest  *node[T]
}

// Push puts one on it.
func (s *Stack[T]) Push(item T) { s.items = append(s.items, item) }

// Pop takes one from it.
func (s *Stack[T]) Pop() (T, bool) {
	last := s.items[len(s.items)-1]
	return last, s.size() > 0
}

func (s *Stack[T]) size() int { return len(s.items) }

// Map applies a function to all.
func Map[T, U any](items []T, f func(T) U) []U {
	var out []U
	for _, each := range items {
		out = append(out, f(each))
	}
	return out
}

// First is the first of a list.
func First[T any](items []T) T { return items[0] }

// Max is a function of our own, as before Go 1.21.
func max[N Number](a, b N) N {
	if a > b {
		return a
	}
	return b
}

// Labels names all products.
func Labels(products []*store.Product) []string {
	stack := &Stack[*store.Product]{}
	for _, p := range products {
		stack.Push(p)
	}
	if top, ok := stack.Pop(); ok {
		top.Label()
	}
	First(products).Label()
	_ = max(1, 2)
	return Map(products, func(p *store.Product) string { return p.Label() })
}
